"""Rows that an index found: their order, and the only one of them."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import Any, TypeVar

from forgec_runtime.errors import Fault

T = TypeVar("T")
Row = TypeVar("Row", bound=Mapping[str, Any])


def ordered(rows: list[Row], *columns: str) -> list[Row]:
    """Rows sorted by columns, those with `-` descending; NULLs come last either way."""
    if len(rows) < 2:
        return rows
    for column in reversed(columns):
        descends = column[0] == "-"
        name = column[1:] if descends else column
        try:
            rows = sorted(rows, key=itemgetter(name), reverse=descends)
        except TypeError:  # a NULL is not compared with values
            rows = sorted(rows, key=lambda row: ((row[name] is None) is not descends, row[name]), reverse=descends)
    return rows


def first(rows: list[Row], *columns: str) -> Row | None:
    """The first row in an order, as of `ordered`; None of no rows."""
    rows = ordered(rows, *columns)
    return rows[0] if rows else None


def only(found: list[T]) -> T | None:
    """The only element of a list, None of an empty one. Raises `Fault` when there are more."""
    if len(found) > 1:
        raise Fault("more than one row")
    return found[0] if found else None
