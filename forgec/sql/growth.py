"""How much longer a text or list may be than what it is made of: SQL that doubles thirty times fills any memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from forgec.sql.tree import Apply, exp
from forgec_runtime.types import Boolean, Date, Decimal, Double, Integer, Timestamp

if TYPE_CHECKING:
    from forgec.model.spec import Function
    from forgec.sql.scope import Cell

MAX_COPIES = 100
"""Of texts and lists that one is joined of, those that these were joined of in the same query counted."""
MAX_SEPARATOR = 100
"""Characters that stand between the elements of a list, or of the rows of a group, that become a text."""

_JOINS = (
    exp.DPipe, exp.ArrayConcat, exp.ArrayAppend, exp.Array, exp.Struct, exp.PropertyEQ, exp.ToMap, exp.Map,
)  # fmt: skip
_SMALL = (Boolean, Date, Decimal, Double, Integer, Timestamp)
_NUMBERS = (
    exp.Length, exp.Count, exp.CountIf, exp.DateDiff, exp.Year, exp.Month, exp.Day, exp.Predicate, exp.And,
    exp.Or, exp.Not, exp.StartsWith, exp.EndsWith, exp.Contains, exp.Literal, exp.Boolean, exp.Null, exp.Interval,
    exp.SHA2,
)  # fmt: skip


def copies(tree: exp.Expr, functions: Mapping[str, Function]) -> int:
    """Of how many texts and lists of columns and values a resolved expression is joined, at most."""
    if isinstance(tree, Apply):
        given = max((copies(argument, functions) for argument in tree.expressions), default=1)
        return copies(functions[tree.name].sql.expression, functions) * max(given, 1)
    cell: Cell | None = tree.meta.get("cell")
    if cell is not None:
        return 0 if isinstance(cell.type, _SMALL) else cell.copies
    if isinstance(tree, _NUMBERS):
        return 0
    parts = [copies(part, functions) for part in _parts(tree)]
    if isinstance(tree, _JOINS):
        return sum(parts)
    longest = max(parts, default=0)
    return 2 * longest if isinstance(tree, exp.Anonymous) and tree.name.lower() == "to_json" else longest


def _parts(tree: exp.Expr) -> list[exp.Expr]:
    """What the value of an expression is made of."""
    if isinstance(tree, exp.Select):
        return list(tree.expressions)
    if isinstance(tree, exp.SetOperation):
        return [tree.this, tree.expression]
    return list(tree.iter_expressions())
