"""Arithmetic with integers and decimals."""

from __future__ import annotations

import decimal
import math
from fractions import Fraction
from typing import Any

from forgec_runtime.errors import Fault
from forgec_runtime.sql.logic import strict

_EXACT = decimal.Context(prec=80)


def add(a: Any, b: Any) -> Any:
    return None if a is None or b is None else a + b


def sub(a: Any, b: Any) -> Any:
    return None if a is None or b is None else a - b


def mul(a: Any, b: Any) -> Any:
    return None if a is None or b is None else +(a * b)  # the plus takes the sign of a decimal zero away


def neg(a: Any) -> Any:
    return None if a is None else -a


def bigint(a: int | None) -> Any:
    """An integer that must fit 64 bits. Raises `Fault`."""
    if a is not None and not -(2**63) <= a < 2**63:
        raise Fault("integer overflow")
    return a


def finite(a: float | None) -> Any:
    """A double that is a number. Raises `Fault` for infinity and what comes of it."""
    if a is not None and not math.isfinite(a):
        raise Fault("floating point overflow")
    return a


@strict
def div(a: int, b: int) -> Any:
    """`a // b`, cut off towards zero; NULL for a `b` of zero."""
    if b == 0:
        return None
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


@strict
def mod(a: Any, b: Any) -> Any:
    """What remains of `a // b`, with the sign of `a`; NULL for a `b` of zero."""
    if b == 0:
        return None
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) % abs(b) * (-1 if a < 0 else 1)
    return _EXACT.plus(_EXACT.remainder(a, b))


@strict
def quotient(a: Any, b: Any) -> Any:
    """`a / b` as a double; NULL for a `b` of zero."""
    return None if b == 0 else float(a) / float(b)


@strict
def sign(a: Any) -> Any:
    return (a > 0) - (a < 0)


@strict
def abs_(a: Any) -> Any:
    return abs(a)


@strict
def floor(a: Any) -> Any:
    return _to_whole(a, decimal.ROUND_FLOOR) if isinstance(a, decimal.Decimal) else math.copysign(math.floor(a), a)


@strict
def ceil(a: Any) -> Any:
    return _to_whole(a, decimal.ROUND_CEILING) if isinstance(a, decimal.Decimal) else math.copysign(math.ceil(a), a)


@strict
def round_(a: Any, places: int) -> Any:
    """A decimal or a double with so many places, rounded half away from zero."""
    if isinstance(a, decimal.Decimal):
        return rounded(a, places)
    moved = a * 10.0**places
    if not math.isfinite(moved):
        return a
    whole = math.trunc(moved)
    rest = abs(moved - whole)
    if rest == 0.5:  # or nearly so: what the product lost decides
        rest = abs(Fraction(a) * 10**places - whole)
    return math.copysign(abs(whole) + (rest >= 0.5), a) / 10.0**places


@strict
def round_even(a: float, places: int) -> Any:
    """A double with so many places, the half rounded to the even digit."""
    moved = a * 10.0**places
    if not math.isfinite(moved):
        return a
    whole = math.trunc(moved)
    rest: float | Fraction = abs(moved - whole)
    if rest == 0.5:  # or nearly so: what the product lost decides
        rest = abs(Fraction(a) * 10**places - whole)
    up = rest > 0.5 or (rest == 0.5 and whole % 2 == 1)
    return math.copysign(abs(whole) + up, a) / 10.0**places


@strict
def whole(a: Any) -> Any:
    """A number or a truth value as an integer. Raises `Fault`.

    The half of a decimal goes away from zero, that of a double to the even neighbour.
    """
    return bigint(int(rounded(a, 0)) if isinstance(a, decimal.Decimal) else round(a))


@strict
def double(a: Any) -> Any:
    return float(a)


def decimal_(a: Any, precision: int, scale: int) -> Any:
    """A number as a decimal(precision, scale), rounded half away from zero. Raises `Fault` for too many digits."""
    if a is None:
        return None
    result = rounded(decimal.Decimal(a), scale)
    if abs(result) >= decimal.Decimal(10) ** (precision - scale):
        raise Fault(f"decimal({precision}, {scale}) is out of range")
    return result


def rounded(a: decimal.Decimal, places: int) -> decimal.Decimal:
    """Half away from zero; zero has no sign."""
    return _EXACT.plus(a.quantize(decimal.Decimal(1).scaleb(-places), decimal.ROUND_HALF_UP, _EXACT))


def _to_whole(a: decimal.Decimal, rounding: str) -> decimal.Decimal:
    return _EXACT.plus(a.quantize(decimal.Decimal(1), rounding, _EXACT))
