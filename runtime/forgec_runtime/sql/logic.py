"""NULL, truth and order: three-valued logic, comparisons, and the choice of one value among several."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any


def strict(function: Callable[..., Any]) -> Callable[..., Any]:
    """NULL where any operand is."""

    @wraps(function)
    def twin(*operands: Any) -> Any:
        return None if None in operands else function(*operands)

    return twin


def and_(*operands: bool | None) -> bool | None:
    if False in operands:
        return False
    return None if None in operands else True


def or_(*operands: bool | None) -> bool | None:
    if True in operands:
        return True
    return None if None in operands else False


def not_(operand: bool | None) -> bool | None:
    return None if operand is None else not operand


def eq(a: Any, b: Any) -> bool | None:
    return None if a is None or b is None else bool(a == b)


def ne(a: Any, b: Any) -> bool | None:
    return None if a is None or b is None else bool(a != b)


def lt(a: Any, b: Any) -> bool | None:
    return None if a is None or b is None else bool(a < b)


def le(a: Any, b: Any) -> bool | None:
    return None if a is None or b is None else bool(a <= b)


def gt(a: Any, b: Any) -> bool | None:
    return None if a is None or b is None else bool(a > b)


def ge(a: Any, b: Any) -> bool | None:
    return None if a is None or b is None else bool(a >= b)


def between(x: Any, low: Any, high: Any) -> bool | None:
    return and_(ge(x, low), le(x, high))


def in_(x: Any, *values: Any) -> bool | None:
    return or_(*(eq(x, value) for value in values))


def coalesce(*values: Any) -> Any:
    for value in values:
        if value is not None:
            return value
    return None


def nullif(a: Any, b: Any) -> Any:
    return None if a == b else a


def greatest(*values: Any) -> Any:
    """The greatest value that is not NULL."""
    return max((value for value in values if value is not None), default=None)


def least(*values: Any) -> Any:
    """The least value that is not NULL."""
    return min((value for value in values if value is not None), default=None)
