"""Lines to tasks that can be played: built as those of a file are, for an environment that is there already.

Made tasks ask the same again and again, of other things: what differs in nothing but its texts, such as titles or
dates, is checked and written once. That a text may stand where it does, as a choice or a date, is the maker's part.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from forgec.bulk.reading import lines
from forgec.codegen.tasks import task_data
from forgec.diagnostics import Report
from forgec.model import spec as m
from forgec.model.tasks import build_task
from forgec.plans.tasks import ComputedPlan, Kind, TaskPlan
from forgec.source import Source, Span
from forgec.sql.check import SqlChecker, trees_of
from forgec.sql.emit import Emitter
from forgec.sql.oracle import Oracle
from forgec.sql.query import Change, Sql
from forgec.sql.scope import Cell, Scope
from forgec.sql.tree import exp
from forgec.syntax.nodes import SqlText
from forgec_runtime.task_file import read_task
from forgec_runtime.tasks import Task

MAX_KEPT = 4096
"""How many pieces of SQL are kept."""

_TEXT = re.compile(r"'(?:[^']|'')*'")


@dataclass(frozen=True)
class _Like(Sql):
    """What differs from a `first` piece of SQL in texts alone: what stands for each of its texts."""

    first: _First
    texts: Mapping[str, str]


@dataclass(frozen=True)
class _First:
    """A piece of SQL as it was checked, its texts, as they are written, and what is asked of the runtime for it."""

    sql: Sql
    texts: Counter[str]
    asked: dict[str, list[ComputedPlan] | None] = field(default_factory=dict)

    def like(self, span: Span, texts: Iterable[str]) -> _Like:
        """The same with other texts."""
        others, tree, change = dict(zip(self.texts, texts, strict=True)), self.sql.tree, self.sql.change
        if any(text != other for text, other in others.items()):
            tree, change = deepcopy((tree, change))
            for literal in _texts_in(tree, change):
                literal.set("this", others[_written(literal)][1:-1].replace("''", "'"))
        return _Like(span, tree, change, self.sql.shape, self.sql.reads, self, others)


def _texts_in(tree: exp.Expr | None, change: Change | None) -> list[exp.Literal]:
    trees = trees_of(change) if change is not None else [tree]
    return [one for tree in trees if tree is not None for one in tree.find_all(exp.Literal) if one.is_string]


def _written(literal: exp.Literal) -> str:
    return "'" + literal.name.replace("'", "''") + "'"


@dataclass(frozen=True)
class _Checker(SqlChecker):
    """Checks what differs in texts alone once."""

    kept: dict[Any, _First] = field(default_factory=dict)

    def any(
        self, text: SqlText, scope: Scope, rows: Sequence[Mapping[str, Cell]] = (), *, calculates: bool = False
    ) -> Sql | None:
        return self._once(text, scope, partial(super().any, text, scope, rows, calculates=calculates))

    def change(self, text: SqlText, scope: Scope) -> Sql | None:
        return self._once(text, scope, partial(super().change, text, scope))

    def _once(self, text: SqlText, scope: Scope, check: Callable[[], Sql | None]) -> Sql | None:
        texts = Counter(_TEXT.findall(text.span.text))
        numbers = {one: f"'{i}'" for i, one in enumerate(texts)}
        names = {param.text.removeprefix("$").partition(".")[0] for param in text.params}
        types = [(name, repr(scope.values.get(name))) for name in sorted(names)]
        place = (_TEXT.sub(lambda found: numbers[found[0]], text.span.text), *types)
        if place not in self.kept:
            before = len(self.report)
            sql = check()
            if sql is None or len(self.report) > before:
                return sql
            if texts != Counter(map(_written, _texts_in(sql.tree, sql.change))):
                return sql
            if len(self.kept) >= MAX_KEPT:
                self.kept.clear()
            self.kept[place] = _First(sql, texts)
        return self.kept[place].like(text.span, texts)


@dataclass(frozen=True)
class _Plan(TaskPlan):
    """Writes what differs in texts alone once."""

    def asked(self, sql: Sql, kind: Kind = "value") -> ComputedPlan:
        (found,) = self._once(sql, kind, lambda one: [TaskPlan.asked(self, one, kind)])
        return found

    def written(self, sql: Sql) -> list[ComputedPlan]:
        return self._once(sql, "written", super().written)

    def _once(self, sql: Sql, kind: str, ask: Callable[[Sql], list[ComputedPlan]]) -> list[ComputedPlan]:
        if not isinstance(sql, _Like):
            return ask(sql)
        kept, texts = sql.first.asked, {_in_slots(text): _in_slots(other) for text, other in sql.texts.items()}
        if kind not in kept:
            asked = ask(sql.first.sql)
            found = Counter(text for one in asked for text in _TEXT.findall(one.query.text))
            known = all(found[_in_slots(text)] == times for text, times in sql.first.texts.items())
            kept[kind] = asked if known else None
        once = kept[kind]
        return ask(sql) if once is None else [_with(one, texts) for one in once]


def _with(plan: ComputedPlan, texts: Mapping[str, str]) -> ComputedPlan:
    text = _TEXT.sub(lambda found: texts.get(found[0], found[0]), plan.query.text)
    return replace(plan, query=replace(plan.query, text=text))


def _in_slots(text: str) -> str:
    """A text as it stands in a template."""
    return text.replace("{", "{{").replace("}", "}}")


class Reader:
    """Reads lines of one spec."""

    def __init__(self, spec: m.Spec) -> None:
        self.spec = spec
        self.emitter = Emitter(spec.tables, spec.functions, spec.clock)
        self.checker = _Checker(Oracle(spec.tables.values()), Report(), self.emitter)
        self.scope = Scope(spec.tables, spec.functions, views=spec.views)

    def read(self, text: str) -> Task | Report:
        """The task of a line, or what is wrong with it."""
        report = Report()
        checker = replace(self.checker, report=report)
        for found in lines(Source("made.jsonl", text), report):
            task = build_task(found.task(report), self.spec.tools, self.spec.worlds, checker, self.scope)
            if task is not None and not report.failed:
                return read_task(task_data(_Plan(task, self.spec, self.emitter)))
        return report
