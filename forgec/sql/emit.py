"""Checked trees to DuckDB text. Only text made here is ever executed, never the author's own.

Where a value or a table of the spec goes is the caller's to say; everything else is emitted alike: spec functions are
inlined, lookups become subqueries, and the clock is a constant.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forgec.sql.aggregates import put_in_order
from forgec.sql.infer import infer
from forgec.sql.lists import expanded
from forgec.sql.query import cell_of
from forgec.sql.tree import DIALECT, Apply, Clock, Element, Lookup, Value, cast, exp
from forgec_runtime.types import Date, Integer, Map

if TYPE_CHECKING:
    from forgec.model.spec import Function, Table
    from forgec.sql.scope import Rows

ReplaceValue = Callable[[Value], exp.Expr]
ReplaceTable = Callable[[str], exp.Expr]
ReplaceRows = Callable[[str, "Rows"], exp.Expr]

_RESERVED = frozenset(
    [
        "all",
        "analyse",
        "analyze",
        "and",
        "any",
        "array",
        "as",
        "asc",
        "asymmetric",
        "both",
        "case",
        "cast",
        "check",
        "collate",
        "column",
        "constraint",
        "create",
        "default",
        "deferrable",
        "desc",
        "describe",
        "distinct",
        "do",
        "else",
        "end",
        "except",
        "false",
        "fetch",
        "for",
        "foreign",
        "from",
        "group",
        "having",
        "in",
        "initially",
        "intersect",
        "into",
        "lambda",
        "lateral",
        "leading",
        "limit",
        "not",
        "null",
        "offset",
        "on",
        "only",
        "or",
        "order",
        "pivot",
        "pivot_longer",
        "pivot_wider",
        "placing",
        "primary",
        "qualify",
        "references",
        "returning",
        "select",
        "show",
        "some",
        "summarize",
        "symmetric",
        "table",
        "then",
        "to",
        "trailing",
        "true",
        "union",
        "unique",
        "unpivot",
        "using",
        "variadic",
        "when",
        "where",
        "window",
        "with",
    ]
)


@dataclass(frozen=True)
class Emitter:
    """Emits for one spec."""

    tables: Mapping[str, Table]
    functions: Mapping[str, Function]
    clock: datetime.datetime

    def text(
        self,
        tree: exp.Expr,
        value: ReplaceValue,
        table: ReplaceTable | None = None,
        rows: ReplaceRows | None = None,
        *,
        pretty: bool = False,
    ) -> str:
        """The text of `tree`, its values, tables and row sets written as the callbacks say."""
        replaced = self.replace(tree, value, table or exp.to_identifier, rows)
        return replaced.sql(dialect=DIALECT, comments=False, pretty=pretty, copy=False)

    def replace(self, tree: exp.Expr, value: ReplaceValue, table: ReplaceTable, rows: ReplaceRows | None) -> exp.Expr:
        """`tree` with only nodes that DuckDB knows."""

        def one(node: exp.Expr) -> exp.Expr:
            if isinstance(node, Value):
                return value(node)
            if isinstance(node, Clock):
                return self.clock_value(node)
            if isinstance(node, Apply):
                return self.replace(self._inlined(node), value, table, rows)
            if isinstance(node, Lookup):
                return self.replace(self._subquery(node), value, table, rows)
            if isinstance(node, Element):
                return self.replace(_extracted(node), value, table, rows)
            if isinstance(node, exp.Dot) and not isinstance(node.this, exp.Column | exp.Dot | Value | exp.Cast):
                return self.replace(_field(node), value, table, rows)
            if isinstance(node, exp.Unnest) and isinstance(node.args.get("alias"), exp.TableAlias):
                return self.replace(_unnested(node), value, table, rows)
            if isinstance(node, exp.Table):
                return self._table(node, table, rows)
            if isinstance(node, exp.ToMap) and not node.this.expressions:
                return exp.Anonymous(this="map")  # sqlglot writes none for `map {}`
            if isinstance(node, exp.Add | exp.Sub):
                _make_days_small(node)
            if isinstance(node, exp.AggFunc):
                put_in_order(node)
            if (known := expanded(node)) is not None:
                return self.replace(known, value, table, rows)
            return node

        replaced = tree.copy().transform(one, copy=False)
        for identifier in replaced.find_all(exp.Identifier):
            if identifier.name.lower() in _RESERVED:
                identifier.set("quoted", True)
        return replaced

    def clock_value(self, node: Clock) -> exp.Expr:
        if node.name == "today":
            return cast(exp.Literal.string(self.clock.date().isoformat()), "DATE")
        return cast(exp.Literal.string(self.clock.isoformat(sep=" ")), "TIMESTAMP")

    def _inlined(self, node: Apply) -> exp.Expr:
        """The body of a spec function with its parameters replaced by the arguments."""
        function = self.functions[node.name]
        arguments = dict(zip((p.name for p in function.parameters), node.expressions, strict=True))
        types = {parameter.name: parameter.type for parameter in function.parameters}

        def one(inner: exp.Expr) -> exp.Expr:
            if not isinstance(inner, Value):
                return inner
            head, _, path = inner.name.partition(".")
            argument: exp.Expr = cast(arguments[head].copy(), types[head].sql)
            for part in path.split(".") if path else ():
                argument = exp.Dot(this=argument, expression=exp.to_identifier(part))
            return argument

        body = _apart(function.sql.expression, node.name).transform(one, copy=False)
        if isinstance(function.returns.type, Integer):  # DuckDB has many, and ours is a BIGINT
            return cast(body, function.returns.type.sql)
        return exp.paren(body)

    def _subquery(self, node: Lookup) -> exp.Expr:
        table = self.tables[node.name]
        alias = f"{node.name}__row"
        conditions = [
            exp.EQ(this=exp.column(column.name, table=alias), expression=_operand(key))
            for column, key in zip(table.key, node.expressions, strict=True)
        ]
        source = exp.Table(this=exp.to_identifier(node.name), alias=exp.TableAlias(this=exp.to_identifier(alias)))
        field = exp.alias_(exp.column(node.args["field"], table=alias), node.args["field"])
        where = exp.Where(this=exp.and_(*conditions)) if conditions else None
        return exp.Subquery(this=exp.Select(expressions=[field], from_=exp.From(this=source), where=where))

    def _table(self, node: exp.Table, table: ReplaceTable, rows: ReplaceRows | None) -> exp.Expr:
        if "rows" in node.meta:
            assert rows is not None
            subquery = rows(node.meta["rows"], node.meta["shape"])
            return exp.Subquery(this=subquery, alias=node.args["alias"].copy())
        if node.meta.get("cte"):
            return node
        return exp.Table(this=table(node.name), alias=node.args["alias"].copy())


def _apart(body: exp.Expr, name: str) -> exp.Expr:
    """A copy of a function's body whose sources are called as no source around the call can be called."""
    body = body.copy()
    for alias in body.find_all(exp.TableAlias):
        alias.set("this", exp.to_identifier(f"{alias.name}__{name}"))
    for source in body.find_all(exp.Table):
        if source.meta.get("cte"):
            source.set("this", exp.to_identifier(f"{source.name}__{name}"))
    for column in body.find_all(exp.Column):
        if column.table:
            column.set("table", exp.to_identifier(f"{column.table}__{name}"))
    return body


def _extracted(node: Element) -> exp.Expr:
    """An element as a call: DuckDB counts positions below 0 from the end."""
    whole, key = node.this.copy(), node.expression.copy()
    if isinstance(infer(node.this), Map):
        return exp.Anonymous(this="map_extract_value", expressions=[whole, key])
    if not (isinstance(key, exp.Literal) and key.name.isdigit()):
        key = exp.Greatest(this=key, expressions=[exp.Literal.number(0)], ignore_nulls=True)
    return exp.Anonymous(this="list_extract", expressions=[whole, key])


def _field(node: exp.Dot) -> exp.Expr:
    """A field of what is no column."""
    name = exp.Literal.string(node.expression.name)
    return exp.Anonymous(this="struct_extract", expressions=[node.this.copy(), name])


def _unnested(node: exp.Unnest) -> exp.Expr:
    """`unnest` as a select of its own: DuckDB has none of several lists in `from`."""
    alias = node.args["alias"]
    lists: list[exp.Expr] = [exp.Unnest(expressions=[part.copy()]) for part in node.expressions]
    if node.args.get("offset"):
        lengths: list[exp.Expr] = [exp.Anonymous(this="len", expressions=[part.copy()]) for part in node.expressions]
        longest = lengths[0]
        if len(lengths) > 1:
            longest = exp.Greatest(this=longest, expressions=lengths[1:], ignore_nulls=True)
        numbers = exp.Anonymous(this="generate_series", expressions=[exp.Literal.number(1), longest])
        lists.append(exp.Unnest(expressions=[numbers]))
    items = [exp.alias_(part, name.name) for part, name in zip(lists, alias.columns, strict=True)]
    return exp.Subquery(this=exp.Select(expressions=items), alias=exp.TableAlias(this=alias.this.copy()))


def _operand(tree: exp.Expr) -> exp.Expr:
    """A copy that can stand beside an operator."""
    return tree.copy() if isinstance(tree, Value | exp.Column | exp.Literal) else exp.paren(tree.copy())


def _make_days_small(node: exp.Add | exp.Sub) -> None:
    """DuckDB adds no BIGINT to a date, and integers are BIGINT here."""
    days = node.expression
    if isinstance(infer(node.this), Date) and isinstance(infer(days), Integer) and not isinstance(days, exp.Literal):
        node.set("expression", cast(exp.paren(days), "INTEGER"))


def typed_null(node: Value) -> exp.Expr:
    """A value of which only the type is known."""
    return cast(exp.Null(), cell_of(node).type.sql)


def empty_rows(_: str, shape: Rows) -> exp.Expr:
    """A set of rows of which only the types are known."""
    items = [exp.alias_(cast(exp.Null(), cell.type.sql), n) for n, cell in shape.columns.items()]
    return exp.Select(expressions=items, where=exp.Where(this=exp.false()))


def flat_name(path: str) -> str:
    """The name of a value in SQL: `m.fines` is `m__fines`, which no name of a spec can be."""
    return path.replace(".", "__")
