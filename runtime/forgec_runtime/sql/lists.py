"""Lists and maps. Nothing in them is NULL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import zip_longest
from math import isfinite
from operator import add
from typing import Any

from forgec_runtime.errors import Fault
from forgec_runtime.sql.logic import strict
from forgec_runtime.sql.messages import text
from forgec_runtime.sql.numbers import bigint

MAX_JOINED = 1_000_000
"""Elements of a list while a call runs; a column holds far fewer."""


def element(a: Sequence[Any] | None, position: int | None) -> Any:
    """What a list has at a position, counted from 1; None where it has nothing."""
    if a is None or position is None or not 1 <= position <= len(a):
        return None
    return a[position - 1]


def zipped(lists: Mapping[str, Sequence[Any] | None], position: str) -> list[dict[str, Any]]:
    """The elements of lists side by side, with their number from 1; NULL where a list is shorter than another."""
    rows = []
    for number, values in enumerate(zip_longest(*[values or () for values in lists.values()]), 1):
        row = dict(zip(lists, values, strict=True))
        row[position] = number
        rows.append(row)
    return rows


def list_contains(a: list[Any] | None, wanted: Any) -> Any:
    if a is None or (wanted is None and a):
        return None
    return wanted in a


@strict
def list_position(a: list[Any], wanted: Any) -> Any:
    """Where an element is first, from 1; NULL if nowhere."""
    return a.index(wanted) + 1 if wanted in a else None


@strict
def list_sort(a: list[Any]) -> Any:
    return sorted(a)


@strict
def list_reverse(a: list[Any]) -> Any:
    return a[::-1]


@strict
def list_distinct(a: list[Any]) -> Any:
    """The elements, each once, sorted."""
    return sorted(set(a))


def list_concat(*lists: list[Any] | None) -> list[Any]:
    """The elements of all lists; NULL has none. Raises `Fault`."""
    if sum(len(one) for one in lists if one is not None) > MAX_JOINED:
        raise Fault("list too long")
    return [part for one in lists if one is not None for part in one]


@strict
def list_joined(a: list[Any], b: list[Any]) -> Any:
    """`a || b`. Raises `Fault`."""
    return list_concat(a, b)


def list_append(a: list[Any] | None, last: Any) -> list[Any]:
    return [*(a or ()), last]


@strict
def list_sum(a: list[Any]) -> Any:
    """The sum of numbers, doubles from left to right; NULL for none. Raises `Fault`."""
    if not a:
        return None
    if not isinstance(a[0], float):
        total = sum(a)
        return bigint(total) if isinstance(total, int) else total
    rounded = reduce(add, a, 0.0)  # `sum` is more exact than DuckDB
    if not isfinite(rounded):
        raise Fault("number out of range")
    return rounded


@strict
def list_min(a: list[Any]) -> Any:
    return min(a, default=None)


@strict
def list_max(a: list[Any]) -> Any:
    return max(a, default=None)


@strict
def list_has_all(a: list[Any], b: list[Any]) -> Any:
    """Whether each element of `b` is one of `a`."""
    return set(a) >= set(b)


@strict
def list_has_any(a: list[Any], b: list[Any]) -> Any:
    return not set(a).isdisjoint(b)


def contains_all(a: list[Any] | None, b: list[Any] | None) -> Any:
    """Whether `a` has each element of `b` at least as often."""
    return None if a is None or b is None else not _lacking(a, b)


def first_missing(a: list[Any] | None, b: list[Any] | None) -> Any:
    """The first element of `b` that `a` has less often; NULL if there is none."""
    if a is None or b is None:
        return None
    missing = _lacking(a, b)
    return next((part for part in b if part in missing), None) if missing else None


def _lacking(a: list[Any], b: list[Any]) -> set[Any]:
    """The elements that `a` has less often than `b`."""
    left: dict[Any, int] = {}
    for part in a:
        left[part] = left.get(part, 0) + 1
    lacking = set()
    for part in b:
        left[part] = count = left.get(part, 0) - 1
        if count < 0:
            lacking.add(part)
    return lacking


@strict
def array_to_string(a: list[Any], between: str) -> Any:
    return between.join(map(text, a))


# -- maps -----------------------------------------------------------------------------------------------------------


@strict
def map_(keys: list[str], values: list[Any]) -> Any:
    """A map, sorted by key. Raises `Fault` for keys that stand twice or have no value, or a value too many."""
    if len(keys) != len(values) or len(set(keys)) < len(keys):
        raise Fault("keys and values make no map")
    return dict(sorted(zip(keys, values, strict=True)))


@strict
def map_keys(a: dict[str, Any]) -> Any:
    return list(a)


@strict
def map_values(a: dict[str, Any]) -> Any:
    return list(a.values())


def entry(a: Mapping[str, Any] | None, key: str | None) -> Any:
    """What a map has at a key; None where it has nothing."""
    return None if a is None or key is None else a.get(key)
