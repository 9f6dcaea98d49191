"""What of a select can be otherwise than in the world, seen by the rows that were changed.

Where one value stands in all sources, because the select joins them by it, and groups by it if it groups at all, rows
and groups with different values have nothing to do with each other: only those with a value of a changed row differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from forgec_runtime.schema import Table


def conjuncts(tree: exp.Expr | None) -> list[exp.Expr]:
    """The conditions that a condition with `and` is made of."""
    if tree is None:
        return []
    if isinstance(tree, exp.Paren):
        return conjuncts(tree.this)
    return [*conjuncts(tree.this), *conjuncts(tree.expression)] if isinstance(tree, exp.And) else [tree]


def common(tree: exp.Select, tables: Mapping[str, Table[Any]]) -> list[exp.Column]:
    """For each source of a select a column, all of which have one value in each row or group; empty for none."""
    sources = [tree.args["from_"].this, *(join.this for join in tree.args.get("joins") or ())]
    inner = any(one is not tree for one in tree.find_all(exp.Select))
    named = {one.alias_or_name: one.name for one in sources if isinstance(one, exp.Table) and one.name in tables}
    if inner or len(named) < len(sources) or tree.args.get("limit"):
        return []
    group = tree.args.get("group")
    if group is None and (tree.args.get("having") or tree.find(exp.AggFunc)):
        return []  # which has a row for no rows, too
    columns = list(tree.find_all(exp.Column))
    if any(column.table not in named or len(column.parts) > 2 for column in columns):
        return []
    joined = [join.args.get("on") for join in tree.args.get("joins") or ()]
    where = tree.args.get("where")
    conditions = [one for tree_ in (*joined, where and where.this) for one in conjuncts(tree_)]
    starts = group.expressions if group is not None else columns
    for start in starts:
        found = {column.table: column for column in _equal(start, conditions)} if isinstance(start, exp.Column) else {}
        if len(found) == len(named) and (len(named) > 1 or not _optional(tables[named[start.table]], start.name)):
            return list(found.values())
    return []


def _equal(start: exp.Expr, conditions: Sequence[exp.Expr]) -> list[exp.Column]:
    """The columns that must be equal to one, and itself."""
    found = [start]
    pairs = [(one.this, one.expression) for one in conditions if isinstance(one, exp.EQ)]
    for column in found:  # grows
        for left, right in (*pairs, *((right, left) for left, right in pairs)):
            if left == column and isinstance(right, exp.Column) and right not in found:
                found.append(right)
    return [column for column in found if isinstance(column, exp.Column)]


def _optional(table: Table[Any], name: str) -> bool:
    return next(column.optional for column in table.columns if column.name == name)
