"""What rules look at: the model of a spec beside its syntax tree, and what the parts of it use."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from forgec.checks.conditions import Decided, decided
from forgec.diagnostics import Label
from forgec.model import spec as m
from forgec.model import walk
from forgec.model.uses import sqls_of_world, task_sqls, trees
from forgec.source import Span
from forgec.sql.query import Sql
from forgec.sql.scope import Cell
from forgec.sql.tree import Apply, exp
from forgec.syntax import nodes


@dataclass(frozen=True)
class Finding:
    """What a rule has to say about one place."""

    message: str
    span: Span
    label: str = ""
    related: tuple[Label, ...] = ()
    help: str | None = None


@dataclass(frozen=True)
class Subject:
    """A spec without errors."""

    spec: m.Spec
    items: tuple[nodes.Item, ...]

    @cached_property
    def routines(self) -> tuple[m.Routine, ...]:
        """Everything that has a body."""
        return (*self.spec.actions.values(), *self.spec.tools.values(), *self.spec.syncs.values())

    @property
    def is_finished(self) -> bool:
        """Whether there are tests and tasks: before that much is missing, and the author knows it."""
        return bool(self.spec.tests and self.spec.tasks)

    @cached_property
    def sqls(self) -> tuple[Sql, ...]:
        """Every piece of SQL."""
        return tuple(self._sqls())

    def _sqls(self) -> Iterator[Sql]:
        spec = self.spec
        for table in spec.tables.values():
            for column in table.columns:
                yield from (sql for sql in (column.default, column.check, column.when) if sql is not None)
        yield from (domain.check for domain in spec.domains.values() if domain.check is not None)
        yield from (invariant.sql for invariant in spec.invariants)
        yield from (view.sql for view in spec.views.values())
        yield from (function.sql for function in spec.functions.values())
        for routine in self.routines:
            yield from body_sqls(routine)
        for rule in spec.rules:
            yield from rule.sqls.values()
        for world in spec.worlds.values():
            yield from sqls_of_world(world)
        for world in spec.worlds.values():
            yield from (one.sql for one in world.happenings if not isinstance(one, m.Generate))
        for test in spec.tests:
            for step in test.steps:
                if isinstance(step, m.Run):
                    yield from step.call.arguments.values()
                    yield from (step.returns,) if step.returns is not None else ()
                else:
                    yield step.sql
        for task in spec.tasks.values():
            yield from task_sqls(task)

    @cached_property
    def decided(self) -> tuple[Decided, ...]:
        """The conditions that are always or never true."""
        return tuple(decided(self.spec))

    @cached_property
    def called(self) -> frozenset[str]:
        """The functions that anything calls."""
        return frozenset(node.name for sql in self.sqls for tree in trees(sql) for node in tree.find_all(Apply))

    @cached_property
    def viewed(self) -> frozenset[str]:
        """The views that anything takes rows from."""
        found = (node for sql in self.sqls for tree in trees(sql) for node in tree.find_all(exp.Subquery))
        return frozenset(node.meta["view"] for node in found if "view" in node.meta)

    @cached_property
    def done(self) -> frozenset[str]:
        """The actions that any body does."""
        statements = (one for routine in self.routines for one in walk.own(routine.body))
        return frozenset(one.action.name for one in statements if isinstance(one, m.Do))

    def touches_tables(self, routine: m.Routine) -> bool:
        """Whether a body, or an action that it does, reads or changes any table, or a parameter is a key of one."""
        if any(parameter.references is not None for parameter in routine.parameters):
            return True
        sqls = [sql for statement in walk.statements(routine.body) for sql in walk.sqls_of(statement)]
        return any(sql.reads or sql.change is not None for sql in sqls)

    @cached_property
    def shown(self) -> frozenset[str]:
        """The tables whose whole rows are results of tools, with all that is nested in them."""
        return frozenset(_shown(self.spec))

    @cached_property
    def named(self) -> frozenset[str]:
        """The names that stand where a type does."""
        kinds = (nodes.World, nodes.Test, nodes.Task)
        found = (node for item in self.items if not isinstance(item, kinds) for node in _inside(item))
        return frozenset(node.path[0].text for node in found if isinstance(node, nodes.NamedType))


def body_sqls(routine: m.Routine) -> Iterator[Sql]:
    """The SQL that is written in a body."""
    return (sql for statement in walk.own(routine.body) for sql in walk.sqls_of(statement))


def word(span: Span, name: str) -> Span:
    """The place of a word inside of `span`, if it stands there, else all of it. In JSON a text has other quotes."""
    in_json = json.dumps(name[1:-1]) if name[:1] == "'" else name
    found = re.search(rf"(?<!\w)(?:{re.escape(name)}|{re.escape(in_json)})(?!\w)", span.text)
    return Span(span.source, span.start + found.start(), span.start + found.end()) if found else span


def _inside(node: nodes.Node) -> Iterator[nodes.Node]:
    """A node and all below it."""
    yield node
    for name in node.__dataclass_fields__:
        part = getattr(node, name)
        for child in part if isinstance(part, tuple) else (part,):
            if isinstance(child, nodes.Node):
                yield from _inside(child)


def _shown(spec: m.Spec) -> Iterator[str]:
    """The tables whose whole rows are results, with all that is nested in them."""
    for tool in spec.tools.values():
        for kind in (tool.returns.kinds or (tool.returns,)) if tool.returns is not None else ():
            table = None if isinstance(kind.shape, Cell) else kind.shape.table
            if table is not None:
                yield table
                yield from _within(spec, table) if kind.nested else ()


def _within(spec: m.Spec, table: str) -> Iterator[str]:
    for other in spec.tables.values():
        if other.parent == table:
            yield other.name
            yield from _within(spec, other.name)
