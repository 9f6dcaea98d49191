"""Aggregates that depend on the order in which they take their rows: for them it is always defined.

Doubles are rounded while they are summed up, and texts stand one behind the other.
"""

from __future__ import annotations

from forgec.sql.infer import infer
from forgec.sql.nulls import may_be_null
from forgec.sql.tree import cast, exp
from forgec_runtime.types import Boolean, Date, Decimal, Enum, Integer, Text, Timestamp

_PLAIN = (Text, Enum, Integer, Decimal, Boolean, Date, Timestamp)
"""Equal values of these types are the same."""


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
    if isinstance(aggregate, exp.GroupConcat | exp.ArrayAgg):  # values that are equal may look different: 0.0 and -0.0
        return [value] if isinstance(infer(value), _PLAIN) else [value, cast(value.copy(), "VARCHAR")]
    return []


def without_null(aggregate: exp.ArrayAgg) -> exp.Expr:
    """A list of what rows hold: of a row that holds NULL, nothing."""
    (value, *_) = operands(aggregate)
    if not may_be_null(value):
        return aggregate
    missing = exp.Is(this=exp.paren(value.copy()), expression=exp.Null())
    return exp.Filter(this=aggregate, expression=exp.Where(this=exp.Not(this=missing)))


def as_one_filter(node: exp.Filter) -> exp.Filter:
    """A filter of what is filtered already."""
    inner = node.this
    if isinstance(inner, exp.Filter):
        both = exp.And(this=exp.paren(inner.expression.this), expression=exp.paren(node.expression.this))
        return exp.Filter(this=inner.this, expression=exp.Where(this=both))
    return node
