"""Twins: Python functions that compute what DuckDB computes.

Generated tools use Python's own operators where no operand can be NULL, and these functions elsewhere. NULL is None;
each function says nothing more than the SQL operator it is named after. What has no exact twin is a query.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Mapping
from typing import Any

from forgec_runtime.errors import Fault, Refusal
from forgec_runtime.types import MAX_INTEGER, MAX_TEXT

_EXACT = decimal.Context(prec=80)


# -- three-valued logic ---------------------------------------------------------------------------------------------


def and_(*operands: bool | None) -> bool | None:
    if any(operand is False for operand in operands):
        return False
    return None if any(operand is None for operand in operands) else True


def or_(*operands: bool | None) -> bool | None:
    if any(operand is True for operand in operands):
        return True
    return None if any(operand is None for operand in operands) else False


def not_(operand: bool | None) -> bool | None:
    return None if operand is None else not operand


# -- comparison -----------------------------------------------------------------------------------------------------


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


# -- arithmetic and text ----------------------------------------------------------------------------------------------


def add(a: Any, b: Any) -> Any:
    return None if a is None or b is None else a + b


def sub(a: Any, b: Any) -> Any:
    return None if a is None or b is None else a - b


def mul(a: Any, b: Any) -> Any:
    return None if a is None or b is None else a * b


def neg(a: Any) -> Any:
    return None if a is None else -a


def bigint(a: int | None) -> int | None:
    """An integer that must fit 64 bits. Raises `Fault`."""
    if a is not None and not -(2**63) <= a < 2**63:
        raise Fault("integer overflow")
    return a


def days_between(a: datetime.date | None, b: datetime.date | None) -> int | None:
    """`a - b` for dates."""
    return None if a is None or b is None else (a - b).days


def add_days(a: datetime.date | None, days: int | None) -> datetime.date | None:
    """`a + days` for a date. Raises `Fault` beyond the years 1 to 9999."""
    if a is None or days is None:
        return None
    try:
        return a + datetime.timedelta(days=days)
    except OverflowError:
        raise Fault("date out of range") from None


def lower(a: str | None) -> str | None:
    if a is None:
        return None
    return a.lower() if a.isascii() else "".join(map(_lower_char, a))


def upper(a: str | None) -> str | None:
    if a is None:
        return None
    return a.upper() if a.isascii() else "".join(map(_upper_char, a))


def _lower_char(char: str) -> str:
    """DuckDB maps letter by letter: no mapping that makes two of one, and no rule for a final sigma."""
    mapped = char.lower()
    return mapped if len(mapped) == 1 else char


def _upper_char(char: str) -> str:
    mapped = char.upper()
    return mapped if len(mapped) == 1 else char


def length(a: str | None) -> int | None:
    return None if a is None else len(a)


def coalesce(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def field(row: Mapping[str, Any] | None, name: str) -> Any:
    """A column of a row, or a field of a record, that may not be there."""
    return None if row is None else row[name]


# -- what a column holds ----------------------------------------------------------------------------------------------


def decimal_(a: Any, precision: int, scale: int, column: str) -> decimal.Decimal | None:
    """A number as `column` holds it: rounded half away from zero. Raises `Fault` when it has too many digits."""
    if a is None:
        return None
    rounded = decimal.Decimal(a).quantize(decimal.Decimal(1).scaleb(-scale), decimal.ROUND_HALF_UP, _EXACT)
    if abs(rounded) >= decimal.Decimal(10) ** (precision - scale):
        raise Fault(f"{column} is out of range")
    return rounded


def integer(a: int | None, column: str) -> int | None:
    """An integer as `column` holds it. Raises `Refusal`."""
    if a is not None and abs(a) > MAX_INTEGER:
        raise Refusal(f"{column} is out of range")
    return a


def short(a: str | None, column: str) -> str | None:
    """A text as `column` holds it. Raises `Refusal`."""
    if a is not None and len(a) > MAX_TEXT:
        raise Refusal(f"{column} is too long")
    return a


def one_of(a: str | None, values: tuple[str, ...], column: str) -> str | None:
    """A value of an enum. Raises `Refusal`."""
    if a is not None and a not in values:
        raise Refusal(f"{column} must be one of {', '.join(values)}")
    return a


def required(a: Any, column: str) -> Any:
    """What is never null. Raises `Refusal`."""
    if a is None:
        raise Refusal(f"{column} must not be null")
    return a


def date_(a: datetime.datetime | None) -> datetime.date | None:
    return None if a is None else a.date()


def timestamp(a: datetime.date | None) -> datetime.datetime | None:
    return None if a is None else datetime.datetime(a.year, a.month, a.day)


# -- messages ---------------------------------------------------------------------------------------------------------


def text(value: object) -> str:
    """A value as messages show it: the text that DuckDB casts it to."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ").rstrip("0") if value.microsecond else value.isoformat(sep=" ")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, tuple):
        return ", ".join(map(text, value))
    return str(value)


def formatted(value: Any, form: str) -> str:
    """A number in a message, as in `{$fines:.2f}`. Decimals round half away from zero."""
    if value is None:
        return "NULL"
    if isinstance(value, decimal.Decimal) and form.endswith("f"):
        places = int(form.partition(".")[2][:-1] or 6) if "." in form else 6
        value = value.quantize(decimal.Decimal(1).scaleb(-places), decimal.ROUND_HALF_UP, _EXACT)
    return format(value, form)
