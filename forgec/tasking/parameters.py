"""What the parameters of tools mean: the columns that they are looked for in, and those that they are put into.

It is read off the checked SQL of a tool's body and rules, through its `let`s and loops.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from forgec.model import spec as m
from forgec.model import walk
from forgec.model.uses import trees
from forgec.sql.query import Insert, Update
from forgec.sql.scope import Row
from forgec.sql.tree import Lookup, Value, exp
from forgec_runtime import types as t

_COMPARED = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Like, exp.ILike, exp.Contains, exp.StartsWith)
_BOUNDS = (exp.LT, exp.LTE, exp.GT, exp.GTE)
_PASSED_ON = (exp.Lower, exp.Upper, exp.Trim, exp.Paren, exp.Cast, exp.Coalesce, exp.Replace)
"""What leaves a text the same to a reader."""


@dataclass(frozen=True, order=True)
class Place:
    """A column of a table, or a field of the record in it."""

    table: str
    path: tuple[str, ...]


@dataclass(frozen=True)
class Meaning:
    """Of one parameter, or of a field of it: where it is `looked` for, and where it is `put`; and the `bounds` of
    which it is at least, or at most, as much.
    """

    looked: tuple[Place, ...] = ()
    put: tuple[Place, ...] = ()
    bounds: tuple[Place, ...] = ()


@dataclass
class _Found:
    looked: dict[str, list[Place]] = field(default_factory=dict)
    put: dict[str, list[Place]] = field(default_factory=dict)
    bounds: dict[str, list[Place]] = field(default_factory=dict)


def meanings(tool: m.Tool, spec: m.Spec) -> dict[str, Meaning]:
    """The meanings of a tool's parameters by name, those of a record's fields as `updates.title`."""
    return _Reading(tool, spec).meanings()


class _Reading:
    def __init__(self, tool: m.Tool, spec: m.Spec) -> None:
        self.tool = tool
        self.spec = spec
        self.found = _Found()
        self.origins: dict[str, str] = {p.name: p.name for p in tool.parameters}
        """Values of the call that are a parameter, more or less."""
        self.rows: dict[str, str] = {p.row: p.references for p in tool.parameters if p.row and p.references}
        """Values of the call that are rows of a table."""

    def meanings(self) -> dict[str, Meaning]:
        for statement in walk.statements(self.tool.body):
            self._statement(statement)
        for rule in self.spec.rules:
            if self.tool.name in rule.sqls:
                self._compared(rule.sqls[self.tool.name].expression)
        for parameter in self.tool.parameters:
            self._by_name(parameter)
        found = self.found
        names = dict.fromkeys([*(p.name for p in self.tool.parameters), *found.looked, *found.put, *found.bounds])
        parts = (found.looked, found.put, found.bounds)
        return {name: Meaning(*(_once(part.get(name, [])) for part in parts)) for name in names}

    def _statement(self, statement: m.Statement) -> None:
        for sql in walk.sqls_of(statement):
            for tree in trees(sql):
                self._compared(tree)
            if isinstance(sql.change, Insert):
                for row in sql.change.rows:
                    for column, tree in zip(sql.change.columns, row, strict=True):
                        self._put(sql.change.table, (column,), tree)
            elif isinstance(sql.change, Update):
                for column, tree in sql.change.assignments:
                    self._put(sql.change.table, (column,), tree)
        if isinstance(statement, m.Let | m.Each) and statement.sql.tree is not None:
            self._bind(statement)

    def _bind(self, statement: m.Let | m.Each) -> None:
        shape = statement.shape if isinstance(statement, m.Let) else statement.item
        if isinstance(shape, Row) and shape.table is not None:
            self.rows[statement.name] = shape.table
        tree = statement.sql.expression
        origin = self._origin(tree)
        if origin is not None:
            self.origins[statement.name] = origin
        elif isinstance(tree, Value):  # a list that was bound before, and a row of it
            parts = [(name.removeprefix(f"{tree.name}."), of) for name, of in self.origins.items()
                     if name.startswith(f"{tree.name}.")]  # fmt: skip
            self.origins |= {f"{statement.name}.{part}": of for part, of in parts}
        for unnest in statement.sql.expression.find_all(exp.Unnest):
            alias = unnest.args.get("alias")
            columns = [column.name for column in alias.columns] if alias is not None else []
            for column, source in zip(columns, unnest.expressions, strict=False):
                origin = self._origin(source)
                if origin is not None:
                    self.origins[f"{statement.name}.{column}"] = origin

    def _origin(self, tree: exp.Expr) -> str | None:
        """The parameter that an expression is, more or less."""
        while isinstance(tree, _PASSED_ON):
            tree = tree.this
        if not isinstance(tree, Value):
            return None
        head, _, rest = tree.name.partition(".")
        if tree.name in self.origins:
            return self.origins[tree.name]
        return f"{self.origins[head]}.{rest}" if rest and head in self.origins else None

    def _compared(self, tree: exp.Expr) -> None:
        aliases = {node.alias_or_name: node.name for node in tree.find_all(exp.Table) if node.name in self.spec.tables}
        pairs = [(self.found.looked, node.this, node.expression) for node in tree.find_all(*_COMPARED)]
        pairs += [(self.found.bounds, node.this, node.expression) for node in tree.find_all(*_BOUNDS)]
        pairs += [(self.found.bounds, node.this, node.args["low"]) for node in tree.find_all(exp.Between)]
        for found, left, right in pairs:
            for one, other in ((left, right), (right, left)):
                origin = self._origin(one)
                place = self._place(other, aliases)
                if origin is not None and place is not None:
                    found.setdefault(origin, []).append(place)

    def _place(self, tree: exp.Expr, aliases: dict[str, str]) -> Place | None:
        while isinstance(tree, _PASSED_ON):
            tree = tree.this
        path: list[str] = []
        while isinstance(tree, exp.Dot):
            path.insert(0, tree.expression.name)
            tree = tree.this
        if isinstance(tree, Lookup) and tree.args.get("field"):
            return Place(tree.name, tuple(str(tree.args["field"]).split(".")))
        if isinstance(tree, exp.Column) and tree.table in aliases:
            return Place(aliases[tree.table], (tree.name, *path))
        if isinstance(tree, Value):
            head, *rest = tree.name.split(".")
            if head in self.rows and rest:
                return Place(self.rows[head], tuple(rest))
        return None

    def _put(self, table: str, path: tuple[str, ...], tree: exp.Expr) -> None:
        if isinstance(tree, exp.Struct):
            for part in tree.expressions:
                if isinstance(part, exp.PropertyEQ):
                    self._put(table, (*path, part.this.name), part.expression)
            return
        origin = self._origin(tree)
        if origin is not None:
            self.found.put.setdefault(origin, []).append(Place(table, path))

    def _by_name(self, parameter: m.Parameter) -> None:
        """A parameter that is compared with nothing may still be called like a column, as `item_ids` is."""
        known = self.found.looked.get(parameter.name) or self.found.bounds.get(parameter.name)
        if parameter.references is not None or known:
            return
        if not isinstance(parameter.type, t.Text | t.List):
            return  # an amount is not some other amount
        if self.found.put.get(parameter.name) and not parameter.name.endswith("s"):
            return
        singular = parameter.name.removesuffix("s").removeprefix("new_")
        for table in self.spec.tables.values():
            if table.parent is not None and table.column(singular) is not None:
                self.found.looked.setdefault(parameter.name, []).append(Place(table.name, (singular,)))


def _once(places: list[Place]) -> tuple[Place, ...]:
    return tuple(dict.fromkeys(places))


def value_at(row: Mapping[str, Any], path: Iterable[str]) -> Any:
    """What a row has at a path; None where there is nothing."""
    value: Any = row
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
