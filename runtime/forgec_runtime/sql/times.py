"""Dates and times of the years 1 to 9999."""

from __future__ import annotations

import datetime
from calendar import monthrange
from typing import Any

from forgec_runtime.errors import Fault
from forgec_runtime.sql.logic import strict

_UNITS = ("year", "month", "day", "hour", "minute", "second")
_HOUR, _MINUTE, _SECOND = (datetime.timedelta(seconds=seconds) for seconds in (3600, 60, 1))


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


_LONGEST = {
    "months": 2**31 - 1,
    "weeks": (2**31 - 1) // 7,
    "days": 2**31 - 1,
    "hours": (2**63 - 1) // 3_600_000_000,
    "minutes": (2**63 - 1) // 60_000_000,
    "seconds": (2**63 - 1) // 1_000_000,
}
"""DuckDB holds an interval as months, days and microseconds."""


@strict
def year(a: datetime.date) -> Any:
    return a.year


@strict
def month(a: datetime.date) -> Any:
    return a.month


@strict
def day(a: datetime.date) -> Any:
    return a.day


@strict
def last_day(a: datetime.date) -> Any:
    """The last day of the month."""
    return datetime.date(a.year, a.month, monthrange(a.year, a.month)[1])


@strict
def date_trunc(unit: str, a: datetime.datetime) -> Any:
    """Where the year, month, week, ... of a time begins; a week begins on Monday."""
    if unit == "week":
        return date_trunc("day", a - datetime.timedelta(days=a.weekday()))
    kept = _UNITS.index(unit)
    day = datetime.datetime(a.year, a.month if kept > 0 else 1, a.day if kept > 1 else 1)
    return day.replace(
        hour=a.hour if kept > 2 else 0, minute=a.minute if kept > 3 else 0, second=a.second if kept > 4 else 0
    )


# -- how often a unit ends between two times --------------------------------------------------------------------------


@strict
def years_between(a: datetime.date, b: datetime.date) -> Any:
    return a.year - b.year


@strict
def months_between(a: datetime.date, b: datetime.date) -> Any:
    return (a.year - b.year) * 12 + a.month - b.month


@strict
def weeks_between(a: datetime.date, b: datetime.date) -> Any:
    """Whole weeks, and no Mondays."""
    days = (a - b).days
    return days // 7 if days >= 0 else -(-days // 7)


@strict
def hours_between(a: datetime.datetime, b: datetime.datetime) -> Any:
    return _ends(a, b, _HOUR)


@strict
def minutes_between(a: datetime.datetime, b: datetime.datetime) -> Any:
    return _ends(a, b, _MINUTE)


@strict
def seconds_between(a: datetime.datetime, b: datetime.datetime) -> Any:
    return _ends(a, b, _SECOND)


def _ends(a: datetime.datetime, b: datetime.datetime, unit: datetime.timedelta) -> int:
    return (a - datetime.datetime.min) // unit - (b - datetime.datetime.min) // unit


# -- intervals ------------------------------------------------------------------------------------------------------


def plus(a: datetime.datetime | None, **interval: int | None) -> Any:
    """A time and an interval of one unit; the last day of a month stands for those it lacks.

    Raises `Fault` beyond the years 1 to 9999, and for an interval that DuckDB cannot hold.
    """
    (unit, count), *_ = interval.items()
    if count is not None and abs(count) > _LONGEST[unit]:
        raise Fault("interval out of range")
    if a is None or count is None:
        return None
    try:
        return _add_months(a, count) if unit == "months" else a + datetime.timedelta(**{unit: count})
    except (OverflowError, ValueError):
        raise Fault("date out of range") from None


def minus(a: datetime.datetime | None, **interval: int | None) -> Any:
    """A time and an interval before it. Raises `Fault` as `plus` does."""
    return plus(a, **{unit: None if count is None else -count for unit, count in interval.items()})


def _add_months(a: datetime.datetime, months: int) -> datetime.datetime:
    year, month = divmod(a.year * 12 + a.month - 1 + months, 12)
    return a.replace(year=year, month=month + 1, day=min(a.day, monthrange(year, month + 1)[1]))
