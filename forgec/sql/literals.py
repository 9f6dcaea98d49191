"""Literals whose value is plain to see, so that DuckDB need not be asked for it."""

from __future__ import annotations

import datetime
import decimal
import re
from typing import Any

from forgec.sql.tree import exp
from forgec_runtime.types import Boolean, Date, Decimal, Enum, Integer, Text, Timestamp, Type

UNCLEAR = object()
"""In place of a value: DuckDB has to say what it is."""

_WHOLE = re.compile(r"[0-9]{1,15}")
_POINT = re.compile(r"([0-9]{1,15})(?:\.([0-9]{1,15}))?")
_DATE = re.compile(r"[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(rf"{_DATE.pattern} [0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}")


def literal_value(tree: exp.Expr, type_: Type) -> Any:
    """The value of a literal, cast to `type_`, as DuckDB gives it; `UNCLEAR` if it needs a closer look."""
    if isinstance(tree, exp.Null):
        return None
    if isinstance(tree, exp.Boolean):
        return bool(tree.this) if isinstance(type_, Boolean) else UNCLEAR
    if isinstance(tree, exp.Neg):
        value: Any = literal_value(tree.this, type_) if isinstance(type_, Integer | Decimal) else UNCLEAR
        return value if value is UNCLEAR or value is None else 0 - value
    if not isinstance(tree, exp.Literal):
        return UNCLEAR
    return _text_value(tree.this, type_) if tree.is_string else _number_value(tree.this, type_)


def _text_value(text: str, type_: Type) -> Any:
    if isinstance(type_, Text | Enum):
        return UNCLEAR if "\x00" in text else text
    try:
        if isinstance(type_, Date) and _DATE.fullmatch(text):
            return datetime.date.fromisoformat(text)
        if isinstance(type_, Timestamp) and _TIME.fullmatch(text):
            return datetime.datetime.fromisoformat(text)
    except ValueError:  # the 30th of February
        pass
    return UNCLEAR


def _number_value(text: str, type_: Type) -> Any:
    if isinstance(type_, Integer) and _WHOLE.fullmatch(text):
        return int(text)
    found = _POINT.fullmatch(text) if isinstance(type_, Decimal) else None
    if found is None or not isinstance(type_, Decimal):
        return UNCLEAR
    whole, after = found[1].lstrip("0"), found[2] or ""
    if len(whole) > type_.precision - type_.scale or len(after) > type_.scale:
        return UNCLEAR
    return decimal.Decimal(text).quantize(decimal.Decimal(1).scaleb(-type_.scale))
