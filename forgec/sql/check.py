"""From the text of a fragment to checked SQL: parse, allow-list, names, types."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from forgec.diagnostics import counted
from forgec.source import Span
from forgec.sql.allow import check_allowed
from forgec.sql.emit import Emitter, empty_rows, typed_null
from forgec.sql.fitting import ValueChecker
from forgec.sql.frames import UNKNOWN, Columns, Frame, Unresolved
from forgec.sql.growth import MAX_COPIES, copies
from forgec.sql.infer import infer, results
from forgec.sql.nulls import may_be_null
from forgec.sql.oracle import Rejected
from forgec.sql.query import Change, Delete, Insert, Sql, Update, cell_of
from forgec.sql.resolve import Resolver
from forgec.sql.scope import Cell, Rows, Scope
from forgec.sql.size import size_of
from forgec.sql.tree import Calculate, Fragment, Lookup, Value, cast, exp, literal_record, parse_sql
from forgec.syntax.nodes import SqlText
from forgec_runtime.types import Boolean, Date, Double, List, Map, Record, Text, Timestamp, Type

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)


@dataclass(frozen=True)
class SqlChecker(ValueChecker):
    """Checks the SQL of one spec. All methods return None for what they reported."""

    emitter: Emitter

    def any(
        self, text: SqlText, scope: Scope, rows: Sequence[Mapping[str, Cell]] = (), *, calculates: bool = False
    ) -> Sql | None:
        """A query (its shape is `Rows`) or an expression (its shape is a `Cell`).

        Where a row is wanted, one of `rows`, a record that is written out is one. Where a statement `calculates`, the
        whole may be a `Calculate`.
        """
        fragment = self._parsed(text, scope, calculates)
        if fragment is None:
            return None
        record = literal_record(fragment.tree)
        if rows and record is not None:
            fragment = Fragment(text, _select(record, rows))
        if isinstance(fragment.tree, exp.Insert | exp.Update | exp.Delete):
            self.report.error("AFS405", "nothing may be written here", text.span)
            return None
        resolver = Resolver(fragment, scope, self.report)
        try:
            if isinstance(fragment.tree, exp.Query) and not isinstance(fragment.tree, exp.Subquery):
                tree, columns = resolver.query()
                return self._query(fragment, tree, columns, resolver)
            tree = resolver.expression()
            if isinstance(tree, Lookup) and not tree.args.get("field"):
                tree, columns = resolver.lookup_query(tree)
                return self._query(fragment, tree, columns, resolver)
            return self._expression(fragment, tree, resolver)
        except Unresolved:
            return None

    def view(self, text: SqlText, scope: Scope) -> tuple[Sql, Columns] | None:
        """A select that others take their rows from, and its columns as those see them."""
        fragment = self._parsed(text, scope)
        if fragment is None:
            return None
        if not isinstance(fragment.tree, exp.Query) or isinstance(fragment.tree, exp.Subquery):
            self.report.error("AFS405", "a view is a select", text.span)
            return None
        resolver = Resolver(fragment, scope, self.report, inner=True)
        try:
            tree, columns = resolver.query()
        except Unresolved:
            return None
        sql = self._query(fragment, tree, columns, resolver)
        return None if sql is None else (sql, columns)

    def has_type(self, sql: Sql) -> bool:
        """Whether the type of an expression is known from what it says; reports when not."""
        unknown = isinstance(sql.shape, Cell) and sql.shape.type is UNKNOWN
        if unknown and isinstance(sql.tree, exp.Array | exp.ToMap | exp.Struct):
            hint = "write it where its type is declared"
            self.report.error("AFS305", "nothing tells the type of all that is in this", sql.span, help=hint)
            return False
        return True

    def expression(
        self,
        text: SqlText,
        scope: Scope,
        wanted: Type | None = None,
        row: dict[str, Cell] | None = None,
        *,
        data: bool = False,
        calculates: bool = False,
    ) -> Sql | None:
        """An expression; of type `wanted`, if given. `row` holds columns that may stand bare.

        In `data` a text is the date or time that it spells, where one is wanted. `calculates` is as for `any`.
        """
        fragment = self._parsed(text, scope, calculates)
        return None if fragment is None else self._resolved(fragment, scope, wanted, row, data=data)

    def piece(
        self, fragment: Fragment, scope: Scope, wanted: Type | None, row: dict[str, Cell], *, data: bool = False
    ) -> Sql | None:
        """As `expression`, of what was parsed already, or is a part of that."""
        allowed = self._allowed(fragment, scope)
        return self._resolved(fragment, scope, wanted, row, data=data) if allowed else None

    def _resolved(
        self, fragment: Fragment, scope: Scope, wanted: Type | None, row: dict[str, Cell] | None, *, data: bool
    ) -> Sql | None:
        if isinstance(fragment.tree, exp.Query | exp.Insert | exp.Update | exp.Delete) and not isinstance(
            fragment.tree, exp.Subquery
        ):
            is_query = isinstance(fragment.tree, exp.Query)
            message = "an expression is expected here" if is_query else "nothing may be written here"
            hint = "put a select used as a value in parentheses" if is_query else None
            self.report.error("AFS405", message, fragment.span, help=hint)
            return None
        resolver = Resolver(fragment, scope, self.report)
        try:
            tree = resolver.expression(Frame({"row": row} if row else {}))
        except Unresolved:
            return None
        if row:
            tree = row_values(tree, "row")
        if data and wanted is not None:
            tree = _spelled(tree, wanted)
        sql = self._expression(fragment, tree, resolver)
        if sql is not None and wanted is not None:
            assert isinstance(sql.shape, Cell)
            given = None if sql.shape.type is UNKNOWN else sql.shape.type
            if not self.check_assignable(wanted, tree, given, fragment, fragment.span):
                return None
            if given is None:
                return self._of_type(fragment, sql, wanted)
        return sql

    def _of_type(self, fragment: Fragment, sql: Sql, wanted: Type) -> Sql | None:
        """`sql`, whose own type is none that we hold (NULL, or a record with a NULL in it), as a `wanted`."""
        if isinstance(sql.tree, exp.Null):
            return sql
        tree = cast(sql.expression.copy(), wanted.sql)
        if self._describe(fragment, f"select {self._typed(tree)} as x") is None:
            return None
        return replace(sql, tree=tree, shape=Cell(wanted, may_be_null(sql.expression)))

    def row(self, text: SqlText, scope: Scope, wanted: list[Type]) -> list[tuple[exp.Expr, Span]] | None:
        """The constants of one row `(1, 'a', null)` with their places, one for each type that is wanted."""
        fragment = self._parsed(text, scope)
        if fragment is None:
            return None
        parts = fragment.tree.expressions if isinstance(fragment.tree, exp.Tuple) else [fragment.tree.this]
        if len(parts) != len(wanted):
            message = f"{counted(len(wanted), 'column')} but {counted(len(parts), 'value')}"
            self.report.error("AFS410", message, text.span)
            return None
        row: list[tuple[exp.Expr, Span]] = []
        for part, type_ in zip(parts, wanted, strict=True):
            span = fragment.span_of(part)
            tree = self.constant(fragment, part, scope, type_, span)
            if tree is None:
                return None
            row.append((tree, span))
        return row

    def data(self, text: SqlText, scope: Scope) -> Fragment | None:
        """A fragment that is to be read part by part, as constants."""
        return self._parsed(text, scope)

    def constant(self, fragment: Fragment, part: exp.Expr, scope: Scope, wanted: Type, span: Span) -> exp.Expr | None:
        """One part of a fragment as a constant of a type."""
        try:
            tree = Resolver(fragment, scope, self.report).constant(part)
        except Unresolved:
            return None
        return tree if self.check_assignable(wanted, tree, infer(tree), fragment, span, True) else None

    def condition(self, text: SqlText, scope: Scope, row: dict[str, Cell] | None = None) -> Sql | None:
        """An expression that is true or not."""
        return self.expression(text, scope, Boolean(), row)

    def change(self, text: SqlText, scope: Scope) -> Sql | None:
        """An insert, update or delete."""
        fragment = self._parsed(text, scope)
        if fragment is None:
            return None
        if not isinstance(fragment.tree, exp.Insert | exp.Update | exp.Delete):
            self.report.error("AFS405", "an insert, update or delete is expected here", text.span)
            return None
        resolver = Resolver(fragment, scope, self.report)
        try:
            change = resolver.change()
        except Unresolved:
            return None
        if not self._check_change(fragment, change, scope):
            return None
        columns = scope.tables[change.table].row.columns
        return Sql(text.span, None, change, Rows(columns, change.table), frozenset(resolver.reads))

    # -- steps -------------------------------------------------------------------------------------------------

    def _parsed(self, text: SqlText, scope: Scope, calculates: bool = False) -> Fragment | None:
        fragment = parse_sql(text, self.report)
        return fragment if fragment is not None and self._allowed(fragment, scope, calculates) else None

    def _allowed(self, fragment: Fragment, scope: Scope, calculates: bool = False) -> bool:
        if not check_allowed(fragment, scope, self.report):
            return False
        if calculates and _is_calculation(fragment.tree):
            calculation = Calculate(this=fragment.tree.expressions[0])
            calculation.meta["cell"] = Cell(Double(), True)
            fragment.tree = calculation
        for node in fragment.tree.find_all(exp.Anonymous):
            if _is_calculation(node):
                hint = "take it with `let x = calculate(...);`, and use `$x`"
                message = "`calculate` is not the whole of a `let` or `return` here"
                self.report.error("AFS509", message, fragment.span_of(node), help=hint)
                return False
        return True

    def _calculation(self, fragment: Fragment, tree: Calculate, resolver: Resolver) -> Sql | None:
        sql = self._expression(fragment, tree.this, resolver)
        if sql is None:
            return None
        assert isinstance(sql.shape, Cell)
        given = None if sql.shape.type is UNKNOWN else sql.shape.type
        if not self.check_assignable(Text(), tree.this, given, fragment, fragment.span_of(tree.this)):
            return None
        return replace(sql, tree=tree, shape=cell_of(tree))

    def _expression(self, fragment: Fragment, tree: exp.Expr, resolver: Resolver) -> Sql | None:
        if isinstance(tree, Calculate):
            return self._calculation(fragment, tree, resolver)
        if not self._check_nodes(fragment, tree):
            return None
        types = self._describe(fragment, f"select {self._typed(tree)} as x")
        if types is None:
            return None
        type_ = types[0] or UNKNOWN
        _note_difference(tree, types[0])
        cell = tree.meta.get("cell") or Cell(_declared(tree, type_), may_be_null(tree))
        return Sql(fragment.span, tree, None, cell, frozenset(resolver.reads))

    def _query(self, fragment: Fragment, tree: exp.Expr, columns: dict[str, Cell], resolver: Resolver) -> Sql | None:
        if not self._check_nodes(fragment, tree):
            return None
        types = self._describe(fragment, self._typed(tree))
        if types is None:
            return None
        shaped = {
            name: replace(cell, type=_kept(cell.type, type_ or UNKNOWN))
            for (name, cell), type_ in zip(columns.items(), types, strict=True)
        }
        return Sql(
            fragment.span, tree, None, Rows(shaped, self._whole_table(tree, list(columns))), frozenset(resolver.reads)
        )

    def _whole_table(self, tree: exp.Expr, columns: list[str]) -> str | None:
        """The table of which a query gives whole rows (`select * from t ...`)."""
        if not isinstance(tree, exp.Select) or tree.args.get("joins") or tree.args.get("group"):
            return None
        from_ = tree.args.get("from_")
        source = from_.this if from_ is not None else None
        if not isinstance(source, exp.Table) or "rows" in source.meta or source.meta.get("cte"):
            return None
        plain = all(isinstance(item.this, exp.Column) and item.this.name == item.alias for item in tree.selects)
        names = [column.name for column in self.emitter.tables[source.name].columns]
        return source.name if plain and names == columns else None

    def _typed(self, tree: exp.Expr) -> str:
        return self.emitter.text(tree, typed_null, rows=empty_rows)

    def _describe(self, fragment: Fragment, query: str) -> list[Type | None] | None:
        try:
            return [type_ for _, type_ in self.oracle.describe(query)]
        except Rejected as reason:
            self.report.error("AFS304", "DuckDB refuses this SQL", fragment.span, str(reason), help=_hint(str(reason)))
            return None

    def _check_nodes(self, fragment: Fragment, tree: exp.Expr) -> bool:
        if problem := size_of(tree, self.emitter.functions).problem:
            self.report.error("AFS403", f"with its functions written out, this SQL has {problem}", fragment.span)
            return False
        if not isinstance(tree, exp.Query) and copies(tree, self.emitter.functions) > MAX_COPIES:
            message = f"a text or list of this is joined of more than {MAX_COPIES} others"
            self.report.error("AFS403", message, fragment.span)
            return False
        for node in tree.walk():
            if isinstance(node, Lookup) and not node.args.get("field"):
                self.report.error(
                    "AFS203",
                    f"`{self.emitter.tables[node.name].title}[...]` is a row, not a value",
                    fragment.span_of(node),
                    help="take one of its columns: `table[key].column`",
                )
                return False
            if (sides := _sides(node)) is not None and not self.check_comparison(fragment, node, *sides):
                return False
            if not self.check_choices(fragment, node) or not self.check_compared(fragment, node):
                return False
            if not self.check_operands(fragment, node):
                return False
            if isinstance(node, exp.Cast) and not self.check_cast(fragment, node):
                return False
        return True

    def _check_change(self, fragment: Fragment, change: Change, scope: Scope) -> bool:
        table = scope.tables[change.table]
        for tree in trees_of(change):
            if not self._check_nodes(fragment, tree):
                return False
        if isinstance(change, Insert):
            rows = [*change.rows]
            queries = [(self._items(row), row) for row in rows]
            if change.query is not None:
                queries = [(self._typed(change.query), tuple(part.this for part in change.query.selects))]
            columns = change.columns
        elif isinstance(change, Update):
            columns = tuple(name for name, _ in change.assignments)
            parts = tuple(part for _, part in change.assignments)
            where = self._typed(change.where)
            queries = [(f'{self._items(parts)} from "{change.table}" as "{change.alias}" where {where}', parts)]
        else:
            where = self._typed(change.where)
            return (
                self._describe(fragment, f'select 1 from "{change.table}" as "{change.alias}" where {where}')
                is not None
            )
        for query, row in queries:
            types = self._describe(fragment, query)
            if types is None:
                return False
            for name, part, given in zip(columns, row, types, strict=True):
                column = table.column(name)
                assert column is not None
                if isinstance(part, exp.Null) and not column.optional:
                    self.report.error(
                        "AFS301",
                        f"`{name}` is never null",
                        fragment.span_of(part),
                        help=f"declare `{name} {column.type}?`",
                    )
                    return False
                if not self.check_assignable(column.type, part, given, fragment, fragment.span_of(part)):
                    return False
                _note_difference(part, given)
        return True

    def _items(self, parts: tuple[exp.Expr, ...]) -> str:
        return "select " + ", ".join(f"{self._typed(part)} as x{i}" for i, part in enumerate(parts))


def _sides(node: exp.Expr) -> tuple[exp.Expr, list[exp.Expr]] | None:
    """What is compared with what, if a node compares."""
    if isinstance(node, (*_COMPARISONS, exp.Nullif)):
        return node.this, [node.expression]
    if isinstance(node, exp.In):
        query = node.args.get("query")
        return node.this, node.expressions if query is None else results(query)
    if isinstance(node, exp.Between):
        return node.this, [node.args["low"], node.args["high"]]
    if isinstance(node, exp.Case) and node.this is not None:
        return node.this, [part.this for part in node.args["ifs"]]
    return None


def _is_calculation(tree: exp.Expr) -> bool:
    return isinstance(tree, exp.Anonymous) and tree.name.lower() == "calculate"


def _hint(reason: str) -> str | None:
    """What to write in place of a sum that DuckDB does not know."""
    if re.search(r"\+\([^)]*(VARCHAR|STRING)", reason):
        return "texts are joined with `||`"
    if "LATERAL join conditions" in reason:
        return "what is unnested of a table is joined `on true`, and looked at in `where`"
    return "add an interval, such as `+ interval 3 hour`" if re.search(r"[-+]\(TIMESTAMP", reason) else None


def _select(record: exp.Struct, rows: Sequence[Mapping[str, Cell]]) -> exp.Select:
    """A record that is written out as the row of its fields: in the order that is wanted, what is left out NULL.

    It is the first of the `rows` that it can be.
    """
    values = {part.this.name: part.expression for part in record.expressions}
    wanted = next((row for row in rows if _fits(values, row)), rows[0])
    names = [name for name in wanted if name in values or wanted[name].optional]
    if not wanted.keys() >= values.keys():
        names = list(values)
    items = [exp.Alias(this=values.get(name, exp.Null()), alias=exp.to_identifier(name)) for name in names]
    return exp.Select(expressions=items)


def _spelled(tree: exp.Expr, wanted: Type) -> exp.Expr:
    """`tree` with each text that stands where a date or time is wanted as the one that it spells."""
    if isinstance(wanted, Date | Timestamp) and isinstance(tree, exp.Literal) and tree.is_string:
        return cast(tree, wanted.sql)
    record = literal_record(tree)
    if isinstance(wanted, Record) and record is not None:
        for part in record.expressions:
            field = wanted.field(part.this.name)
            if field is not None:
                part.set("expression", _spelled(part.expression, field.type))
    if isinstance(wanted, List) and isinstance(tree, exp.Array):
        tree.set("expressions", [_spelled(part, wanted.of) for part in tree.expressions])
    if isinstance(wanted, Map) and isinstance(tree, exp.ToMap):
        for part in tree.this.expressions:
            part.set("expression", _spelled(part.expression, wanted.of))
    return tree


def _fits(names: Collection[str], row: Mapping[str, Cell]) -> bool:
    """Whether a row can have these columns and no others."""
    return row.keys() >= set(names) and all(name in names or cell.optional for name, cell in row.items())


def _note_difference(tree: exp.Expr, given: Type | None) -> None:
    """Where `infer` and DuckDB are of two minds, DuckDB computes."""
    known = infer(tree)
    if known is not None and given is not None and known.sql != given.sql:
        tree.meta["only_duckdb"] = True


def trees_of(change: Change) -> list[exp.Expr]:
    """Every expression and query of a change."""
    if isinstance(change, Insert):
        return [*(part for row in change.rows for part in row), *([change.query] if change.query is not None else [])]
    if isinstance(change, Update):
        return [*(part for _, part in change.assignments), change.where]
    assert isinstance(change, Delete)
    return [change.where]


def row_values(tree: exp.Expr, alias: str) -> exp.Expr:
    """A copy of `tree` in which the columns of the source `alias` are values `row.column` of the call."""
    copy = tree.copy()
    for column in list(copy.find_all(exp.Column)):
        if column.table == alias and "cell" in column.meta and not _is_hidden(alias, column):
            value = Value(this=f"row.{column.name}")
            value.meta["cell"] = column.meta["cell"]
            if column is copy:
                return value
            column.replace(value)
    return copy


def _is_hidden(alias: str, column: exp.Expr) -> bool:
    """Whether a select around `column` has a source of its own called `alias`."""
    select = column.find_ancestor(exp.Select)
    while select is not None:
        from_ = select.args.get("from_")
        sources = [
            *([from_.this] if from_ is not None else []),
            *(join.this for join in select.args.get("joins") or ()),
        ]
        if any(source.alias_or_name == alias for source in sources):
            return True
        select = select.find_ancestor(exp.Select)
    return False


def _declared(tree: exp.Expr, given: Type) -> Type:
    """The declared type where the tree shows it (an enum is text to DuckDB)."""
    known = infer(tree)
    return known if known is not None and known.sql == given.sql else given


def _kept(declared: Type, given: Type) -> Type:
    return declared if declared.sql == given.sql else given
