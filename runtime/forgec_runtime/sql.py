"""Twins: Python functions that compute what DuckDB computes.

Generated tools use Python's own operators where no operand can be NULL, and these functions elsewhere. NULL is None;
each function says nothing more than the SQL operator it is named after. What has no exact twin is a query. Whether a
result can be None depends on the operands, which the caller knows: hence `Any`.
"""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar, cast

from forgec_runtime.engine import connect, lock
from forgec_runtime.errors import Fault, Refusal
from forgec_runtime.types import MAX_INTEGER, MAX_TEXT

_EXACT = decimal.Context(prec=80)
T = TypeVar("T")
Row = TypeVar("Row", bound=Mapping[str, Any])


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
    return None if a is None or b is None else +(a * b)  # the plus takes the sign of a decimal zero away


def neg(a: Any) -> Any:
    return None if a is None else -a


def bigint(a: int | None) -> Any:
    """An integer that must fit 64 bits. Raises `Fault`."""
    if a is not None and not -(2**63) <= a < 2**63:
        raise Fault("integer overflow")
    return a


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


def lower(a: str | None) -> Any:
    if a is None or a.isascii():
        return a and a.lower()
    return a.translate(_letters("lower"))


def upper(a: str | None) -> Any:
    if a is None or a.isascii():
        return a and a.upper()
    return a.translate(_letters("upper"))


@cache
def _letters(function: str) -> dict[int, str]:
    """How DuckDB maps letter by letter, whatever version of Unicode this Python knows."""
    others = f"select ascii(c), {function}(c) from (select chr(n::integer) as c from {{}}) where {function}(c) <> c"
    ranges = f"(from range(1, {0xD800}) as r(n) union all from range({0xE000}, {0x110000}) as r(n))"
    connection = connect()
    lock(connection)
    return dict(connection.execute(others.format(ranges)).fetchall())


def length(a: str | None) -> Any:
    return None if a is None else len(a)


def coalesce(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def greatest(*values: Any) -> Any:
    """The greatest value that is not NULL."""
    return max((value for value in values if value is not None), default=None)


def least(*values: Any) -> Any:
    """The least value that is not NULL."""
    return min((value for value in values if value is not None), default=None)


def ordered(rows: list[Row], *columns: str) -> list[Row]:
    """Rows sorted by columns, those with `-` descending; NULLs come last either way."""
    if len(rows) < 2:
        return rows
    for column in reversed(columns):
        name, descends = column.removeprefix("-"), column.startswith("-")
        rows = sorted(rows, key=lambda row: ((row[name] is None) is not descends, row[name]), reverse=descends)
    return rows


def only(found: list[T]) -> T | None:
    """The only element of a list, None of an empty one. Raises `Fault` when there are more."""
    if len(found) > 1:
        raise Fault("more than one row")
    return found[0] if found else None


def field(row: Mapping[str, Any] | None, name: str) -> Any:
    """A column of a row, or a field of a record, that may not be there."""
    return None if row is None else row[name]


# -- what a column holds ----------------------------------------------------------------------------------------------


def decimal_(a: Any, precision: int, scale: int) -> Any:
    """A number as a decimal(precision, scale), rounded half away from zero. Raises `Fault` for too many digits."""
    if a is None:
        return None
    rounded = _rounded(decimal.Decimal(a), scale)
    if abs(rounded) >= decimal.Decimal(10) ** (precision - scale):
        raise Fault(f"decimal({precision}, {scale}) is out of range")
    return rounded


def _rounded(a: decimal.Decimal, places: int) -> decimal.Decimal:
    """Half away from zero; zero has no sign."""
    return _EXACT.plus(a.quantize(decimal.Decimal(1).scaleb(-places), decimal.ROUND_HALF_UP, _EXACT))


def integer(a: int | None, column: str) -> Any:
    """An integer as `column` holds it. Raises `Refusal`."""
    if a is not None and abs(a) > MAX_INTEGER:
        raise Refusal(f"{column} is out of range")
    return a


def short(a: str | None, column: str) -> Any:
    """A text as `column` holds it. Raises `Refusal`."""
    if a is not None and len(a) > MAX_TEXT:
        raise Refusal(f"{column} is too long")
    return a


def one_of(a: str | None, values: tuple[str, ...], column: str) -> Any:
    """A value of an enum. Raises `Refusal`."""
    if a is not None and a not in values:
        raise Refusal(f"{column} must be one of {', '.join(values)}")
    return a


def required(a: Any, column: str) -> Any:
    """What is never null. Raises `Refusal`."""
    if a is None:
        raise Refusal(f"{column} must not be null")
    return a


def date_(a: datetime.datetime | None) -> Any:
    return None if a is None else a.date()


def timestamp(a: datetime.date | None) -> Any:
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
    if isinstance(value, dict):
        return "{" + ", ".join(f"'{name}': {text(part)}" for name, part in value.items()) + "}"
    if value != value:
        return "-nan" if math.copysign(1, cast("float", value)) < 0 else "nan"
    return str(value)


def formatted(value: Any, form: str) -> str:
    """A number in a message, as in `{$fines:.2f}`. Decimals round half away from zero."""
    if value is None:
        return "NULL"
    if isinstance(value, decimal.Decimal) and form.endswith("f"):
        places = int(form.partition(".")[2][:-1] or 6) if "." in form else 6
        value = _rounded(value, places)
    return format(value, form)
