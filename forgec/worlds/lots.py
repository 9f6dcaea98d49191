"""Drawing by lot: a hash of what is drawn for, and exact arithmetic, so that it is the same on every machine."""

from __future__ import annotations

import datetime
import hashlib
from bisect import bisect_right
from decimal import Decimal as Exact
from fractions import Fraction
from functools import cache
from itertools import accumulate
from math import lcm
from typing import Any

from forgec_runtime.types import Date, Decimal, Integer, Timestamp, Type

BITS = 512
PLACES = 6
"""Digits after the point of a double that is drawn."""
_PARTS = 12
"""Numbers that a bell curve is the sum of: their sum has a deviation of 1."""
_SECOND = datetime.timedelta(seconds=1)


class NoLot(Exception):
    """Nothing can be drawn so; the text says why."""


def lot(*names: object) -> int:
    """A number of `BITS` bits that depends on these names alone."""
    return int.from_bytes(hashlib.sha512("\0".join(map(str, names)).encode()).digest(), "big")


def below(drawn: int, count: int) -> int:
    """A number from 0 on that is less than `count`."""
    return drawn * count >> BITS


def happens(drawn: int, chance: Exact) -> bool:
    """Whether something comes to pass that has this chance, from 0 to 1."""
    return Fraction(drawn, 1 << BITS) < Fraction(chance)


def one_of(drawn: int, weights: tuple[Fraction, ...]) -> int:
    """The number of one of these weights, from 1 on, as often as its weight says."""
    sums = _sums(weights)
    return bisect_right(sums, below(drawn, sums[-1])) + 1


@cache
def _sums(weights: tuple[Fraction, ...]) -> list[int]:
    unit = lcm(*(weight.denominator for weight in weights))
    return list(accumulate(int(weight * unit) for weight in weights))


def skewed(drawn: int, count: int) -> int:
    """A number from 0 on that is less than `count`: the k-th a k-th as often as the first."""
    sums = _shares(count)
    return bisect_right(sums, below(drawn, sums[-1]))


@cache
def _shares(count: int) -> list[int]:
    return list(accumulate((1 << 40) // k for k in range(1, count + 1)))


def between(drawn: int, low: Any, high: Any, type_: Type) -> Any:
    """A value from `low` to `high`, both of a type. Raises `NoLot` when there is none."""
    if low > high:
        raise NoLot(f"there is nothing from {low} to {high}")
    if isinstance(type_, Date):
        return low + datetime.timedelta(days=below(drawn, (high - low).days + 1))
    if isinstance(type_, Timestamp):
        return low + _SECOND * below(drawn, (high - low) // _SECOND + 1)
    unit = 10 ** _places(type_)
    first, last = _half_away(Fraction(low) * unit), _half_away(Fraction(high) * unit)
    return _number(first + below(drawn, last - first + 1), type_)


def bell(drawn: int, mean: Exact, deviation: Exact, type_: Type) -> Any:
    """A number near `mean`, its deviation about `deviation` and at most six times that.

    Raises `NoLot` when the type does not hold it.
    """
    size = BITS // _PARTS
    parts = [(drawn >> i * size) & ((1 << size) - 1) for i in range(_PARTS)]
    off = Fraction(2 * sum(parts) - _PARTS * ((1 << size) - 1), 2 << size)
    units = _half_away((Fraction(mean) + Fraction(deviation) * off) * 10 ** _places(type_))
    if isinstance(type_, Decimal) and abs(units) >= 10**type_.precision:
        raise NoLot(f"{type_} does not hold {_number(units, type_)}")
    return _number(units, type_)


def _places(type_: Type) -> int:
    return 0 if isinstance(type_, Integer) else type_.scale if isinstance(type_, Decimal) else PLACES


def _number(units: int, type_: Type) -> int | Exact | float:
    if isinstance(type_, Integer):
        return units
    return Exact(units).scaleb(-type_.scale) if isinstance(type_, Decimal) else units / 10**PLACES


def _half_away(value: Fraction) -> int:
    """The nearest whole number, halves away from zero."""
    rounded = int(abs(value) + Fraction(1, 2))
    return rounded if value >= 0 else -rounded
