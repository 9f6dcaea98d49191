"""What a column holds, and rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from forgec_runtime import types as t
from forgec_runtime.errors import Refusal
from forgec_runtime.types import MAX_ELEMENTS, MAX_INTEGER, MAX_TEXT

if TYPE_CHECKING:
    from forgec_runtime.schema import Table


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


def held(a: Any, table: Table[Any], column: str) -> Any:
    """A record, list or map as a column of `table` holds it. Raises `Refusal` for what must not be inside of it."""
    if a is not None and (problem := misfit(table.types[column], a)):
        raise Refusal(f"{table.title}.{column}{problem}")
    return a


def misfit(type_: t.Type, value: Any) -> str | None:
    """Where inside a value something is that a column does not hold, and what is wrong with it."""
    if isinstance(type_, t.Enum):
        return None if value in type_.values else f" must be one of {', '.join(type_.values)}"
    if isinstance(type_, t.Integer):
        return " is out of range" if abs(value) > MAX_INTEGER else None
    if isinstance(type_, t.Text):
        return " is too long" if len(value) > MAX_TEXT else None
    if isinstance(type_, t.Record):
        return next(
            filter(None, (_misfit_at(f".{f.name}", f.type, value[f.name], f.optional) for f in type_.fields)), None
        )
    if isinstance(type_, t.List):
        if len(value) > MAX_ELEMENTS:
            return f" must have at most {MAX_ELEMENTS} elements"
        return next(filter(None, (_misfit_at(f"[{i}]", type_.of, part) for i, part in enumerate(value, 1))), None)
    if isinstance(type_, t.Map):
        if len(value) > MAX_ELEMENTS:
            return f" must have at most {MAX_ELEMENTS} entries"
        for key, part in value.items():
            if problem := misfit(type_.key, key):
                return f": the key {key[:100]!r}{problem}"
            if problem := _misfit_at(f"[{key[:100]!r}]", type_.of, part):
                return problem
    return None


def _misfit_at(place: str, type_: t.Type, value: Any, optional: bool = False) -> str | None:
    if value is None:
        return None if optional else f"{place} must not be null"
    problem = misfit(type_, value)
    return f"{place}{problem}" if problem else None


def field(row: Mapping[str, Any] | None, name: str) -> Any:
    """A column of a row, or a field of a record, that may not be there."""
    return None if row is None else row[name]
