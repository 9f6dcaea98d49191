"""Dates and times of the years 1 to 9999."""

from __future__ import annotations

import datetime
from typing import Any

from forgec_runtime.errors import Fault


def days_between(a: datetime.date | None, b: datetime.date | None) -> Any:
    """`a - b` for dates."""
    return None if a is None or b is None else (a - b).days


def add_days(a: datetime.date | None, days: int | None) -> Any:
    """`a + days` for a date. Raises `Fault` beyond the years 1 to 9999."""
    if a is None or days is None:
        return None
    try:
        return a + datetime.timedelta(days=days)
    except OverflowError:
        raise Fault("date out of range") from None


def date_(a: datetime.datetime | None) -> Any:
    return None if a is None else a.date()


def timestamp(a: datetime.date | None) -> Any:
    return None if a is None else datetime.datetime(a.year, a.month, a.day)
