"""Names inside SQL: tables, columns, values and functions, each found or reported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from forgec.diagnostics import Label, Report, counted, did_you_mean
from forgec.sql.query import Change, Delete, Insert, Update
from forgec.sql.scope import Cell, Row, Rows, Scope
from forgec.sql.tree import DIALECT, MARK, Apply, Clock, Fragment, Lookup, Value, exp, is_value, place_of, written
from forgec_runtime.types import Date, Record, Text, Timestamp, Type

Columns = dict[str, Cell]
UNKNOWN: Type = Text()
"""The type of a derived column: only DuckDB knows it, and only DuckDB computes with it."""


class Unresolved(Exception):
    """Raised inside once a name was reported; the fragment is given up."""


@dataclass
class Frame:
    """The sources of one `select`; `outer` is the query around it."""

    sources: dict[str, Columns] = field(default_factory=dict)
    outputs: dict[str, Cell] = field(default_factory=dict)
    outer: Frame | None = None

    def chain(self) -> Iterator[Frame]:
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.outer


class Resolver:
    """Resolves one fragment. `reads` collects the tables that it reads, also through functions."""

    def __init__(self, fragment: Fragment, scope: Scope, report: Report) -> None:
        self.fragment = fragment
        self.scope = scope
        self.report = report
        self.reads: set[str] = set()
        self.ctes: list[dict[str, Columns]] = []

    # -- entry points ------------------------------------------------------------------------------------------

    def expression(self, frame: Frame | None = None) -> exp.Expr:
        return self._expression(self.fragment.tree, frame or Frame())

    def constant(self, part: exp.Expr) -> exp.Expr:
        """One part of the fragment, which may look at nothing."""
        tree = self._expression(part, Frame())
        if self.reads or isinstance(tree, Value):
            raise self._fail("AFS703", "only constants may stand here", part)
        return tree

    def query(self) -> tuple[exp.Expr, Columns]:
        return self._query(self.fragment.tree, None)

    def change(self) -> Change:
        tree = self.fragment.tree
        if isinstance(tree, exp.Insert):
            return self._insert(tree)
        if isinstance(tree, exp.Update):
            return self._update(tree)
        assert isinstance(tree, exp.Delete)
        return self._delete(tree)

    # -- errors ------------------------------------------------------------------------------------------------

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

    # -- writes ------------------------------------------------------------------------------------------------

    def _target(self, node: exp.Expr) -> tuple[str, str]:
        if not isinstance(node, exp.Table):
            raise self._fail("AFS405", "a write names one table", node)
        if node.name not in self.scope.tables:
            raise self._unknown_table(node)
        return node.name, node.alias or node.name

    def _insert(self, tree: exp.Insert) -> Insert:
        schema = tree.this
        if not isinstance(schema, exp.Schema):
            raise self._fail("AFS407", "an insert names its columns", tree, "insert into t (a, b) values (1, 2)")
        name, _ = self._target(schema.this)
        table = self.scope.tables[name]
        columns: list[str] = []
        for identifier in schema.expressions:
            column = table.column(identifier.name)
            if column is None:
                known = [c.name for c in table.columns]
                hint = did_you_mean(identifier.name, known)
                message = f"unknown column `{identifier.name}` of `{name}`"
                raise self._fail("AFS202", message, identifier, hint, about=identifier.name)
            if identifier.name in columns:
                raise self._fail("AFS208", f"column `{identifier.name}` is set twice", identifier)
            if column.serial:
                raise self._fail("AFS408", f"`{column.name}` is made by the engine and cannot be set", identifier)
            columns.append(identifier.name)
        for column in table.columns:
            if column.name not in columns and not (column.optional or column.serial or column.default):
                raise self._fail("AFS409", f"an insert into `{name}` must set `{column.name}`", schema)
        self._check_returning(tree)
        return self._insert_rows(tree, name, tuple(columns))

    def _insert_rows(self, tree: exp.Insert, name: str, columns: tuple[str, ...]) -> Insert:
        returning = tree.args.get("returning") is not None
        body = tree.expression
        if isinstance(body, exp.Values):
            rows = tuple(tuple(self._expression(part, Frame()) for part in row.expressions) for row in body.expressions)
            for row in rows:
                if len(row) != len(columns):
                    raise self._fail(
                        "AFS410", f"{counted(len(columns), 'column')} but {counted(len(row), 'value')}", tree
                    )
            if returning and len(rows) != 1:
                raise self._fail("AFS407", "`returning *` is for one row", tree)
            return Insert(name, columns, rows, None, returning)
        if returning or not isinstance(body, exp.Query):
            raise self._fail("AFS407", "an insert takes `values (...)` or a select without `returning`", tree)
        query, found = self._query(body, None)
        if len(found) != len(columns):
            raise self._fail("AFS410", f"{counted(len(columns), 'column')} but {counted(len(found), 'value')}", tree)
        assert isinstance(query, exp.Query)
        return Insert(name, columns, (), query, False)

    def _check_returning(self, tree: exp.Expr) -> None:
        returning = tree.args.get("returning")
        if returning is not None and [type(part) for part in returning.expressions] != [exp.Star]:
            raise self._fail("AFS407", "only `returning *` is known", returning)

    def _update(self, tree: exp.Update) -> Update:
        name, alias = self._target(tree.this)
        table = self.scope.tables[name]
        if tree.args.get("returning") is not None:
            raise self._fail("AFS407", "`returning` is for inserts; read the row with `table[key]`", tree)
        frame = self._write_frame(tree, name, alias)
        assignments: dict[str, exp.Expr] = {}
        for part in tree.expressions:
            target = part.this if isinstance(part, exp.EQ) else None
            column = table.column(target.name) if isinstance(target, exp.Column) else None
            if target is None or column is None:
                known = [c.name for c in table.columns]
                shown = target if target is not None else part
                hint = did_you_mean(shown.name, known)
                raise self._fail("AFS202", f"unknown column `{shown.name}` of `{name}`", shown, hint, about=shown.name)
            if column.key:
                raise self._fail("AFS408", f"`{column.name}` is a key and keys do not change", target)
            if column.name in assignments:
                raise self._fail("AFS208", f"column `{column.name}` is set twice", target)
            assignments[column.name] = self._expression(part.expression, frame)
        where = self._expression(tree.args["where"].this, frame)
        return Update(name, alias, tuple(assignments.items()), where)

    def _delete(self, tree: exp.Delete) -> Delete:
        name, alias = self._target(tree.this)
        frame = self._write_frame(tree, name, alias)
        return Delete(name, alias, self._expression(tree.args["where"].this, frame))

    def _write_frame(self, tree: exp.Expr, name: str, alias: str) -> Frame:
        if tree.args.get("where") is None:
            hint = "all of them are `where true`"
            raise self._fail("AFS407", f"say which rows of `{name}` with `where`", tree, hint)
        self.reads.add(name)
        return Frame({alias: dict(self.scope.tables[name].row.columns)})

    # -- queries -----------------------------------------------------------------------------------------------

    def _query(self, node: exp.Expr, outer: Frame | None) -> tuple[exp.Expr, Columns]:
        if isinstance(node, exp.Subquery):
            return self._query(node.this, outer)
        if isinstance(node, Lookup):
            return self.lookup_query(node)
        with_ = node.args.get("with_")
        self.ctes.append({})
        for cte in with_.expressions if with_ is not None else ():
            query, columns = self._query(cte.this, outer)
            if cte.alias in self.scope.tables or cte.alias in self.ctes[-1]:
                raise self._fail("AFS208", f"the name `{cte.alias}` is taken", cte)
            cte.set("this", query)
            self.ctes[-1][cte.alias] = self._renamed(columns, cte)
        try:
            if isinstance(node, exp.Select):
                return node, self._select(node, outer)
            if isinstance(node, exp.SetOperation):
                return node, self._set_operation(node, outer)
        finally:
            self.ctes.pop()
        raise self._fail("AFS405", "a select is expected here", node)

    def _set_operation(self, node: exp.SetOperation, outer: Frame | None) -> Columns:
        left, columns = self._query(node.this, outer)
        right, others = self._query(node.expression, outer)
        if len(columns) != len(others):
            raise self._fail("AFS410", f"the sides have {len(columns)} and {len(others)} columns", node)
        node.set("this", left)
        node.set("expression", right)
        frame = Frame({}, columns, outer)
        self._order(node, frame)
        pairs = zip(columns.items(), others.values(), strict=True)
        return {name: Cell(UNKNOWN, a.optional or b.optional) for (name, a), b in pairs}

    def _select(self, node: exp.Select, outer: Frame | None) -> Columns:
        frame = Frame(outer=outer)
        from_ = node.args.get("from_")
        if from_ is not None:
            from_.set("this", self._source(from_.this, frame))
        for join in node.args.get("joins") or ():
            self._join(join, frame)
        where = node.args.get("where")
        if where is not None:
            where.set("this", self._expression(where.this, frame))
        columns = self._outputs(node, frame)
        frame.outputs = columns
        group = node.args.get("group")
        if group is not None:
            group.set("expressions", [self._named(part, frame) for part in group.expressions])
        having = node.args.get("having")
        if having is not None:
            having.set("this", self._expression(having.this, frame))
        self._order(node, frame)
        return columns

    def _source(self, node: exp.Expr, frame: Frame, optional: bool = False) -> exp.Expr:
        if isinstance(node, exp.Table):
            columns = self._table_columns(node)
            alias = node.alias or written(node.name).lstrip("$")
            node.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
        elif isinstance(node, exp.Subquery) and node.alias:
            query, columns = self._query(node.this, frame.outer)
            columns = self._renamed(columns, node)
            node.set("this", query)
            alias = node.alias
        else:
            raise self._fail("AFS405", "select from tables, `$rows` or `(select ...) as name`", node)
        if alias in frame.sources:
            raise self._fail("AFS208", f"the name `{alias}` is used twice in one `from`", node)
        self._check_alias(alias, node)
        if optional:
            columns = {name: Cell(cell.type, True, cell.references) for name, cell in columns.items()}
        frame.sources[alias] = columns
        return node

    def _check_alias(self, alias: str, node: exp.Expr) -> None:
        if alias in ("call", "q") or alias.startswith("_") or MARK in alias or not alias.isascii():
            raise self._fail("AFS209", f"`{written(alias)}` cannot be a name here", node)

    def _table_columns(self, node: exp.Table) -> Columns:
        if is_value(node.this):
            name = written(node.name)[1:]
            shape = self.scope.values.get(name)
            if not isinstance(shape, Rows):
                message = f"`${name}` is not a set of rows" if shape is not None else f"unknown value `${name}`"
                raise self._fail("AFS203", message, node, self._value_hint(name) if shape is None else None, about=name)
            node.meta["rows"] = name
            node.meta["shape"] = shape
            return dict(shape.columns)
        for ctes in reversed(self.ctes):
            if node.name in ctes:
                node.meta["cte"] = True
                return dict(ctes[node.name])
        if node.name not in self.scope.tables:
            raise self._unknown_table(node)
        self.reads.add(node.name)
        return dict(self.scope.tables[node.name].row.columns)

    def _unknown_table(self, node: exp.Expr) -> Unresolved:
        name = node.name
        hint = did_you_mean(name, self.scope.tables)
        if name in self.scope.values:
            hint = f"a value of the call is written `${name}`"
        similar = self.scope.tables.get((hint or "").removeprefix("did you mean `").removesuffix("`?"))
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

    def _renamed(self, columns: Columns, node: exp.Expr) -> Columns:
        alias = node.args.get("alias")
        names = [part.name for part in alias.columns] if isinstance(alias, exp.TableAlias) else []
        if not names:
            return columns
        if len(names) != len(columns):
            raise self._fail("AFS410", f"{counted(len(columns), 'column')} but {counted(len(names), 'name')}", node)
        return dict(zip(names, columns.values(), strict=True))

    def _join(self, join: exp.Join, frame: Frame) -> None:
        left = str(join.args.get("side") or "").upper() == "LEFT"
        before = dict(frame.sources)
        join.set("this", self._source(join.this, frame, optional=left))
        if join.args.get("on") is not None:
            join.set("on", self._expression(join.args["on"], frame))
        for column in join.args.get("using") or ():
            for columns in ([c for c in before.values() if column.name in c], [frame.sources[join.this.alias]]):
                if len(columns) != 1 or column.name not in columns[0]:
                    raise self._fail("AFS202", f"`{column.name}` is not a column of both sides", column)
        if join.args.get("using"):
            self._using_to_on(join, before)

    def _using_to_on(self, join: exp.Join, before: Mapping[str, Columns]) -> None:
        """`using (a)` as `on`: each column keeps one owner and one name."""
        conditions = []
        for column in join.args["using"]:
            owner = next(alias for alias, columns in before.items() if column.name in columns)
            right = exp.column(column.name, table=join.this.alias)
            conditions.append(exp.EQ(this=exp.column(column.name, table=owner), expression=right))
        join.set("using", None)
        join.set("on", exp.and_(*conditions))

    def _outputs(self, node: exp.Select, frame: Frame) -> Columns:
        columns: Columns = {}
        items: list[exp.Expr] = []
        for position, item in enumerate(node.expressions):
            for name, expression, cell in self._items(item, frame, position):
                if name in columns:
                    hint = "name it with `as`"
                    raise self._fail("AFS208", f"two columns of this select are called `{name}`", item, hint)
                columns[name] = cell
                items.append(exp.Alias(this=expression, alias=exp.to_identifier(name)))
        node.set("expressions", items)
        distinct = node.args.get("distinct")
        if distinct is not None and distinct.expressions:
            raise self._fail("AFS405", "`distinct` takes no columns of its own here", node)
        return columns

    def _items(self, item: exp.Expr, frame: Frame, position: int) -> Iterable[tuple[str, exp.Expr, Cell]]:
        if isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star)):
            wanted = item.text("table")
            if not frame.sources or (wanted and wanted not in frame.sources):
                raise self._fail("AFS201", f"nothing called `{wanted or '*'}` to take all columns of", item)
            for alias, columns in frame.sources.items():
                for name, cell in columns.items() if wanted in ("", alias) else ():
                    yield name, self._column(alias, name, cell), cell
            return
        alias = item.alias if isinstance(item, exp.Alias) else ""
        inner = item.this if isinstance(item, exp.Alias) else item
        expression = self._expression(inner, frame)
        name = alias or self._natural_name(inner, expression) or f"column{position + 1}"
        if alias:
            self._check_alias(alias, item)
        cell = expression.meta.get("cell") or Cell(UNKNOWN, may_be_null(expression))
        yield name, expression, cell

    def _natural_name(self, node: exp.Expr, resolved: exp.Expr) -> str:
        if isinstance(resolved, Value):
            return str(resolved.name.rpartition(".")[2])
        if isinstance(resolved, Lookup):
            return str(resolved.args.get("field") or "")
        return node.name if isinstance(node, exp.Column | exp.Dot) else ""

    def _order(self, node: exp.Expr, frame: Frame) -> None:
        order = node.args.get("order")
        if order is None:
            return
        for ordered in order.expressions:
            if isinstance(ordered.this, exp.Literal):
                raise self._fail("AFS405", "order by a column or expression, not by a number", ordered)
            ordered.set("this", self._named(ordered.this, frame))

    def _named(self, node: exp.Expr, frame: Frame) -> exp.Expr:
        """An `order by` or `group by` term: a name of the select list comes before a column."""
        if isinstance(node, exp.Column) and not node.table and not is_value(node.this) and node.name in frame.outputs:
            output = exp.column(node.name)
            output.meta["output"] = True
            return output
        return self._expression(node, frame)

    # -- expressions -------------------------------------------------------------------------------------------

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
        if isinstance(node, exp.Dot | exp.Bracket):
            return self._lookup(node, frame)
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
        return node

    def _column(self, alias: str, name: str, cell: Cell) -> exp.Column:
        column = exp.column(name, table=alias)
        column.meta["cell"] = cell
        return column

    def _name(self, node: exp.Column, frame: Frame) -> exp.Expr:
        parts = list(node.parts)
        if isinstance(parts[-1], exp.Star):
            raise self._fail("AFS405", "`*` cannot stand here", node)
        if is_value(parts[0]):
            return self._value(node, [part.name for part in parts])
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
        if name in self.scope.values:
            return self._fail("AFS202", f"unknown column `{name}`", node, f"a value of the call is written `${name}`")
        hint = did_you_mean(name, names)
        if node.this.args.get("quoted"):
            hint = f"a text is written '{name}', in single quotes"
            return self._fail("AFS202", f'"{name}" is a name, and no column has it', node, hint)
        if not names:
            return self._fail(
                "AFS202", f"`{name}` is a column, and there are none here", node, hint, "no table is read here", name
            )
        return self._fail("AFS202", f"unknown column `{name}`", node, hint, about=name)

    def _value(self, node: exp.Column, parts: list[str]) -> Value:
        name = parts[0].removeprefix(MARK)
        shape = self.scope.values.get(name)
        if shape is None:
            raise self._fail("AFS203", f"unknown value `${name}`", node, self._value_hint(name), about=name)
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

    def _lookup(self, node: exp.Expr, frame: Frame) -> exp.Expr:
        """`table[key]` and `table[key].column`."""
        fields: list[str] = []
        bracket = node
        while isinstance(bracket, exp.Dot):
            fields.insert(0, bracket.expression.name)
            bracket = bracket.this
        if not isinstance(bracket, exp.Bracket) or not isinstance(bracket.this, exp.Column):
            raise self._fail("AFS405", "only `table[key].column` and `$row.column` take a dot", node)
        name = bracket.this.name
        if name not in self.scope.tables or bracket.this.table:
            raise self._unknown_table(bracket.this)
        table = self.scope.tables[name]
        written_keys = exp.apply_index_offset(bracket.this, bracket.expressions, 1, dialect=DIALECT)
        keys = [self._expression(key, frame) for key in written_keys]
        if len(keys) != len(table.key):
            wanted = ", ".join(column.name for column in table.key)
            raise self._fail(
                "AFS410",
                f"`{name}` has the key ({wanted}): {counted(len(table.key), 'value')}, not {len(keys)}",
                bracket,
            )
        self.reads.add(name)
        if not fields:
            return Lookup(this=name, expressions=keys)
        column = table.column(fields[0])
        if column is None:
            hint = did_you_mean(fields[0], [c.name for c in table.columns])
            raise self._fail("AFS202", f"unknown column `{fields[0]}` of `{name}`", node, hint, about=fields[0])
        if len(fields) > 1:
            hint = f"let row = {name}[...]; then `$row.{'.'.join(fields)}`"
            raise self._fail("AFS405", f"only a column can be read from `{name}[...]`", node, hint)
        lookup = Lookup(this=name, expressions=keys, field=fields[0])
        lookup.meta["cell"] = Cell(column.type, True, column.references)
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
            return node
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

    def _clock(self, which: str) -> Clock:
        clock = Clock(this=which)
        clock.meta["cell"] = Cell(Date() if which == "today" else Timestamp())
        return clock


_NULL_FREE = (
    exp.Literal, exp.Boolean, exp.Count, exp.CountIf, exp.Exists, exp.Is, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Struct,
)  # fmt: skip
_NULL_IF_ANY = (
    exp.Paren, exp.Not, exp.Neg, exp.Lower, exp.Upper, exp.Length, exp.Trim, exp.Interval, exp.Cast, exp.Abs,
    exp.And, exp.Or, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Add, exp.Sub, exp.Mul, exp.DPipe,
    exp.Like, exp.ILike, exp.Between, exp.DateDiff, exp.Year, exp.Month, exp.Day, exp.Contains, exp.StartsWith,
    exp.EndsWith,
)  # fmt: skip


def may_be_null(node: exp.Expr) -> bool:
    """Whether the value of a resolved expression can be NULL; when in doubt, it can."""
    cell = node.meta.get("cell")
    if cell is not None:
        return bool(cell.optional)
    if isinstance(node, _NULL_FREE):
        return False
    if isinstance(node, exp.Coalesce | exp.Greatest | exp.Least):
        return all(may_be_null(part) for part in [node.this, *node.expressions])
    if isinstance(node, _NULL_IF_ANY):
        return any(
            may_be_null(part) for part in node.iter_expressions() if not isinstance(part, exp.Var | exp.DataType)
        )
    if isinstance(node, exp.In) and node.args.get("query") is None:
        return any(may_be_null(part) for part in [node.this, *node.expressions])
    if isinstance(node, exp.Case) and node.args.get("default") is not None:
        return any(may_be_null(part) for part in [*(b.args["true"] for b in node.args["ifs"]), node.args["default"]])
    if isinstance(node, exp.Subquery):
        return not _always_counts(node.this)
    return True


def _always_counts(query: exp.Expr) -> bool:
    """Whether a query is one count over whatever there is: the only scalar subquery that surely has a value."""
    clauses = ("group", "having", "limit", "distinct")
    if not isinstance(query, exp.Select) or any(query.args.get(clause) for clause in clauses):
        return False
    return len(query.selects) == 1 and isinstance(query.selects[0].this, exp.Count | exp.CountIf)
