"""Values of files as columns hold them."""

from __future__ import annotations

import decimal
import re
from typing import Any

from .. import types as t
from .documents import Cell, Unreadable, parsed

_INTEGER = re.compile(r"(-?[0-9]{1,40})(?:\.0*)?")
_DOUBLE = re.compile(r"[-+]?(?:[0-9]{1,400}\.?[0-9]{0,400}|\.[0-9]{1,400})(?:[eE][-+]?[0-9]{1,4})?")
_BOOLEANS = {"true": True, "false": False}
_EXPONENTS = 60
"""Decimals beyond are of no column; they are not written out."""


def value_of(type_: t.Type, value: Any) -> Any:
    """What JSON, or a field of a CSV file, says for a column: no NULL, nothing is rounded. Raises `Mismatch`."""
    if isinstance(value, Cell):
        return _of_text(type_, value)
    return type_.decode(_plain(type_, value))


def key_of(type_: t.Type, name: str) -> Any:
    """The key that an object of JSON has as the name of a row. Raises `Mismatch`."""
    return _of_text(type_, name)


def _plain(type_: t.Type | None, value: Any) -> Any:
    """A value with its exact decimals as the type wants to be told of them."""
    if isinstance(value, decimal.Decimal):
        if not isinstance(type_, t.Decimal):
            return float(value)
        return format(value, "f") if abs(value.adjusted()) <= _EXPONENTS else str(value)
    if isinstance(value, dict) and isinstance(type_, t.Record):
        types = {field.name: field.type for field in type_.fields}
        return {name: _plain(types.get(name), part) for name, part in value.items()}
    if isinstance(value, dict) and isinstance(type_, t.Map):
        return {name: _plain(type_.of, part) for name, part in value.items()}
    if isinstance(value, list) and isinstance(type_, t.List):
        return [_plain(type_.of, part) for part in value]
    return value


def _of_text(type_: t.Type, text: str) -> Any:
    if isinstance(type_, t.Integer) and (found := _INTEGER.fullmatch(text)):
        return type_.decode(int(found[1]))
    if isinstance(type_, t.Double) and _DOUBLE.fullmatch(text):
        return type_.decode(float(text))
    if isinstance(type_, t.Boolean):
        return type_.decode(_BOOLEANS.get(text.lower(), text))
    if isinstance(type_, t.Record | t.List | t.Map):
        try:
            return type_.decode(_plain(type_, parsed(text)))
        except Unreadable:
            raise t.Mismatch(f"{type_} as JSON") from None
    return type_.decode(str(text))
