"""Lists as rows, in the order of their elements: what needs no query when nothing else is asked of them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forgec.plans import python as py
from forgec.plans.lowered import NoTwin
from forgec.sql.tree import exp

if TYPE_CHECKING:
    from forgec.plans.expression import Lowering


def rows(low: Lowering, select: exp.Expr) -> ast.expr:
    """`select x, pos from unnest(xs, ys) with ordinality as p(x, y, pos) order by pos`. Raises `NoTwin`."""
    if not isinstance(select, exp.Select):
        raise NoTwin("a select searches tables")
    source = _source(select)
    columns = [column.name for column in source.args["alias"].columns]
    position = columns[-1] if source.args["offset"] else None
    if position is None or not _is_ordered(select, position):
        raise NoTwin("an order that DuckDB knows")
    items = {item.alias: item.this for item in select.selects}
    if any(not isinstance(tree, exp.Column) or tree.name != name for name, tree in items.items()):
        raise NoTwin("what is computed of elements")
    if list(items) != columns:
        raise NoTwin("some columns only")
    lists = [(name, low.value(tree).node) for name, tree in zip(columns, source.expressions, strict=False)]
    return py.call("sql.zipped", py.dictionary(lists), ast.Constant(position))


def _source(select: exp.Select) -> exp.Unnest:
    """The lists that a select takes its rows from, if it does nothing but sort them."""
    from_ = select.args.get("from_")
    source = from_.this if from_ is not None else None
    given = {name for name, part in select.args.items() if part}
    if not isinstance(source, exp.Unnest):
        raise NoTwin("a select searches tables")
    if not given <= {"expressions", "from_", "order"}:
        raise NoTwin("a select of elements")
    return source


def _is_ordered(select: exp.Select, position: str) -> bool:
    """Whether the first term of the order is the position, upwards."""
    order = select.args.get("order")
    if order is None:
        return False
    first = order.expressions[0]
    return isinstance(first.this, exp.Column) and first.this.name == position and not first.args.get("desc")
