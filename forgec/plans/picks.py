"""Searches that need no query: the rows of one table with a value in a column come from an index of the runtime."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from forgec.plans import python as py
from forgec.plans.index import Computation, IndexPlan, constant_name, is_total
from forgec.plans.keyed import Equality, column_of, conjuncts, equalities, plain_source
from forgec.plans.lowered import Lowered, NoTwin
from forgec.plans.names import free
from forgec.sql.aggregates import operands
from forgec.sql.check import row_values
from forgec.sql.emit import typed_null
from forgec.sql.infer import infer
from forgec.sql.nulls import may_be_null
from forgec.sql.tree import Apply, Lookup, Value, exp
from forgec_runtime.types import Boolean, Date, Decimal, Enum, Integer, List, Text, Timestamp, Type

if TYPE_CHECKING:
    from forgec.model.spec import Table
    from forgec.plans.expression import Lowering

T = TypeVar("T")

_PLAIN = (Text, Enum, Integer, Decimal, Boolean, Date, Timestamp)
"""Not doubles, of which two are zero, nor records, which are no keys of a dictionary."""


@dataclass(frozen=True)
class Pick:
    """What an index finds, and what must hold of each row; `row` names the row that is looked at.

    All rows that are found have the same in the columns `same`.
    """

    table: Table
    alias: str
    row: str
    found: ast.expr
    tests: list[ast.expr]
    same: frozenset[str]

    def each(self, value: ast.expr | None) -> ast.expr:
        """`[value for row in found if tests]`, the rows themselves without `value`."""
        if value is None and not self.tests:
            return self.found
        return ast.ListComp(value or py.name(self.row), [py.loop(self.row, self.found, self.tests)])

    def any(self) -> ast.expr:
        """Whether there is such a row."""
        if not self.tests:
            return py.call("bool", self.found)
        return py.over("any", ast.GeneratorExp(py.conjunction(self.tests), [py.loop(self.row, self.found)]))

    def count(self) -> ast.expr:
        """How many such rows there are."""
        if not self.tests:
            return py.call("len", self.found)
        return py.over("sum", ast.GeneratorExp(ast.Constant(1), [py.loop(self.row, self.found, self.tests)]))

    def deciding(self, columns: list[str]) -> list[str]:
        """Those of some columns, `-` before them where they descend, that say an order of the rows."""
        keys = {column.name for column in self.table.key} - self.same
        found: list[str] = []
        for signed in columns:
            name = signed.removeprefix("-")
            if keys and name not in self.same and signed not in found:
                found.append(signed)
                keys.discard(name)
        return found


def pick(low: Lowering, table: Table, alias: str, where: exp.Expr | None) -> Pick:
    """The rows of a table for which a condition holds. Raises `NoTwin` where that takes a query."""
    known = [(_spread(found.named, table, alias), found) for found in equalities(where, alias)]
    spread, best = min(known, key=lambda one: one[0], default=(2, None))
    if best is None or spread > 1:
        raise NoTwin("no column has one value")
    row = f"{table.name}_row"
    used = [one for its, one in known if its == spread == 1]
    searched = low.attempt(lambda: _by_all(low, table, alias, used)) if len(used) > 1 else None
    if searched is None:
        used, searched = [best], _by_one(low, table, alias, best)
    found = py.call("call.where", py.name(table.name.upper()), *searched)
    rest = [_alone(part) for part in conjuncts(where) if not any(part is one.part for one in used)]
    tests = on_row(low, table.name, row, lambda: low.row_conditions(rest, alias))
    columns = (column_of(one.named, table, alias) for _, one in known)
    return Pick(table, alias, row, found, tests, frozenset(column.name for column in columns if column is not None))


def _by_one(low: Lowering, table: Table, alias: str, equality: Equality) -> tuple[ast.expr, ast.expr]:
    """What an index finds rows by, a column or the constant of an expression, and the value it is to have."""
    wanted = low.value(equality.value)
    column = column_of(equality.named, table, alias)
    if column is None:
        text, made = _computed(low, table, alias, equality.named, wanted)
        return _constant(low, table, text, made.type, made.node), wanted.node
    if wanted.type.sql != column.type.sql:
        raise NoTwin(f"{column.name} is {column.type}, not {wanted.type}")
    low.indexes.append(IndexPlan(table.name, column.name))
    return ast.Constant(column.name), wanted.node


def _by_all(low: Lowering, table: Table, alias: str, equalities: list[Equality]) -> tuple[ast.expr, ast.expr]:
    """The same for several values at once. Raises `NoTwin` where one of them could fail: it might not be needed."""
    if not all(is_total(equality.value, Value) for equality in equalities):
        raise NoTwin("a value is computed")
    wanted = [low.value(equality.value) for equality in equalities]
    parts = [
        _computed(low, table, alias, equality.named, value) for equality, value in zip(equalities, wanted, strict=True)
    ]
    texts, types = tuple(text for text, _ in parts), tuple(made.type for _, made in parts)
    row = ast.Tuple([made.node for _, made in parts], ast.Load())
    return _constant(low, table, texts, types, row), ast.Tuple([value.node for value in wanted], ast.Load())


def _computed(low: Lowering, table: Table, alias: str, named: exp.Expr, wanted: Lowered) -> tuple[str, Lowered]:
    """An expression over a row: its SQL, and its Python of `row`. Raises `NoTwin`."""
    made = on_row(low, table.name, "row", lambda: low.value(row_values(_alone(named), alias)))
    if made.type.sql != wanted.type.sql:
        raise NoTwin(f"{made.type} is compared with {wanted.type} by DuckDB")
    bare = named.copy()
    for column in bare.find_all(exp.Column):
        column.set("table", None)
    return low.checker.emitter.text(bare, typed_null), made


def _constant(
    low: Lowering, table: Table, of: str | tuple[str, ...], type_: Type | tuple[Type, ...], value: ast.expr
) -> ast.expr:
    """The constant that holds an index by expressions over the row."""
    known = next((i for i in low.indexes if (i.table, i.of) == (table.name, of) and i.computation), None)
    if known is None or known.computation is None:
        name = free(constant_name(table.name, of), low.constants())
        known = IndexPlan(table.name, of, Computation(name, type_, value))
    assert known.computation is not None
    low.indexes.append(known)
    return py.name(known.computation.constant)


def on_row(low: Lowering, table: str, row: str, plan: Callable[[], T]) -> T:
    """What Python computes for every row that is looked at; nothing of it may ask or look anything up."""
    if "row" in low.values:
        raise NoTwin("rows are looked at for each row")
    made = len(low.queries), len(low.indexes)
    with low.row_of(table, row):
        planned = plan()
    if made != (len(low.queries), len(low.indexes)):
        raise NoTwin("something is asked for each row")
    return planned


def _alone(tree: exp.Expr) -> exp.Expr:
    if tree.find(Lookup, Apply) is not None:
        raise NoTwin("something is looked up for each row")
    return tree


def _spread(named: exp.Expr, table: Table, alias: str) -> int:
    """How many rows may have the same value: 0 for few, 1 for some, 2 for a good part, or none that an index holds."""
    column, type_ = column_of(named, table, alias), infer(named)
    if not isinstance(type_, _PLAIN) or (column is None and not is_total(named)):
        return 2
    if column is None:
        return 2 if isinstance(type_, Enum | Boolean) else 1
    if column.numbered or (column.inherited and isinstance(column.type, Integer)):
        return 1  # the numbers are the same under every row
    if column.unique or column.key or column.references:
        return 0
    return 2 if isinstance(column.type, Enum | Boolean) else 1


# -- selects ---------------------------------------------------------------------------------------------------------


def exists(low: Lowering, node: exp.Expr) -> Lowered:
    """`exists (select ... where column = value)`."""
    if node.this.args.get("limit"):
        raise NoTwin("a limit on what exists")
    return Lowered(_picked(low, node.this).any(), Boolean(), False)


def single(low: Lowering, select: exp.Expr) -> Lowered:
    """The only value of a select: a number of rows, the least or greatest value, or a column of the only row."""
    select = select.unnest()
    if not isinstance(select, exp.Select) or len(select.selects) != 1:
        raise NoTwin("a subquery searches tables")
    item = select.selects[0].unalias()
    if isinstance(item, exp.Count) and isinstance(item.this, exp.Star) and not item.expressions:
        return Lowered(_picked(low, select, aggregate=True).count(), Integer(), False)
    if isinstance(item, exp.Min | exp.Max) and not item.expressions:
        return _extreme(low, select, item)
    if isinstance(item, exp.ArrayAgg):
        return _list_of(low, select, item)
    listed = _listed(low, select, lambda alias: low.value(row_values(_alone(item), alias)).node)
    return Lowered(py.call("sql.only", listed), low.type_of(item), True)


def _list_of(low: Lowering, select: exp.Expr, item: exp.ArrayAgg) -> Lowered:
    """`list(x order by y)`: what the rows hold in a column, in an order of columns. No rows give NULL."""
    picked = _picked(low, select, aggregate=True)
    value, *terms = operands(item)
    name, type_ = _column(value, picked), infer(value)
    columns = [_column(term, picked) for term in terms]
    ordered = item.this.expressions if isinstance(item.this, exp.Order) else []
    if name is None or not isinstance(type_, _PLAIN) or may_be_null(value) or None in columns:
        raise NoTwin("an aggregate looks at all rows")
    plain = all(isinstance(infer(term), _PLAIN) for term in terms)
    if not plain or item.find(exp.Distinct) or any(term.args.get("nulls_first") for term in ordered):
        raise NoTwin("an order that DuckDB knows")
    signed = [f"-{c}" if term.args.get("desc") else str(c) for c, term in zip(columns, ordered, strict=True)]
    order = picked.deciding([*signed, name])
    rows = py.call("sql.ordered", picked.each(None), *(ast.Constant(column) for column in order))
    listed = ast.ListComp(py.item(py.name(picked.row), name), [py.loop(picked.row, rows)])
    return Lowered(ast.BoolOp(ast.Or(), [listed, ast.Constant(None)]), List(type_), True)


def _extreme(low: Lowering, select: exp.Expr, item: exp.Expr) -> Lowered:
    picked = _picked(low, select, aggregate=True)
    tree = row_values(_alone(item.this), picked.alias)
    value = on_row(low, picked.table.name, picked.row, lambda: low.value(tree))
    if not isinstance(value.type, _PLAIN):
        raise NoTwin("an order that DuckDB knows")
    twin = "sql.least" if isinstance(item, exp.Min) else "sql.greatest"
    return Lowered(py.call(twin, ast.Starred(picked.each(value.node), ast.Load())), value.type, True)


def row(low: Lowering, select: exp.Expr) -> ast.expr:
    """The only row of a select, or None."""
    listed = _listed(low, select, None)
    first = _first(listed)
    return first if first is not None else py.call("sql.only", listed)


def rows(low: Lowering, select: exp.Expr) -> ast.expr:
    """All rows of a select, in its order."""
    return _listed(low, select, None, sort=True)


def _listed(
    low: Lowering, select: exp.Expr, value: Callable[[str], ast.expr] | None, *, sort: bool = False
) -> ast.expr:
    """A list of the rows of a select or, with `value`, of what that makes of each row, given its alias.

    It is in order if that matters, because of `sort` or a limit.
    """
    picked = _picked(low, select)
    assert isinstance(select, exp.Select)
    name, alias = picked.row, picked.alias
    items = {item.alias: item.this for item in select.selects}
    limit = select.args.get("limit")
    if value is not None:
        made: ast.expr | None = on_row(low, picked.table.name, name, lambda: value(alias))
    elif _is_whole(items, picked):
        made = None
    else:
        trees = [row_values(_alone(tree), alias) for tree in items.values()]
        values = on_row(low, picked.table.name, name, lambda: [low.value(tree).node for tree in trees])
        made = py.dictionary(list(zip(items, values, strict=True)))
    if not sort and limit is None:
        return picked.each(made)
    by_result = _order(select, picked, by_row=False) if value is None else None
    if by_result is not None:
        return _cut(py.call("sql.ordered", picked.each(made), *by_result), limit)
    by_row = _order(select, picked, by_row=True)
    if by_row is None:
        raise NoTwin("an order that DuckDB knows")
    found = _cut(py.call("sql.ordered", picked.each(None), *by_row), limit)
    return found if made is None else ast.ListComp(made, [py.loop(name, found)])


def _first(listed: ast.expr) -> ast.expr | None:
    """The row that `sql.ordered(...)[:1]` has, or None; None for other lists."""
    if not isinstance(listed, ast.Subscript) or not isinstance(listed.value, ast.Call):
        return None
    ordered, cut = listed.value, listed.slice
    one = isinstance(cut, ast.Slice) and isinstance(cut.upper, ast.Constant) and cut.upper.value == 1
    return py.call("sql.first", *ordered.args) if one and ast.unparse(ordered.func) == "sql.ordered" else None


def _picked(low: Lowering, select: exp.Expr, *, aggregate: bool = False) -> Pick:
    source = plain_source(select, low.tables)
    if source is None or not isinstance(select, exp.Select) or select.args.get("offset"):
        raise NoTwin("a select searches tables")
    limited = aggregate and select.args.get("limit")
    if limited or (not aggregate and any(item.find(exp.AggFunc, exp.Window) for item in select.selects)):
        raise NoTwin("an aggregate looks at all rows")
    where = select.args.get("where")
    return pick(low, *source, where.this if where is not None else None)


def _is_whole(items: dict[str, exp.Expr], picked: Pick) -> bool:
    """Whether the items are the columns of the table, all of them in their order."""
    names = [column.name for column in picked.table.columns]
    return list(items) == names and all(_column(tree, picked) == name for name, tree in items.items())


def _column(tree: exp.Expr, picked: Pick) -> str | None:
    """The column of the table that an expression is."""
    return tree.name if isinstance(tree, exp.Column) and tree.table == picked.alias else None


def _order(select: exp.Select, picked: Pick, *, by_row: bool) -> list[ast.expr] | None:
    """The columns of the results, or of the rows, that say the order, `-` before those that descend; None if none do.

    The order ends with the results from left to right, and nothing follows a whole key. What is the same in all rows
    orders nothing.
    """
    items = {item.alias: item.this for item in select.selects}
    terms: list[tuple[exp.Expr, bool]] = []
    order = select.args.get("order")
    for ordered in order.expressions if order is not None else ():
        if ordered.args.get("nulls_first"):
            return None
        terms.append((ordered.this, bool(ordered.args.get("desc"))))
    named = {tree.name for tree, _ in terms if tree.meta.get("output")}
    terms.extend((exp.column(name), False) for name in items if name not in named)
    keys = {column.name for column in picked.table.key} - picked.same
    kept: list[ast.expr] = []
    for tree, descends in terms:
        if not keys:
            break
        output = tree.name if tree.meta.get("output") or not tree.args.get("table") else None
        sorted_by = items.get(output, tree) if output is not None else tree
        column = _column(sorted_by, picked)
        if column in picked.same:
            continue
        name = column if by_row else output
        if name is None or not isinstance(infer(sorted_by), _PLAIN):
            return None
        kept.append(ast.Constant(f"-{name}" if descends else name))
        keys.discard(column or "")
    return kept


def _cut(rows: ast.expr, limit: exp.Expr | None) -> ast.expr:
    if limit is None:
        return rows
    most = limit.expression
    if not isinstance(most, exp.Literal) or not most.name.isdigit():
        raise NoTwin("a limit that is computed")
    return ast.Subscript(rows, ast.Slice(None, ast.Constant(int(most.name))), ast.Load())
