"""What values are, as far as it takes to compute with them as DuckDB does."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

from sqlglot import exp


class NoTwin(Exception):
    """Only DuckDB knows what this gives."""


class Unsure(Exception):
    """With these values, DuckDB is to be asked."""


MOST_DIGITS = 38
"""Of a number of DuckDB's."""


class Kind(NamedTuple):
    """The type of a value; `parts` are the fields of a record, or the elements of a list."""

    name: str
    scale: int = 0
    """How many digits a number has after the point at most, a whole one none,"""
    whole: int = 0
    """and before it."""
    parts: tuple[tuple[str, Kind], ...] = ()

    def part(self, name: str) -> Kind:
        """The kind of a field. Raises `NoTwin`."""
        found = dict(self.parts).get(name) if self.name == "record" else None
        if found is None:
            raise NoTwin(f"no field {name}")
        return found


TEXT, INTEGER, BOOLEAN, NULL = Kind("text"), Kind("integer", whole=19), Kind("boolean"), Kind("null")
DATE, TIMESTAMP = Kind("date"), Kind("timestamp")
NUMBERS = frozenset({"integer", "decimal"})
ORDERED = NUMBERS | {"text", "boolean", "date", "timestamp"}
"""Kinds whose values Python compares as DuckDB does: no doubles, of which two are zero."""
PARTED = frozenset({"list", "record", "map"})
"""Kinds whose values have parts, and are no keys of Python's."""
_NAMES = {
    "TEXT": "text", "VARCHAR": "text", "BIGINT": "integer", "BOOLEAN": "boolean", "DOUBLE": "double", "DATE": "date",
    "TIMESTAMP": "timestamp", "TIMESTAMPNTZ": "timestamp",
}  # fmt: skip
_CLASSES: dict[str, type] = {
    "text": str, "integer": int, "boolean": bool, "date": datetime.date, "timestamp": datetime.datetime,
    "decimal": Decimal, "double": float,
}  # fmt: skip


@lru_cache(maxsize=4096)
def kind_of(sql: str) -> Kind:
    """The kind of a type of DuckDB. Raises `NoTwin`."""
    return kind(exp.DataType.build(sql, dialect="duckdb"))


def kind(type_: exp.DataType) -> Kind:
    """The kind of a type as sqlglot has it. Raises `NoTwin`."""
    name, given = type_.this.value, type_.expressions
    if name == "DECIMAL" and len(given) == 2:
        digits, scale = (int(one.name) for one in given)
        return Kind("decimal", scale, digits - scale)
    if name == "STRUCT":
        return Kind("record", parts=tuple((one.name, kind(one.args["kind"])) for one in given))
    if name in ("ARRAY", "LIST") and len(given) == 1:
        return Kind("list", parts=(("", kind(given[0])),))
    if name == "MAP":
        return Kind("map")
    if name not in _NAMES:
        raise NoTwin(name)
    return INTEGER if name == "BIGINT" else Kind(_NAMES[name])


def united(kinds: Iterable[Kind]) -> Kind:
    """The kind of a value that is one of several. Raises `NoTwin` where DuckDB has to say."""
    found = list(dict.fromkeys(one for one in kinds if one != NULL))
    if len(found) == 1:
        return found[0]
    if found and all(one.name in NUMBERS for one in found):
        scale, whole = max(one.scale for one in found), max(one.whole for one in found)
        if scale + whole <= MOST_DIGITS:  # else DuckDB leaves out digits after the point
            return Kind("decimal" if any(one.name == "decimal" for one in found) else "integer", scale, whole)
    raise NoTwin("kinds that differ")


def compared(left: Kind, right: Kind) -> None:
    """Raises `NoTwin` for values that DuckDB would convert before it compares them."""
    if united((left, right, left if left != NULL else right)).name not in ORDERED:
        raise NoTwin("no plain comparison")


def checked(kind_: Kind) -> Callable[[Any], Any]:
    """What passes values of a kind as DuckDB gives them, and raises `Unsure` for others. Raises `NoTwin`."""
    if kind_.name == "decimal":
        return _decimal(kind_.scale)
    if kind_.name == "list":
        of = checked(kind_.parts[0][1])
        return lambda value: None if value is None else [of(one) for one in _a(list, value)]
    if kind_.name == "record":
        fields = [(name, checked(part)) for name, part in kind_.parts]
        return lambda value: None if value is None else {name: of(_a(dict, value)[name]) for name, of in fields}
    class_ = _CLASSES.get(kind_.name)
    if class_ is None:
        raise NoTwin(kind_.name)

    def plain(value: Any) -> Any:
        return value if value is None else _a(class_, value)

    return plain


def _a(class_: type, value: Any) -> Any:
    if type(value) is not class_:
        raise Unsure
    return value


def _decimal(scale: int) -> Callable[[Any], Any]:
    unit = Decimal(1).scaleb(-scale)

    def exact(value: Any) -> Any:
        if value is None:
            return None
        if type(value) is not Decimal:
            value = Decimal(_a(int, value))
        found = value.quantize(unit)
        if found != value:
            raise Unsure
        return found

    return exact
