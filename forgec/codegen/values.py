"""Python values of columns as JSON."""

from __future__ import annotations

import datetime
import decimal
from typing import Any


def to_json(value: Any) -> Any:
    """A value that `Type.decode` reads back: decimals and dates are strings."""
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, datetime.date | datetime.datetime):
        return value.isoformat()
    if isinstance(value, dict):
        return {name: to_json(part) for name, part in value.items()}
    if isinstance(value, list):
        return [to_json(part) for part in value]
    return value
