"""Query steps: SQL templates that the runtime executes once for all calls that wait for them."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from forgec.model.types import type_of
from forgec.sql.aggregates import operands
from forgec.sql.emit import Emitter, flat_name
from forgec.sql.query import cell_of
from forgec.sql.scope import Rows
from forgec.sql.tree import DIALECT, Value, exp
from forgec_runtime.types import Type

_OPEN, _CLOSE = "\ue000", "\ue001"
"""Stand for the braces of slots while the braces of SQL are doubled; no text of a spec holds them."""


@dataclass(frozen=True)
class QueryPlan:
    """One query of a tool: what the runtime's `Query` takes, the Python that gives its values, and why it is one."""

    name: str
    text: str
    tables: tuple[str, ...]
    values: tuple[tuple[str, Type], ...]
    columns: tuple[str, ...]
    order: str
    inputs: tuple[ast.expr, ...] = ()
    why: str = ""


@dataclass(frozen=True)
class Template:
    """A query as text with slots, and the paths of the values that it needs, in order."""

    text: str
    tables: tuple[str, ...]
    values: tuple[tuple[str, Type], ...]
    columns: tuple[str, ...]
    order: str


def template(tree: exp.Expr, emitter: Emitter, *, rows: bool, pretty: bool = True) -> Template:
    """The template of a query or, as one column `value`, of an expression.

    With `rows`, the answer has an order: the query's own, then its columns from left to right, so that rows that tie
    come in the same order everywhere.
    """
    query = tree.copy() if isinstance(tree, exp.Query) else exp.Select(expressions=[exp.alias_(tree.copy(), "value")])
    columns = tuple(query.named_selects)
    _nest_values(query)
    order = _take_order(query, columns) if rows or query.args.get("limit") else []
    values: dict[str, Type] = {}
    tables: set[str] = set()

    def value(node: Value) -> exp.Expr:
        values.setdefault(node.name, cell_of(node).type)
        return exp.column(flat_name(node.name), table="call")

    def table(name: str) -> exp.Expr:
        tables.add(name)
        return exp.Identifier(this=f"{_OPEN}{name}{_CLOSE}", quoted=False)

    def rows_of(name: str, shape: Rows) -> exp.Expr:
        values.setdefault(name, type_of(shape))
        unnest = exp.Unnest(expressions=[exp.column(name, table="call")])
        columns = [
            exp.alias_(exp.Dot(this=exp.column("_row"), expression=exp.to_identifier(c)), c) for c in shape.columns
        ]
        inner = exp.Subquery(
            this=exp.Select(expressions=[exp.alias_(unnest, "_row")]),
            alias=exp.TableAlias(this=exp.to_identifier("_rows")),
        )
        return exp.Select(expressions=columns, from_=exp.From(this=inner))

    text = emitter.text(query, value, table, rows_of, pretty=pretty)
    text = text.replace("{", "{{").replace("}", "}}").replace(_OPEN, "{").replace(_CLOSE, "}")
    return Template(text, tuple(sorted(tables)), tuple(values.items()), columns, ", ".join(order) if rows else "")


def _nest_values(query: exp.Expr) -> None:
    """`sum($n)` as `sum((select $n))`: DuckDB admits no aggregate of nothing but columns of `call`."""
    for aggregate in list(query.find_all(exp.AggFunc)):
        for operand in operands(aggregate):
            if operand.find(Value) is not None and not _looks_at_rows(operand):
                operand.replace(exp.Subquery(this=exp.Select(expressions=[operand.copy()])))


def _looks_at_rows(operand: exp.Expr) -> bool:
    """Whether an operand has a column of the rows that it is taken of, and not only those of selects inside it."""
    within = [source.alias_or_name for source in operand.find_all(exp.Table)]
    return any(column.table not in within for column in operand.find_all(exp.Column))


def _take_order(query: exp.Expr, columns: tuple[str, ...]) -> list[str]:
    """The order of the answer as a list over the columns of `q`.

    Terms that are no column of the answer become hidden ones. An order inside the query has a meaning only under a
    limit; there it is completed by the answer's own columns.
    """
    order = query.args.get("order")
    terms: list[str] = []
    named: set[str] = set()
    for position, ordered in enumerate(order.expressions if order is not None else ()):
        term = ordered.copy()
        if not ordered.this.meta.get("output"):
            name = f"_{position + 1}"
            query.set("expressions", [*query.expressions, exp.alias_(ordered.this.copy(), name)])
            term.set("this", exp.column(name, table="q"))
        else:
            named.add(ordered.this.name)
            term.set("this", exp.column(ordered.this.name, table="q", quoted=False))
        terms.append(term.sql(dialect=DIALECT))
    rest = [name for name in columns if name not in named]
    if query.args.get("limit") is None:
        query.set("order", None)
    else:
        inner = [ordered.copy() for ordered in order.expressions] if order is not None else []
        inner.extend(exp.Ordered(this=exp.column(name), nulls_first=False) for name in rest)
        query.set("order", exp.Order(expressions=inner))
    return [*terms, *(exp.column(name, table="q").sql(dialect=DIALECT) for name in rest)]
