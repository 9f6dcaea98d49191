"""What a column holds, and rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forgec_runtime.errors import Refusal
from forgec_runtime.types import MAX_INTEGER, MAX_TEXT


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


def field(row: Mapping[str, Any] | None, name: str) -> Any:
    """A column of a row, or a field of a record, that may not be there."""
    return None if row is None else row[name]
