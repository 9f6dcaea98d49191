"""Columns that are hidden are in no result and in no text that a tool gives.

What is followed is a value as it is: through `let`, queries, functions and actions, in texts, records and lists. What
is made of it otherwise (a comparison, its last four characters) may be shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from forgec.diagnostics import Label, Report
from forgec.model import spec as m
from forgec.source import Span
from forgec.sql.query import Insert, Sql
from forgec.sql.scope import Cell
from forgec.sql.tree import Apply, Element, Lookup, Value, exp

Origins = frozenset[tuple[str, str]]
"""The hidden columns, each with its table, that a value may be."""
Columns = Mapping[str, Origins]
"""What the columns of a row may be; of a single value, the one that has no name."""

_NOTHING: Origins = frozenset()
_KEPT = (
    exp.Paren, exp.Coalesce, exp.Cast, exp.Greatest, exp.Least, exp.Nullif, exp.Min, exp.Max, exp.ArrayAgg, exp.Order,
    exp.GroupConcat, exp.Distinct, exp.Filter, exp.DPipe, exp.Lower, exp.Upper, exp.Trim, exp.Struct, exp.PropertyEQ,
    exp.Array, exp.ToMap, exp.Map, exp.ArrayConcat, exp.ArrayAppend, exp.ArraySort, exp.ArrayDistinct,
    exp.ArrayToString, exp.MapKeys, exp.Dot, exp.Alias, Element,
)  # fmt: skip
"""Expressions that have the values inside them for everybody to read."""
_KEPT_BY_NAME = ("to_json", "list_reverse", "map_values", "list_min", "list_max")


def hidden_stays_hidden(spec: m.Spec, report: Report) -> None:
    """Report every result and text of a tool that shows a hidden column."""
    if any(column.hidden for table in spec.tables.values() for column in table.columns):
        reader = _Reader(spec, report)
        for tool in spec.tools.values():
            values = {
                parameter.row: reader.row(parameter.references)
                for parameter in tool.parameters
                if parameter.row is not None and parameter.references is not None
            }
            for _ in range(2):  # what `set` keeps in a loop is known to the next pass
                reader.block(tool.body, values)


class _Reader:
    """Follows values through bodies."""

    def __init__(self, spec: m.Spec, report: Report) -> None:
        self.spec = spec
        self.report = report

    def row(self, table: str) -> Columns:
        """What the columns of a row of a table are."""
        columns = self.spec.tables[table].columns
        return {column.name: frozenset([(table, column.name)]) for column in columns if column.hidden}

    # -- bodies ------------------------------------------------------------------------------------------------

    def block(self, body: Iterable[m.Statement], values: dict[str, Columns]) -> None:
        for statement in body:
            self._texts(statement, values)
            if isinstance(statement, m.Let | m.Set):
                found = self._columns(statement.sql, values)
                if isinstance(statement, m.Let) and isinstance(statement.shape, Cell):
                    found = {"": frozenset[tuple[str, str]]().union(*found.values())}
                if isinstance(statement, m.Set):
                    found = {"": found.get("", _NOTHING) | values.get(statement.name, {}).get("", _NOTHING)}
                values[statement.name] = found
            elif isinstance(statement, m.If):
                for branch in statement.branches:
                    self.block(branch.body, values)
            elif isinstance(statement, m.Each):
                values[statement.name] = self._columns(statement.sql, values)
                self.block(statement.body, values)
            elif isinstance(statement, m.Do):
                self._do(statement, values)
            elif isinstance(statement, m.Return):
                self._return(statement, values)

    def _do(self, statement: m.Do, values: dict[str, Columns]) -> None:
        inner: dict[str, Columns] = {}
        for parameter, argument in zip(statement.action.parameters, statement.arguments, strict=True):
            inner[parameter.name] = self._columns(argument, values)
            if parameter.row is not None and parameter.references is not None:
                inner[parameter.row] = self.row(parameter.references)
        self.block(statement.action.body, inner)

    def _texts(self, statement: m.Statement, values: dict[str, Columns]) -> None:
        if isinstance(statement, m.Let | m.Require | m.Return | m.Reply | m.Fail) and statement.message is not None:
            for part in statement.message.parts:
                if isinstance(part, m.Hole):
                    self._shows("this text", part.sql.span, self._columns(part.sql, values).values())

    def _return(self, statement: m.Return, values: dict[str, Columns]) -> None:
        found = list(self._columns(statement.sql, values).values())
        shape = statement.result.shape
        if statement.result.nested and not isinstance(shape, Cell) and shape.table is not None:
            found += [origins for name in self._within(shape.table) for origins in self.row(name).values()]
        self._shows("this result", statement.sql.span, found)

    def _within(self, table: str) -> Iterator[str]:
        for other in self.spec.tables.values():
            if other.parent == table:
                yield other.name
                yield from self._within(other.name)

    def _shows(self, what: str, span: Span, found: Iterable[Origins]) -> None:
        hidden = sorted(_NOTHING.union(*found))
        if hidden:
            table, column = self.spec.tables[hidden[0][0]], hidden[0][1]
            declared = table.column(column)
            related = [Label(declared.span, "it is hidden")] if declared is not None else []
            message = f"{what} shows `{table.title}.{column}`"
            hint = "select the columns that may be seen" if what == "this result" else None
            self.report.error("AFS226", message, span, related=related, help=hint)

    # -- SQL ---------------------------------------------------------------------------------------------------

    def _columns(self, sql: Sql, values: Mapping[str, Columns]) -> Columns:
        if isinstance(sql.change, Insert):
            return self.row(sql.change.table)
        if sql.tree is None:
            return {}
        if isinstance(sql.tree, exp.Query):
            return self._query(sql.tree, values, {})
        if isinstance(sql.tree, Value) and "." not in sql.tree.name:
            return values.get(sql.tree.name, {})
        return {"": self._value(sql.tree, values, {})}

    def _query(self, query: exp.Expr, values: Mapping[str, Columns], outer: Mapping[str, Columns]) -> Columns:
        sources = dict(outer)
        with_ = query.args.get("with_")
        for cte in with_.expressions if with_ is not None else ():
            sources[f"with {cte.alias}"] = _renamed(self._query(cte.this, values, sources), cte)
        if isinstance(query, exp.SetOperation):
            left, right = (self._query(side, values, sources) for side in (query.this, query.expression))
            return {name: left[name] | one for name, one in zip(left, right.values(), strict=False)}
        if not isinstance(query, exp.Select):
            return {}
        from_ = query.args.get("from_")
        joins = query.args.get("joins") or ()
        for source in [*([from_.this] if from_ is not None else []), *(join.this for join in joins)]:
            sources[source.alias_or_name] = self._source(source, values, sources)
        return {item.alias: self._value(item.this, values, sources) for item in query.selects}

    def _source(self, source: exp.Expr, values: Mapping[str, Columns], sources: Mapping[str, Columns]) -> Columns:
        if isinstance(source, exp.Table) and "rows" in source.meta:
            return values.get(source.meta["rows"], {})
        if isinstance(source, exp.Table):
            return sources.get(f"with {source.name}", {}) if source.meta.get("cte") else self.row(source.name)
        if isinstance(source, exp.Subquery):
            return _renamed(self._query(source.this, values, sources), source)
        names = [name.name for name in source.args["alias"].columns] if source.args.get("alias") else []
        rows = (
            [source.expressions] if isinstance(source, exp.Unnest) else [row.expressions for row in source.expressions]
        )
        found: dict[str, Origins] = dict.fromkeys(names, _NOTHING)
        for row in rows:
            for name, part in zip(names, row, strict=False):
                found[name] |= self._value(part, values, sources)
        return found

    def _value(self, node: exp.Expr, values: Mapping[str, Columns], sources: Mapping[str, Columns]) -> Origins:
        """The hidden columns that an expression may give."""
        if isinstance(node, exp.Column):
            return sources.get(node.table, {}).get(node.name, _NOTHING)
        if isinstance(node, Value):
            head, *path = node.name.split(".")
            columns = values.get(head, {})
            return columns.get(path[0] if path else "", columns.get("", _NOTHING))
        if isinstance(node, Lookup):
            return self.row(node.name).get(str(node.args.get("field")), _NOTHING)
        if isinstance(node, Apply):
            return self._applied(node, values, sources)
        if isinstance(node, exp.Subquery):
            return _NOTHING.union(*self._query(node.this, values, sources).values())
        if isinstance(node, exp.Case):
            kept = [*(branch.args["true"] for branch in node.args["ifs"]), node.args.get("default")]
        elif isinstance(node, exp.Filter):
            kept = [node.this]
        elif isinstance(node, _KEPT) or (isinstance(node, exp.Anonymous) and node.name.lower() in _KEPT_BY_NAME):
            kept = list(node.iter_expressions())
        else:
            return _NOTHING
        return _NOTHING.union(*(self._value(part, values, sources) for part in kept if part is not None))

    def _applied(self, node: Apply, values: Mapping[str, Columns], sources: Mapping[str, Columns]) -> Origins:
        function = self.spec.functions[node.name]
        given = (self._value(part, values, sources) for part in node.expressions)
        inside = {one.name: {"": origins} for one, origins in zip(function.parameters, given, strict=True)}
        return self._value(function.sql.expression, inside, {})


def _renamed(columns: Columns, node: exp.Expr) -> Columns:
    """The columns of a query under the names that are given to them."""
    alias = node.args.get("alias")
    names = [part.name for part in alias.columns] if isinstance(alias, exp.TableAlias) else []
    return dict(zip(names, columns.values(), strict=True)) if names else columns
