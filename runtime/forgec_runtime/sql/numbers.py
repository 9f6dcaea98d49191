"""Arithmetic with integers and decimals."""

from __future__ import annotations

import decimal
from typing import Any

from forgec_runtime.errors import Fault

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
