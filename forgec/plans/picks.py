"""Searches that need no query: the rows of one table with a value in a column come from an index of the runtime."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forgec.plans import python as py
from forgec.plans.keyed import conjuncts, equalities, plain_source
from forgec.plans.lowered import Lowered, NoTwin
from forgec.sql.check import row_values
from forgec.sql.infer import infer
from forgec.sql.tree import Apply, Lookup, exp
from forgec_runtime.types import Boolean, Date, Decimal, Double, Enum, Integer, Text, Timestamp

if TYPE_CHECKING:
    from forgec.model.spec import Column, Table
    from forgec.plans.expression import Lowering

_SORTABLE = (Text, Enum, Integer, Decimal, Double, Boolean, Date, Timestamp)


@dataclass(frozen=True)
class Pick:
    """What an index finds, and what must hold of each row; `row` names the row that is looked at."""

    table: Table
    alias: str
    row: str
    found: ast.expr
    tests: list[ast.expr]

    def each(self, value: ast.expr) -> ast.ListComp:
        """`[value for row in found if tests]`."""
        return ast.ListComp(value, [self._loop(self.tests)])

    def any(self) -> ast.expr:
        """Whether there is such a row."""
        if not self.tests:
            return py.call("bool", self.found)
        return py.over("any", ast.GeneratorExp(py.conjunction(self.tests), [self._loop([])]))

    def count(self) -> ast.expr:
        """How many such rows there are."""
        if not self.tests:
            return py.call("len", self.found)
        return py.over("sum", ast.GeneratorExp(ast.Constant(1), [self._loop(self.tests)]))

    def _loop(self, tests: list[ast.expr]) -> ast.comprehension:
        ifs = [py.conjunction(tests)] if tests else []
        return ast.comprehension(ast.Name(self.row, ast.Store()), self.found, ifs, 0)


def pick(low: Lowering, table: Table, alias: str, where: exp.Expr | None) -> Pick:
    """The rows of a table for which a condition holds. Raises `NoTwin` where that takes a query."""
    best = min(equalities(where, table, alias), key=lambda found: _spread(found[0]), default=None)
    if best is None or _spread(best[0]) > 1:
        raise NoTwin("no column has one value")
    column, value, used = best
    row = f"{table.name}_row"
    lowered = low.value(value)
    if lowered.type.sql != column.type.sql:
        raise NoTwin(f"{column.name} is {column.type}, not {lowered.type}")
    found = py.call("call.where", py.name(table.name.upper()), ast.Constant(column.name), lowered.node)
    rest = [part for part in conjuncts(where) if part is not used]
    tests = on_row(low, table.name, row, lambda: low.row_conditions([_alone(part) for part in rest], alias))
    return Pick(table, alias, row, found, tests)


def on_row(low: Lowering, table: str, row: str, plan: Callable[[], list[ast.expr]]) -> list[ast.expr]:
    """What Python computes for every row that is looked at; nothing of it may ask or look anything up."""
    if "row" in low.values:
        raise NoTwin("rows are looked at for each row")
    made = len(low.queries)
    with low.row_of(table, row):
        planned = plan()
    if len(low.queries) > made:
        raise NoTwin("something is asked for each row")
    return planned


def _alone(tree: exp.Expr) -> exp.Expr:
    if tree.find(Lookup, Apply) is not None:
        raise NoTwin("something is looked up for each row")
    return tree


def _spread(column: Column) -> int:
    """How many rows may have the same value in a column: 0 for few, 1 for some, 2 for a good part of them."""
    if column.unique or column.key or column.references:
        return 0
    return 2 if isinstance(column.type, Enum | Boolean) else 1


# -- selects ---------------------------------------------------------------------------------------------------------


def exists(low: Lowering, node: exp.Expr) -> Lowered:
    """`exists (select ... where column = value)`."""
    return Lowered(_of(low, node.this).any(), Boolean(), False)


def single(low: Lowering, select: exp.Expr) -> Lowered:
    """A subquery that counts rows."""
    if not isinstance(select, exp.Select) or len(select.selects) != 1 or not _counts(select.selects[0]):
        raise NoTwin("a subquery searches tables")
    return Lowered(_of(low, select, aggregates=True).count(), Integer(), False)


def rows(low: Lowering, select: exp.Expr) -> ast.expr:
    """All rows of a select, in its order."""
    picked = _of(low, select)
    assert isinstance(select, exp.Select)
    table, alias = picked.table, picked.alias
    items = {item.alias: item.this for item in select.selects}
    plain = {name: part.name for name, part in items.items() if isinstance(part, exp.Column) and part.table == alias}
    if list(plain.items()) == [(column.name, column.name) for column in table.columns]:
        found: ast.expr = picked.each(py.name(picked.row)) if picked.tests else picked.found
    else:
        values = on_row(
            low, table.name, picked.row, lambda: [low.value(row_values(_alone(i), alias)).node for i in items.values()]
        )
        found = picked.each(py.dictionary(list(zip(items, values, strict=True))))
    order = [ast.Constant(term) for term in _order(select, table, plain)]
    return py.call("sql.ordered", found, *order)


def _of(low: Lowering, select: exp.Expr, *, aggregates: bool = False) -> Pick:
    source = plain_source(select, low.tables)
    if source is None or not isinstance(select, exp.Select) or select.args.get("limit") or select.args.get("offset"):
        raise NoTwin("a select searches tables")
    if not aggregates and any(item.find(exp.AggFunc, exp.Window) for item in select.selects):
        raise NoTwin("an aggregate looks at all rows")
    where = select.args.get("where")
    return pick(low, *source, where.this if where is not None else None)


def _counts(item: exp.Expr) -> bool:
    inner = item.unalias()
    return isinstance(inner, exp.Count) and isinstance(inner.this, exp.Star) and not inner.expressions


def _order(select: exp.Select, table: Table, plain: dict[str, str]) -> list[str]:
    """The columns that rows are sorted by, `-` before those that descend; the key decides, so nothing follows it."""
    items = {item.alias: item.this for item in select.selects}
    terms: dict[str, bool] = {}
    order = select.args.get("order")
    for ordered in order.expressions if order is not None else ():
        if not ordered.this.meta.get("output") or ordered.args.get("nulls_first"):
            raise NoTwin("an order by what is no column of the result")
        terms.setdefault(ordered.this.name, bool(ordered.args.get("desc")))
    keys = {column.name for column in table.key}
    kept: list[str] = []
    for name, descends in {**terms, **{name: False for name in items if name not in terms}}.items():
        if not keys:
            break
        if not isinstance(infer(items[name]), _SORTABLE):
            raise NoTwin("an order that DuckDB knows")
        kept.append(f"-{name}" if descends else name)
        keys.discard(plain.get(name, ""))
    return kept
