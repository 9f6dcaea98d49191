"""What a call gives back, and JSON: the only door to orjson."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Mapping
from typing import Any, Literal

import orjson

Kind = Literal["ok", "refused", "invalid", "fault"]


class Result:
    """The outcome of one call.

    `text` is what the agent reads: the value as JSON, or the error. `value` is the value as Python objects, shared
    with the environment and not to be changed. `kind` is "refused" for a guard or constraint of the spec, "invalid"
    for arguments that do not fit, "fault" for a tool that cannot be evaluated; `detail` then tells developers why.
    `changed` is whether anything of the episode is other than it was before.
    """

    __slots__ = ("changed", "detail", "kind", "text", "value")

    def __init__(self, kind: Kind, text: str, value: Any = None, detail: str = "") -> None:
        self.kind = kind
        self.text = text
        self.value = value
        self.detail = detail
        self.changed = False

    @property
    def ok(self) -> bool:
        return self.kind == "ok"

    def __repr__(self) -> str:
        return f"Result({self.kind!r}, {self.text!r})"


def from_json(text: str | bytes) -> Any:
    """The value of JSON text. Raises `ValueError`."""
    return orjson.loads(text)


def to_json(value: Any) -> str:
    """A value as JSON text; decimals keep all of their digits."""
    return orjson.dumps(value, default=_exact).decode()


def to_exact(value: Any) -> str:
    """A value as JSON text in which decimals are strings, so that no reader rounds them."""
    return orjson.dumps(value, default=_spelled).decode()


def to_bytes(value: Any) -> bytes:
    """A value as JSON in bytes. Raises `TypeError` for what JSON does not have; but a float that is none is null."""
    return orjson.dumps(value, option=_PLAIN)


_PLAIN = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_SUBCLASS


def _exact(value: object) -> orjson.Fragment:
    if isinstance(value, decimal.Decimal):
        return orjson.Fragment(format(value, "f"))
    raise TypeError(type(value).__name__)


def _spelled(value: object) -> str:
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    raise TypeError(type(value).__name__)


def json_able(value: Any) -> Any:
    """A value as an agent writes it in JSON: exact numbers stay numbers where a double holds their digits."""
    if isinstance(value, decimal.Decimal):
        if value == value.to_integral_value():
            return int(value)
        as_double = float(value)
        return as_double if decimal.Decimal(repr(as_double)) == value else format(value, "f")
    if isinstance(value, datetime.date):  # a timestamp is one, too
        return value.isoformat()
    if isinstance(value, Mapping):
        return {name: json_able(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [json_able(part) for part in value]
    return value
