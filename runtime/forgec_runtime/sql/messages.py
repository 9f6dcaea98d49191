"""Values as people and messages see them."""

from __future__ import annotations

import datetime
import decimal
import math
from typing import Any, cast

from forgec_runtime.sql.numbers import rounded


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
        value = rounded(value, places)
    return format(value, form)
