"""Tasks as they are written for the runtime: constants, references, and queries for the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from forgec.model import spec as m
from forgec.plans.query import Template, template
from forgec.sql.emit import Emitter
from forgec.sql.query import Change, Delete, Insert, Sql, Update
from forgec.sql.scope import Row, Rows, Shape
from forgec.sql.tree import Value, cast, exp

Kind = Literal["value", "row", "rows"]
Write = Literal["insert", "update", "delete"]

_WRITES: Mapping[Write, type[Change]] = {"insert": Insert, "update": Update, "delete": Delete}


@dataclass(frozen=True)
class ReferencePlan:
    """`$name.column`: a sample, a fact or an earlier result, or a part of it."""

    path: str


@dataclass(frozen=True)
class ComputedPlan:
    """A query over earlier results."""

    query: Template
    kind: Kind


Computation = ReferencePlan | m.Constant | ComputedPlan


@dataclass(frozen=True)
class ChangePlan:
    """Rows that an episode begins with otherwise than its world has them."""

    kind: Write
    table: str
    rows: ComputedPlan


@dataclass(frozen=True)
class TaskPlan:
    """A task, whose values `computed` makes ready."""

    task: m.Task
    spec: m.Spec
    emitter: Emitter

    def computed(self, value: m.Given, shape: Shape | None = None) -> Computation:
        """A value; a query gives what `shape` says."""
        if isinstance(value, m.Constant):
            return value
        if isinstance(value.tree, Value):
            return ReferencePlan(value.tree.name)
        shape = shape or value.shape
        return self.asked(value, "rows" if isinstance(shape, Rows) else "row" if isinstance(shape, Row) else "value")

    def asked(self, sql: Sql, kind: Kind = "value") -> ComputedPlan:
        """A query, whatever it is."""
        return self._query(sql.expression, kind)

    def changes(self) -> Iterator[ChangePlan]:
        """The writes of the task, a row of an insert each."""
        for sql in self.task.change:
            change = sql.change
            assert change is not None
            kind = next(kind for kind, one in _WRITES.items() if isinstance(change, one))
            yield from (ChangePlan(kind, change.table, rows) for rows in self.written(sql))

    def written(self, sql: Sql) -> list[ComputedPlan]:
        """The rows that one write makes, or finds."""
        if isinstance(sql.change, Insert):
            return [self._query(query, "rows") for query in _inserted(sql.change, self.spec.tables[sql.change.table])]
        assert sql.change is not None
        return [self._query(self._found(sql.change), "rows")]

    def _query(self, tree: exp.Expr, kind: Kind) -> ComputedPlan:
        return ComputedPlan(template(tree, self.emitter, rows=kind == "rows", pretty=False), kind)

    def _found(self, change: Update | Delete) -> exp.Select:
        """The keys of the rows to change, with what is new in them."""
        table = self.spec.tables[change.table]
        items = [exp.alias_(exp.column(column.name, table=change.alias), column.name) for column in table.key]
        for name, tree in change.assignments if isinstance(change, Update) else ():
            items.append(_item(table, name, tree))
        if not items:
            items = [exp.alias_(exp.Literal.number(1), "found")]
        alias = exp.TableAlias(this=exp.to_identifier(change.alias))
        source = exp.Table(this=exp.to_identifier(table.name), alias=alias)
        where = exp.Where(this=change.where.copy())
        return exp.Select(expressions=items, from_=exp.From(this=source), where=where)


def plan_task(task: m.Task, spec: m.Spec, emitter: Emitter) -> TaskPlan:
    """The task, ready to be written."""
    return TaskPlan(task, spec, emitter)


def _inserted(change: Insert, table: m.Table) -> Iterator[exp.Query]:
    """The rows to insert with all columns but those that the engine makes: a query for each, or for all of them."""
    rest = [column for column in table.columns if column.name not in change.columns and not column.made]
    defaults = [_item(table, c.name, c.default.expression if c.default else exp.Null()) for c in rest]
    for row in change.rows:
        items = [_item(table, name, tree) for name, tree in zip(change.columns, row, strict=True)]
        yield exp.Select(expressions=[*items, *defaults])
    if change.query is not None:
        query = change.query.copy()
        given = zip(change.columns, query.selects, strict=True)
        items = [_item(table, name, exp.column(item.alias_or_name, table="given")) for name, item in given]
        alias = exp.TableAlias(this=exp.to_identifier("given"))
        inner = exp.Subquery(this=query, alias=alias)
        yield exp.Select(expressions=[*items, *defaults], from_=exp.From(this=inner))


def _item(table: m.Table, name: str, tree: exp.Expr) -> exp.Expr:
    """A column with a value of its type."""
    column = table.column(name)
    assert column is not None
    return exp.alias_(cast(tree.copy(), column.type.sql), name)
