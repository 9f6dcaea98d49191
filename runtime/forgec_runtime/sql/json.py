"""Values as JSON, character by character as DuckDB writes it."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

from forgec_runtime.sql.messages import text

_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPES = str.maketrans({**{chr(code): f"\\u{code:04X}" for code in range(32)}, **_SHORT})


def to_json(a: Any) -> Any:
    """A value as the text of JSON; decimals with all their digits, dates and times as texts."""
    return None if a is None else _written(a)


def _written(a: Any) -> str:
    if a is None:
        return "null"
    if isinstance(a, dict):
        return "{" + ",".join(f"{_quoted(name)}:{_written(part)}" for name, part in a.items()) + "}"
    if isinstance(a, list):
        return "[" + ",".join(map(_written, a)) + "]"
    if isinstance(a, str):
        return _quoted(a)
    if isinstance(a, float):
        return _number(a)
    shown = text(a)
    return f'"{shown}"' if isinstance(a, datetime.date) else shown


def _quoted(a: str) -> str:
    return f'"{a.translate(_ESCAPES)}"'


def _number(a: float) -> str:
    """The shortest digits of a double, with an exponent where JavaScript writes one, and always a fraction."""
    sign, digits, exponent = Decimal(repr(a)).normalize().as_tuple()
    assert isinstance(exponent, int)
    point = len(digits) + exponent
    if a == 0 or -6 < point <= 21:
        shown = format(Decimal(repr(a)).normalize(), "f")
        return shown if "." in shown else f"{shown}.0"
    first, *rest = map(str, digits)
    fraction = f".{''.join(rest)}" if rest else ""
    return f"{'-' * sign}{first}{fraction}e{point - 1}"
