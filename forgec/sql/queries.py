"""Names inside queries: sources, joins, the select list, order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from forgec.diagnostics import Report, counted
from forgec.sql.allow import MAX_FIELDS
from forgec.sql.expressions import ExpressionResolver, known_type, settled
from forgec.sql.frames import UNKNOWN, Columns, Frame
from forgec.sql.growth import MAX_COPIES, copies
from forgec.sql.infer import common, comparable, infer, seen
from forgec.sql.nulls import may_be_null
from forgec.sql.scope import Cell, Row, Rows, Scope
from forgec.sql.tree import MARK, Fragment, Lookup, Value, cast, exp, is_value, written
from forgec_runtime.types import Integer, List, Map, Type

if TYPE_CHECKING:
    from forgec.model.spec import Table


class QueryResolver(ExpressionResolver):
    """Resolves selects: every column qualified, `*` spelled out, each source named.

    The whole fragment may be an `inner` one, which others take their rows from.
    """

    def __init__(self, fragment: Fragment, scope: Scope, report: Report, *, inner: bool = False) -> None:
        super().__init__(fragment, scope, report)
        self.inner = inner
        self.ctes: list[dict[str, Columns]] = []

    def _query(self, node: exp.Expr, outer: Frame | None) -> tuple[exp.Expr, Columns]:
        if isinstance(node, exp.Subquery):
            return self._query(node.this, outer)
        if isinstance(node, Lookup):
            return self.lookup_query(node)
        with_ = node.args.get("with_")
        self.ctes.append({})
        for cte in with_.expressions if with_ is not None else ():
            query, columns = self._query(cte.this, outer)
            if cte.alias in {**self.scope.tables, **self.scope.views, **self.ctes[-1]}:
                raise self._fail("AFS208", f"the name `{cte.alias}` is taken", _name_in(cte, cte.alias))
            self._check_alias(cte.alias, cte)
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
        return {
            name: Cell(
                UNKNOWN,
                a.optional or b.optional,
                extent=max(a.extent, b.extent),
                copies=max(a.copies, b.copies),
                seen=_seen_alike(a, b),
            )
            for (name, a), b in pairs
        }

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
            alias = node.alias or written(node.name).lstrip("$")
            columns = self._table_columns(node)
            node = self._named_source(node, alias)
        elif isinstance(node, exp.Unnest):
            alias, columns = node.alias, self._unnest(node, frame)
        elif isinstance(node, exp.Values):
            alias, columns = node.alias, self._values(node, frame)
        elif isinstance(node, exp.Subquery) and node.alias:
            query, columns = self._query(node.this, frame.outer)
            columns = self._renamed(columns, node)
            node.set("this", query)
            alias = node.alias
        else:
            message = "select from tables, `$rows`, `(select ...) as name`, `unnest(list)` or `(values ...)`"
            raise self._fail("AFS405", message, node)
        if alias in frame.sources:
            message = f"the name `{alias}` is used twice in one `from`"
            raise self._fail("AFS208", message, _name_in(node, alias))
        self._check_alias(alias, node)
        if optional:
            columns = {name: replace(cell, optional=True, domain="", claims=()) for name, cell in columns.items()}
        frame.sources[alias] = columns
        return node

    def _named_source(self, node: exp.Table, alias: str) -> exp.Expr:
        """A table under its alias; a view as the select that it stands for."""
        named = exp.TableAlias(this=exp.to_identifier(alias))
        view = self.scope.views.get(node.name)
        if view is None or is_value(node.this) or node.meta.get("cte"):
            node.set("alias", named)
            return node
        query = view.sql.expression.copy()
        for part in query.walk():  # places are those of another piece of SQL
            part.meta.pop("start", None)
        source = exp.Subquery(this=query, alias=named)
        source.meta.update(node.this.meta, view=view.name)
        return source

    def _unnest(self, node: exp.Unnest, frame: Frame) -> Columns:
        """`unnest(xs, ys) with ordinality as p(x, y, pos)`: it sees the columns of the sources before it."""
        given = node.args.get("alias")
        names = [name.name for name in given.columns] if isinstance(given, exp.TableAlias) else []
        offset = node.args.get("offset")
        names.extend([offset.name] if isinstance(offset, exp.Identifier) else [])
        wanted = len(node.expressions) + bool(offset)
        if not node.alias or len(names) != wanted:
            example = "unnest(xs) with ordinality as p(x, pos)" if offset else "unnest(xs) as p(x)"
            raise self._fail(
                "AFS411", f"what is unnested has {counted(wanted, 'column')} to name", node, f"such as `{example}`"
            )
        if len(set(names)) < len(names):
            raise self._fail("AFS208", "two columns have the same name here", node)
        lists: list[exp.Expr] = []
        columns: Columns = {}
        for name, part in zip(names, node.expressions, strict=False):
            self._check_alias(name, node)
            tree = self._expression(part, frame)
            type_ = known_type(tree)
            if not isinstance(type_, List):
                hint = "bind it with `let` first" if type_ is None else None
                what = f"this is {type_}" if type_ is not None else "the type of this is not known"
                raise self._fail("AFS411", f"only a list is unnested, and {what}", part, hint)
            lists.append(settled(tree, type_))
            optional = len(node.expressions) > 1  # short lists are padded
            columns[name] = Cell(type_.of, optional, copies=self._copies(tree, node))
        if offset:
            columns[names[-1]] = Cell(Integer())
        node.set("expressions", lists)
        node.set(
            "alias", exp.TableAlias(this=exp.to_identifier(node.alias), columns=[exp.to_identifier(n) for n in names])
        )
        node.set("offset", bool(offset))
        return columns

    def _values(self, node: exp.Values, frame: Frame) -> Columns:
        """`(values ('a', 1), ('b', 2)) as fees(kind, fee)`."""
        given = node.args.get("alias")
        names = [name.name for name in given.columns] if isinstance(given, exp.TableAlias) else []
        rows = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in node.expressions]
        if not node.alias or not names:
            raise self._fail(
                "AFS411", "the columns of `values` have names", node, "(values ('a', 1)) as fees(kind, fee)"
            )
        if len(set(names)) < len(names):
            raise self._fail("AFS208", "two columns have the same name here", node)
        for row in rows:
            if len(row) != len(names):
                raise self._fail("AFS410", f"{counted(len(names), 'name')} but {counted(len(row), 'value')}", node)
        outer = Frame(outer=frame.outer)
        resolved = [[self._expression(part, outer) for part in row] for row in rows]
        columns: Columns = {}
        for name, *parts in zip(names, *resolved, strict=True):
            self._check_alias(name, node)
            type_ = common(parts)
            joined = max(self._copies(part, node) for part in parts)
            columns[name] = Cell(type_ or UNKNOWN, any(map(may_be_null, parts)), copies=joined)
            if isinstance(type_, Integer):
                parts[0].replace(cast(parts[0].copy(), type_.sql))  # else they would be short ones
        return columns

    def _check_alias(self, alias: str, node: exp.Expr) -> None:
        if alias in ("call", "q") or alias.startswith("_") or "__" in alias or MARK in alias or not alias.isascii():
            raise self._fail("AFS209", f"`{written(alias)}` cannot be a name here", _name_in(node, alias))

    def _table_columns(self, node: exp.Table) -> Columns:
        if is_value(node.this):
            name = written(node.name)[1:]
            shape = self.scope.values.get(name)
            if not isinstance(shape, Rows):
                hint = self._value_hint(name) if shape is None else None
                if isinstance(shape, Row):
                    hint = f"it is one row, of which `${name}.{next(iter(shape.columns))}` is a column"
                message = f"`${name}` is not a set of rows"
                if shape is None:
                    message = f"unknown value `${name}`{self.scope.where}"
                raise self._fail("AFS203", message, node, hint, about=name)
            node.meta["rows"] = name
            node.meta["shape"] = shape
            return dict(shape.columns)
        for ctes in reversed(self.ctes):
            if node.name in ctes and not node.db:
                node.meta["cte"] = True
                return dict(ctes[node.name])
        view = self.scope.views.get(node.name) if not node.db else None
        if view is not None:
            self.reads.update(view.sql.reads)
            return dict(view.columns)
        table = self._named_table(node)
        self.reads.add(table.name)
        return dict(table.row.columns)

    def _named_table(self, node: exp.Table) -> Table:
        """The table that a source or a write names; the node then has the name that it has in DuckDB."""
        table = self._table(node)
        name = exp.to_identifier(table.name)
        name.meta.update(node.parts[-1].meta)
        for part in ("this", "db", "catalog"):
            node.set(part, name if part == "this" else None)
        return table

    def _renamed(self, columns: Columns, node: exp.Expr) -> Columns:
        alias = node.args.get("alias")
        names = [part.name for part in alias.columns] if isinstance(alias, exp.TableAlias) else []
        if not names:
            return columns
        if len(names) != len(columns):
            raise self._fail("AFS410", f"{counted(len(columns), 'column')} but {counted(len(names), 'name')}", node)
        for name in names:
            self._check_alias(name, node)
        return dict(zip(names, columns.values(), strict=True))

    def _join(self, join: exp.Join, frame: Frame) -> None:
        left = str(join.args.get("side") or "").upper() == "LEFT"
        before = dict(frame.sources)
        join.set("this", self._source(join.this, frame, optional=left))
        if join.args.get("on") is not None:
            join.set("on", self._expression(join.args["on"], frame))
            free = isinstance(join.this, exp.Unnest) and join.args["on"] == exp.true()  # as many as its lists have
            if not free and all(column.table != join.this.alias for column in join.args["on"].find_all(exp.Column)):
                message = f"this join says nothing about `{join.this.alias}`: every row meets every other"
                raise self._fail("AFS406", message, join.this)
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
        extent = _extent(expression)
        if extent > MAX_FIELDS:
            raise self._fail("AFS403", f"a record of this holds more than {MAX_FIELDS:,} fields", item)
        joined = self._copies(expression, item)
        known: Cell | None = expression.meta.get("cell")
        if known is None:
            optional, seen_as = may_be_null(expression), seen(expression)
            known = Cell(_held(expression), optional, extent=extent, copies=joined, seen=seen_as)
        yield name, expression, known if joined <= known.copies else replace(known, copies=joined)

    def _copies(self, tree: exp.Expr, node: exp.Expr) -> int:
        """Of how many texts or lists a value is joined, at least itself; it is an error if they are too many."""
        joined = max(copies(tree, self.scope.functions), 1)
        if joined > MAX_COPIES:
            raise self._fail("AFS403", f"a text or list of this is joined of more than {MAX_COPIES} others", node)
        return joined

    def _natural_name(self, node: exp.Expr, resolved: exp.Expr) -> str:
        if isinstance(resolved, Value):
            return str(resolved.name.rpartition(".")[2])
        if isinstance(resolved, Lookup):
            return str(resolved.args.get("field") or "")
        return node.name if isinstance(node, exp.Column | exp.Dot) else ""

    def _order(self, node: exp.Expr, frame: Frame) -> None:
        order = node.args.get("order")
        for ordered in order.expressions if order is not None else ():
            if isinstance(ordered.this, exp.Literal | exp.Var):
                raise self._fail("AFS405", "order by a column or expression, not by a number", ordered)
            ordered.set("this", self._named(ordered.this, frame))
        if node.args.get("limit") is not None:
            node.meta["ordered"] = order is not None
        if node.args.get("limit") is not None and (self.inner or node is not self.fragment.tree):
            self._break_ties(node, frame)

    def _break_ties(self, node: exp.Expr, frame: Frame) -> None:
        """A limit inside a query takes the same rows wherever they lie: those with the least columns, from the left.

        Whole queries are ordered so where they are run.
        """
        order = node.args.get("order")
        terms = list(order.expressions) if order is not None else []
        for name in frame.outputs:
            terms.append(exp.Ordered(this=self._named(exp.column(name), frame), nulls_first=False))
        node.set("order", exp.Order(expressions=terms))

    def _named(self, node: exp.Expr, frame: Frame) -> exp.Expr:
        """An `order by` or `group by` term: a name of the select list comes before a column."""
        if isinstance(node, exp.Column) and not node.table and not is_value(node.this) and node.name in frame.outputs:
            output = exp.column(node.name)
            output.meta["output"] = True
            return output
        return self._expression(node, frame)


def _extent(tree: exp.Expr) -> int:
    """How many fields a record that is made holds at least: records of records of records may double each time."""
    cell: Cell | None = tree.meta.get("cell")
    if cell is not None:
        return cell.extent
    parts = [_extent(part) for part in tree.iter_expressions()]
    return 1 + sum(parts) if isinstance(tree, exp.Struct) else max(parts, default=1)


def _seen_alike(left: Cell, right: Cell) -> Type | None:
    """What a column of two queries is compared as."""
    types = [cell.seen if cell.type is UNKNOWN else cell.type for cell in (left, right)]
    return types[0] if None not in types and comparable(*types) else None


def _held(tree: exp.Expr) -> Type:
    """The type of what a query computes, where it is a list or map: else only DuckDB can say."""
    type_ = infer(tree)
    return type_ if isinstance(type_, List | Map) else UNKNOWN


def _name_in(node: exp.Expr, alias: str) -> exp.Expr:
    """Where a source or item gets its name, rather than the whole of it."""
    names = (part for part in node.find_all(exp.Identifier) if part.name == alias and "start" in part.meta)
    return next(names, node)
