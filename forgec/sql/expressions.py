"""Names inside expressions: columns, values, lookups and functions, each found or reported."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from forgec.diagnostics import Label, Report, counted, did_you_mean
from forgec.sql.aggregates import as_one_filter, without_null
from forgec.sql.frames import UNKNOWN, Columns, Frame, Unresolved
from forgec.sql.infer import assignable, comparable, infer
from forgec.sql.nulls import may_be_null
from forgec.sql.query import cell_of
from forgec.sql.scope import Cell, Row, Rows, Scope, table_at, titles
from forgec.sql.tree import DIALECT, MARK, Apply, Clock, Element, Fragment, Lookup, Value, cast, exp, is_value, place_of
from forgec_runtime.types import MAX_ELEMENTS, Date, Integer, List, Map, Record, Timestamp, Type

if TYPE_CHECKING:
    from forgec.model.spec import Table


class ExpressionResolver:
    """Resolves expressions of one fragment. `reads` collects the tables that it reads, also through functions."""

    def __init__(self, fragment: Fragment, scope: Scope, report: Report) -> None:
        self.fragment = fragment
        self.scope = scope
        self.report = report
        self.reads: set[str] = set()

    def _query(self, node: exp.Expr, outer: Frame | None) -> tuple[exp.Expr, Columns]:
        """Resolve a query inside an expression; `QueryResolver` knows how."""
        raise NotImplementedError

    def _fail(
        self,
        code: str,
        message: str,
        node: exp.Expr,
        hint: str | None = None,
        label: str = "",
        about: str | None = None,
    ) -> Unresolved:
        self.report.error(code, message, self.fragment.span_of(node), label, help=hint, about=about)
        return Unresolved()

    def _table(self, node: exp.Table | exp.Column) -> Table:
        """The table that a name or a path such as `orders.items` means."""
        path = [part.name for part in node.parts]
        table = table_at(self.scope.tables, path)
        if table is None:
            raise self._unknown_table(node, ".".join(path))
        return table

    def _unknown_table(self, node: exp.Expr, name: str) -> Unresolved:
        if self.scope.alone:
            return self._fail("AFS308", f"no table can be read here, and `{name}` would be one", node)
        if name in self.scope.views:
            message = f"`{name}` is a view, and a table is wanted here"
            return self._fail("AFS224", message, node, f"read it with `from {name}`")
        known = titles(self.scope.tables)
        inner = [title for title in known if title.endswith(f".{name}")]
        hint = f"did you mean `{inner[0]}`?" if inner else did_you_mean(name, {**known, **self.scope.views})
        if name in self.scope.values:
            hint = f"a value of the call is written `${name}`"
        if name in self.scope.later:
            hint = "views and functions use those above them"
        similar = known.get((hint or "").removeprefix("did you mean `").removesuffix("`?"))
        related = [Label(similar.span, "a table with a similar name is declared here")] if similar else []
        self.report.error(
            "AFS201",
            f"unknown table `{name}`",
            self.fragment.span_of(node),
            "not a table of this spec",
            related=related,
            help=hint,
            about=name,
        )
        return Unresolved()

    def _expression(self, node: exp.Expr, frame: Frame) -> exp.Expr:
        """`node` with its names resolved, and still in its place."""
        place = place_of(node)
        resolved = self._resolved(node, frame)
        if place is not None:
            resolved.meta.update(start=place[0], end=place[1] - 1)
        return resolved

    def _resolved(self, node: exp.Expr, frame: Frame) -> exp.Expr:
        if isinstance(node, exp.Column):
            return self._name(node, frame)
        if isinstance(node, exp.Dot):
            return self._part(node, frame)
        if isinstance(node, exp.Bracket):
            return self._bracket(node, frame)
        if isinstance(node, exp.Anonymous):
            return self._apply(node, frame)
        if isinstance(node, exp.CurrentDate):
            return self._clock("today")
        if isinstance(node, exp.Subquery):
            query, columns = self._query(node.this, frame)
            if len(columns) != 1:
                raise self._fail("AFS410", f"a subquery used as a value has one column, not {len(columns)}", node)
            return exp.Subquery(this=query)
        if isinstance(node, exp.Exists):
            query, _ = self._query(node.this, frame)
            return exp.Exists(this=query)
        if isinstance(node, exp.Query):
            raise self._fail("AFS405", "put a select used as a value in parentheses", node)
        if isinstance(node, exp.Tuple):
            raise self._fail("AFS405", "several values stand where one is wanted", node)
        if isinstance(node, exp.Cast) and node.to.is_type("INT"):
            node.set("to", exp.DataType.build("BIGINT"))  # what an integer is here
        if isinstance(node, exp.ToMap):
            return self._map(node, frame)
        if isinstance(node, exp.Ordered) and isinstance(node.this, exp.Literal | exp.Var):  # within an aggregate
            raise self._fail("AFS405", "order by a column or expression, not by a number", node)
        if isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count):
            raise self._fail("AFS405", "`*` cannot stand here", node)
        if isinstance(node, exp.In) and node.args.get("query") is not None:
            query, columns = self._query(node.args["query"], frame)
            if len(columns) != 1:
                raise self._fail("AFS410", f"`in` takes a select of one column, not {len(columns)}", node)
            return exp.In(this=self._expression(node.this, frame), query=exp.Subquery(this=query))
        if isinstance(node, exp.In) and len(node.expressions) == 1:  # a lookup alone there becomes a set of rows
            return exp.paren(self._expression(exp.EQ(this=node.this, expression=node.expressions[0]), frame))
        for name, child in list(node.args.items()):
            if isinstance(child, exp.Expr) and not isinstance(child, exp.Identifier | exp.DataType):
                node.set(name, self._expression(child, frame))
            elif isinstance(child, list):
                node.set(name, [self._expression(c, frame) if isinstance(c, exp.Expr) else c for c in child])
        if isinstance(node, exp.Array):
            self._check_elements(node, node.expressions)
        if isinstance(node, exp.EQ) and isinstance(node.this, exp.Column) and node.this == node.expression:
            column = node.this.name
            rows = [one.sources["row"] for one in frame.chain() if "row" in one.sources]
            hint = f"a value of the call is written `${column}`" if column in self.scope.values else None
            if node.this.table != "row" and any(column in row for row in rows):
                hint = f"that of the row that is made is `row.{column}`"
            if hint is not None:
                raise self._fail("AFS217", f"`{column}` is compared with itself", node, hint)
        return self._same(node)

    def _same(self, node: exp.Expr) -> exp.Expr:
        """A resolved operator or function as what the stages behind this one know: they know fewer forms."""
        if isinstance(node, exp.Mul):
            return self._repeated(node)
        if isinstance(node, exp.ArrayAgg):
            return without_null(node)
        if isinstance(node, exp.Filter):
            return as_one_filter(node)
        if isinstance(node, exp.ArrayAppend):
            self._check_elements(node, [node.expression])
        return node

    def _repeated(self, node: exp.Mul) -> exp.Expr:
        """`n * interval 90 minute` as `interval (n * 90) minute`; any other product as it is."""
        times, interval = node.this, node.expression
        if not isinstance(interval, exp.Interval):
            times, interval = interval, times
        if not isinstance(interval, exp.Interval):
            return node
        count = interval.this
        number = exp.Literal.number(count.name) if isinstance(count, exp.Literal) else exp.paren(count)
        if not isinstance(infer(times) or Integer(), Integer) or not isinstance(infer(number) or Integer(), Integer):
            raise self._fail("AFS301", "an interval of a whole number of units is multiplied by an integer", node)
        if number.name != "1":
            times = exp.Mul(this=exp.paren(times), expression=number)
        return exp.Interval(this=exp.paren(times), unit=interval.args["unit"])

    def _map(self, node: exp.ToMap, frame: Frame) -> exp.Expr:
        """`map {'a': 1}`, its entries in the order of their keys."""
        if isinstance(node.this, exp.Dot | exp.Bracket):  # what follows the map was read before the word `map`
            return self._expression(_map_first(node.this), frame)
        entries: dict[str, exp.Expr] = {}
        for part in node.this.expressions if isinstance(node.this, exp.Struct) else [node.this]:
            key = part.this if isinstance(part, exp.PropertyEQ) else None
            if not isinstance(key, exp.Literal) or not key.is_string:
                hint = "such as map {'a': 1}"
                raise self._fail("AFS312", "the keys of a map that is written out are texts", node, hint)
            if key.name in entries:
                raise self._fail("AFS312", f"the key '{key.name}' stands twice", key)
            part.set("expression", self._expression(part.expression, frame))
            entries[key.name] = part
        self._check_elements(node, [part.expression for part in entries.values()])
        node.this.set("expressions", [entries[name] for name in sorted(entries)])
        return node

    def _check_elements(self, node: exp.Expr, elements: list[exp.Expr]) -> None:
        """Nothing in a list or map is NULL, and there are not too many things in it."""
        what, kind = ("map", "entries") if isinstance(node, exp.ToMap) else ("list", "elements")
        if len(elements) > MAX_ELEMENTS:
            raise self._fail("AFS403", f"a {what} has at most {MAX_ELEMENTS} {kind}", node)
        for element in elements:
            if what == "list" and isinstance(known_type(element), List):
                raise self._fail("AFS305", "there are no lists of lists", node, "use a table, or records with lists")
            if may_be_null(element):
                shown = element if place_of(element) else node
                hint = "give it a value with `coalesce`" if not isinstance(element, exp.Null) else None
                raise self._fail("AFS311", f"what a {what} holds is never null, and this may be", shown, hint)

    def _column(self, alias: str, name: str, cell: Cell) -> exp.Column:
        column = exp.column(name, table=alias)
        column.meta["cell"] = cell
        return column

    def _name(self, node: exp.Column, frame: Frame) -> exp.Expr:
        parts = list(node.parts)
        if isinstance(parts[-1], exp.Star):
            raise self._fail("AFS405", "`*` cannot stand here", node)
        if is_value(parts[0]):
            return self._value(node, [part.name for part in parts], frame)
        first = parts[0].name
        for current in frame.chain():
            if len(parts) > 1 and first in current.sources:
                return self._source_column(node, current.sources[first], first, parts[1:])
            owners = [alias for alias, columns in current.sources.items() if first in columns]
            if len(owners) > 1:
                places = " and ".join(f"`{owner}.{first}`" for owner in owners)
                raise self._fail("AFS205", f"`{first}` could be {places}", node, "say which one")
            if owners:
                return self._source_column(node, current.sources[owners[0]], owners[0], parts)
            if len(parts) == 1 and first in current.outputs:
                output = exp.column(first)
                output.meta["output"] = True
                return output
        single = self.scope.tables.get(first)
        if single is not None and single.single:
            return self._single(node, single, [part.name for part in parts[1:]])
        raise self._unknown_column(node, first, frame)

    def _source_column(self, node: exp.Column, columns: Columns, alias: str, parts: list[exp.Expr]) -> exp.Expr:
        name = parts[0].name
        if name not in columns:
            hint = did_you_mean(name, columns)
            raise self._fail("AFS202", f"unknown column `{name}` of `{alias}`", node, hint, about=name)
        column: exp.Expr = self._column(alias, name, columns[name])
        cell = columns[name]
        for part in parts[1:]:
            cell = self._field(node, cell, part.name)
            column = exp.Dot(this=column, expression=exp.to_identifier(part.name))
            column.meta["cell"] = cell
        return column

    def _field(self, node: exp.Expr, cell: Cell, name: str) -> Cell:
        if not isinstance(cell.type, Record):
            raise self._fail("AFS202", f"`{name}`: {cell.type} has no fields", node)
        found = cell.type.field(name)
        if found is None:
            hint = did_you_mean(name, [f.name for f in cell.type.fields])
            raise self._fail("AFS202", f"unknown field `{name}` of {cell.type}", node, hint, about=name)
        return Cell(found.type, cell.optional or found.optional)

    def _unknown_column(self, node: exp.Expr, name: str, frame: Frame) -> Unresolved:
        names = {column for current in frame.chain() for columns in current.sources.values() for column in columns}
        hint = did_you_mean(name, names)
        if name in self.scope.values:
            hint = f"a value of the call is written `${name}`"
            return self._fail("AFS202", f"unknown column `{name}`", node, hint, about=name)
        if node.this.args.get("quoted"):
            hint = f"a text is written '{name}', in single quotes"
            return self._fail("AFS202", f'"{name}" is a name, and no column has it', node, hint)
        if not names:
            return self._fail(
                "AFS202", f"`{name}` is a column, and there are none here", node, hint, "no table is read here", name
            )
        return self._fail("AFS202", f"unknown column `{name}`", node, hint, about=name)

    def _value(self, node: exp.Column, parts: list[str], frame: Frame) -> Value:
        name = parts[0].removeprefix(MARK)
        shape = self.scope.values.get(name)
        if shape is None:
            hint = self._value_hint(name)
            if hint is None and any(name in columns for one in frame.chain() for columns in one.sources.values()):
                hint = f"nothing here has this name but a column, which is written `{name}`"
            message = f"unknown value `${name}`{self.scope.where}"
            raise self._fail("AFS203", message, node, hint, about=name)
        if isinstance(shape, Rows):
            hint = f"read it with `select ... from ${name}`"
            raise self._fail("AFS203", f"`${name}` is a set of rows", node, hint)
        rest = parts[1:]
        if isinstance(shape, Row):
            if not rest:
                example = f"${name}.{next(iter(shape.columns))}"
                raise self._fail(
                    "AFS203", f"`${name}` is a row, not a value", node, f"take a column, such as `{example}`"
                )
            if rest[0] not in shape.columns:
                close = did_you_mean(rest[0], shape.columns)
                raise self._fail("AFS202", f"unknown column `{rest[0]}` of `${name}`", node, close, about=rest[0])
            found = shape.columns[rest[0]]
            cell = Cell(found.type, found.optional or shape.optional, found.references)
            rest = rest[1:]
        else:
            cell = shape
        for part in rest:
            cell = self._field(node, cell, part)
        value = Value(this=".".join([name, *parts[1:]]))
        value.meta["cell"] = cell
        return value

    def _value_hint(self, name: str) -> str | None:
        close = did_you_mean(name, self.scope.values)
        return close.replace("`", "`$", 1) if close else None

    def _part(self, node: exp.Dot, frame: Frame) -> exp.Expr:
        """`table[key].column`, `list[1].field`, and fields of these."""
        name = node.expression.name
        whole = self._expression(node.this, frame)
        if isinstance(whole, Lookup) and not whole.args.get("field"):
            return self._looked_up(node, self.scope.tables[whole.name], whole.expressions, name)
        if "cell" not in whole.meta or not isinstance(node.expression, exp.Identifier):
            message = "a dot takes a column of a row or table, or a field of a record"
            raise self._fail("AFS405", message, node, "such as `table[key].column` and `$row.column`")
        return self._field_of(whole, name, node)

    def _field_of(self, whole: exp.Expr, name: str, node: exp.Expr) -> exp.Dot:
        part = exp.Dot(this=whole, expression=exp.to_identifier(name))
        part.meta["cell"] = self._field(node, cell_of(whole), name)
        return part

    def _bracket(self, node: exp.Bracket, frame: Frame) -> exp.Expr:
        """`table[key]`, `list[position]` and `map[key]`."""
        keys = exp.apply_index_offset(node.this, node.expressions, 1, dialect=DIALECT)
        if self._is_looked_up(node.this, frame):
            return self._lookup(node, keys, frame)
        whole = self._expression(node.this, frame)
        if isinstance(whole, Lookup) and not whole.args.get("field"):
            raise self._fail("AFS405", "a row has columns: `table[key].column`", node)
        type_ = known_type(whole)
        if not isinstance(type_, List | Map):
            what = f"this is {type_}" if type_ is not None else "the type of this is not known"
            hint = "bind it with `let` first" if type_ is None else None
            raise self._fail("AFS411", f"only lists and maps have elements, and {what}", node, hint)
        if len(keys) != 1:
            raise self._fail("AFS410", f"one {_index(type_)} is wanted, not {len(keys)}", node)
        key = self._expression(keys[0], frame)
        given, wanted = known_type(key), type_.key if isinstance(type_, Map) else Integer()
        if given is not None and not (comparable(given, wanted) and assignable(wanted, given)):
            raise self._fail("AFS301", f"the {_index(type_)} is {wanted}, not {given}", keys[0])
        element = Element(this=settled(whole, type_), expression=key)
        element.meta["cell"] = Cell(type_.of, True)
        return element

    def _is_looked_up(self, node: exp.Expr, frame: Frame) -> bool:
        """Whether this is the name of a table, and no list or map of the rows that are looked at."""
        if not isinstance(node, exp.Column) or is_value(node.parts[0]):
            return False
        path = [part.name for part in node.parts]
        if len(path) > 1:
            table = self.scope.tables.get(path[0])
            sources = [one.sources[path[0]] for one in frame.chain() if path[0] in one.sources]
            return not (sources and path[1] in sources[0]) and table is not None and not table.single
        name = node.name
        cells = [columns[name] for one in frame.chain() for columns in one.sources.values() if name in columns]
        held = any(isinstance(cell.type, List | Map) for cell in cells)
        return not held and (not cells or name in self.scope.tables)

    def _lookup(self, node: exp.Bracket, written: list[exp.Expr], frame: Frame) -> Lookup:
        assert isinstance(node.this, exp.Column)
        table = self._table(node.this)
        name = table.name
        if table.single:
            hint = f"write `{name}.{table.columns[0].name}`"
            raise self._fail("AFS410", f"`{name}` has one row and no key", node, hint)
        keys = [self._expression(key, frame) for key in written]
        if len(keys) != len(table.key):
            wanted = ", ".join(column.name for column in table.key)
            raise self._fail(
                "AFS410",
                f"`{table.title}` has the key ({wanted}): {counted(len(table.key), 'value')}, not {len(keys)}",
                node,
            )
        self.reads.add(name)
        return Lookup(this=name, expressions=keys)

    def _single(self, node: exp.Expr, table: Table, fields: list[str]) -> exp.Expr:
        """`device.airplane`: a column of the table of one row."""
        self.reads.add(table.name)
        if not fields:
            example = f"`{table.name}.{table.columns[0].name}`"
            raise self._fail(
                "AFS203", f"`{table.name}` is a row, not a value", node, f"take a column, such as {example}"
            )
        found: exp.Expr = self._looked_up(node, table, [], fields[0])
        for name in fields[1:]:
            found = self._field_of(found, name, node)
        return found

    def _looked_up(self, node: exp.Expr, table: Table, keys: list[exp.Expr], name: str) -> Lookup:
        column = table.column(name)
        if column is None:
            hint = did_you_mean(name, [c.name for c in table.columns])
            if name in table.parts:
                hint = f"`{table.title}.{name}` is a table of its own"
            raise self._fail("AFS202", f"unknown column `{name}` of `{table.title}`", node, hint, about=name)
        lookup = Lookup(this=table.name, expressions=keys, field=name)
        lookup.meta["cell"] = Cell(column.type, column.optional or not table.single, column.references)
        return lookup

    def lookup_query(self, node: Lookup) -> tuple[exp.Expr, Columns]:
        table = self.scope.tables[node.name]
        columns = dict(table.row.columns)
        items = [exp.alias_(self._column(node.name, name, cell), name) for name, cell in columns.items()]
        source = exp.Table(this=exp.to_identifier(node.name), alias=exp.TableAlias(this=exp.to_identifier(node.name)))
        conditions = [
            exp.EQ(this=self._column(node.name, column.name, column.cell), expression=key)
            for column, key in zip(table.key, node.expressions, strict=True)
        ]
        query = exp.Select(expressions=items, from_=exp.From(this=source), where=exp.Where(this=exp.and_(*conditions)))
        return query, columns

    def _apply(self, node: exp.Anonymous, frame: Frame) -> exp.Expr:
        name = node.name
        arguments = [self._expression(argument, frame) for argument in node.expressions]
        if name.lower() == "now":
            return self._clock("now")
        function = self.scope.functions.get(name)
        if function is None:
            node.set("expressions", arguments)
            return self._of_our_type(node)
        if len(arguments) != len(function.parameters):
            wanted = ", ".join(parameter.name for parameter in function.parameters)
            takes = counted(len(function.parameters), "argument")
            raise self._fail("AFS410", f"`{name}({wanted})` takes {takes}, not {len(arguments)}", node)
        self.reads.update(function.sql.reads)
        apply = Apply(this=name, expressions=arguments)
        missing = any(
            may_be_null(argument) and not parameter.optional
            for argument, parameter in zip(arguments, function.parameters, strict=True)
        )
        apply.meta["cell"] = replace(function.returns, optional=function.returns.optional or missing)
        return apply

    def _of_our_type(self, node: exp.Anonymous) -> exp.Expr:
        """A function whose result has a type that no column has, as the one that it has here."""
        name = node.name.lower()
        if name == "to_json":
            return cast(node, "VARCHAR")
        counts = name == "list_sum" and infer(node.expressions[0]) == List(Integer())
        return cast(node, "BIGINT") if counts or name in ("list_position", "cardinality") else node

    def _clock(self, which: str) -> Clock:
        clock = Clock(this=which)
        clock.meta["cell"] = Cell(Date() if which == "today" else Timestamp())
        return clock


def known_type(tree: exp.Expr) -> Type | None:
    """The type of a resolved expression; None when only DuckDB can say."""
    type_ = infer(tree)
    return None if type_ is UNKNOWN else type_


def settled(tree: exp.Expr, type_: Type) -> exp.Expr:
    """`tree`, of this type, so that DuckDB gives it no narrower one: `[1, 2]` would be of short integers."""
    declared = isinstance(tree, Value | Lookup | Element | exp.Column | exp.Dot | exp.Cast)
    return tree if declared else cast(tree, type_.sql)


def _index(type_: List | Map) -> str:
    return "key of a map" if isinstance(type_, Map) else "position in a list"


def _map_first(access: exp.Expr) -> exp.Expr:
    """`(map {'a': 1})['a']` of `map ({'a': 1}['a'])`."""
    inner = access
    while isinstance(inner.this, exp.Dot | exp.Bracket):
        inner = inner.this
    inner.set("this", exp.ToMap(this=inner.this))
    return access
