"""Aggregates that depend on the order in which they take their rows: for them it is always defined.

Doubles are rounded while they are summed up, and texts stand one behind the other.
"""

from __future__ import annotations

from forgec.sql.infer import infer
from forgec.sql.tree import cast, exp
from forgec_runtime.types import Decimal, Enum, Integer, Text


def operands(aggregate: exp.AggFunc) -> list[exp.Expr]:
    """What an aggregate takes of each row, and the terms of its order."""
    taken, terms = _parts(aggregate)
    values = taken.expressions if isinstance(taken, exp.Distinct) else [taken] if taken is not None else []
    return [*values, *(term.this for term in terms)]


def put_in_order(aggregate: exp.AggFunc) -> None:
    """Complete the order of an aggregate: rows that tie come in the order of what is taken of them."""
    taken, terms = _parts(aggregate)
    value = taken.expressions[0] if isinstance(taken, exp.Distinct) else taken
    last = _last_terms(aggregate, value)
    if last:
        ordered = [exp.Ordered(this=term.copy(), nulls_first=False) for term in last]
        aggregate.set("this", exp.Order(this=taken, expressions=[*terms, *ordered]))


def _parts(aggregate: exp.AggFunc) -> tuple[exp.Expr, list[exp.Expr]]:
    order = aggregate.this
    return (order.this, order.expressions) if isinstance(order, exp.Order) else (order, [])


def _last_terms(aggregate: exp.AggFunc, value: exp.Expr) -> list[exp.Expr]:
    """What decides among rows that tie; nothing where their order cannot matter."""
    if isinstance(aggregate, exp.Sum | exp.Avg):
        return [] if isinstance(infer(value), Integer | Decimal) else [value]
    if isinstance(aggregate, exp.GroupConcat):  # values that are equal may look different as texts
        return [value] if isinstance(infer(value), Text | Enum) else [value, cast(value.copy(), "VARCHAR")]
    return []
