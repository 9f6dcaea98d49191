"""Values of columns as JSON and back, exactly: what a state holds is what comes back, digit by digit.

Unlike the arguments of agents, values of a state are what the engine made of them: no length and no range is asked.
"""

from __future__ import annotations

import decimal
from math import isfinite
from typing import Any

from . import types as t

_EXACT = decimal.Context(prec=100)


def encode(type_: t.Type, value: Any) -> Any:
    """A value as JSON has it; equal values of one type are written alike."""
    if value is None:
        return None
    if isinstance(type_, t.Decimal):
        exact = decimal.Decimal(value)
        scaled = exact.quantize(decimal.Decimal(1).scaleb(-type_.scale), context=_EXACT)
        return format(scaled.copy_abs() if scaled.is_zero() else scaled if scaled == exact else exact, "f")
    if isinstance(type_, t.Date | t.Timestamp):
        return value.isoformat()
    if isinstance(type_, t.Record):
        return {f.name: encode(f.type, value.get(f.name)) for f in type_.fields}
    if isinstance(type_, t.List):
        return [encode(type_.of, element) for element in value]
    if isinstance(type_, t.Map):
        return {key: encode(type_.of, value[key]) for key in sorted(value)}
    return float(value) if isinstance(type_, t.Double) else value


def decode(type_: t.Type, value: Any) -> Any:
    """The value that `encode` wrote. Raises `Mismatch`; a null is a value of every type."""
    if value is None:
        return None
    if isinstance(type_, t.Record):
        if type(value) is not dict or list(value) != [f.name for f in type_.fields]:
            raise t.Mismatch("a record")
        return {f.name: decode(f.type, value[f.name]) for f in type_.fields}
    if isinstance(type_, t.List):
        if type(value) is not list:
            raise t.Mismatch("a list")
        return [decode(type_.of, _present(element)) for element in value]
    if isinstance(type_, t.Map):
        if type(value) is not dict or list(value) != sorted(value):
            raise t.Mismatch("a map")
        return {type_.key.decode(key): decode(type_.of, _present(part)) for key, part in value.items()}
    plain = _PLAIN.get(type(type_))
    if plain is None:
        return type_.decode(value)
    if type(value) is not plain or (isinstance(value, float) and not isfinite(value)):
        raise t.Mismatch(f"of type {type_}")
    return value


def _present(value: Any) -> Any:
    """What is inside of a list or map, which is never null."""
    if value is None:
        raise t.Mismatch("a value")
    return value


_PLAIN: dict[type[t.Type], type] = {t.Text: str, t.Integer: int, t.Double: float, t.Boolean: bool}
