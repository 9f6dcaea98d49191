"""The types of columns, parameters and results, shared by the compiler and the runtime.

A type says three things about its values: the DuckDB type that holds them (`sql`), the Python type that
generated code sees (`python`), and the JSON an agent writes and reads (`json_schema`, `decode`).
"""

from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import Any

MAX_INTEGER = 2**53 - 1
"""Integers are those every JSON reader keeps exactly; their sums and differences then fit 64 bits."""

MAX_TEXT = 65_536
"""The longest text a column or an argument holds, in characters."""


MAX_ELEMENTS = 1_000
"""How many elements a list, and entries a map, in a column or an argument has at most."""

MAX_NAMED = 5
"""How many names that do not exist are told to an agent, and how many wrong elements of a list."""

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class Mismatch(ValueError):
    """A JSON value that is not of the wanted type; its text says what was wanted."""

    def __init__(self, wanted: str, problems: Iterable[tuple[str, str]] = ()) -> None:
        super().__init__(wanted)
        self.problems = tuple(problems) or (("", f"must be {wanted}"),)
        """Where inside the value, and what is wrong there."""

    def about(self, name: str) -> list[str]:
        """All that is wrong with the value that has this name."""
        return [f"{name}{place} {what}" for place, what in self.problems]


class Type:
    """What all types have; see the module's docstring."""

    sql: str
    python: str

    def json_schema(self) -> dict[str, Any]:
        raise NotImplementedError

    def decode(self, value: object) -> Any:
        """The Python value of a JSON `value`. Raises `Mismatch`."""
        raise NotImplementedError

    def __deepcopy__(self, memo: object) -> Type:
        """Itself: a type never changes, and trees that are copied hold many."""
        return self


@dataclass(frozen=True)
class Text(Type):
    sql = "VARCHAR"
    python = "str"

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string"}

    def decode(self, value: object) -> str:
        if type(value) is not str:
            raise Mismatch("a string")
        if len(value) > MAX_TEXT:
            raise Mismatch(f"a string of at most {MAX_TEXT} characters")
        if ("\x00" in value) if value.isascii() else _UNSTORABLE.search(value):  # most are, and a search costs
            raise Mismatch("a string without NUL and lone surrogates")
        return value

    def __str__(self) -> str:
        return "text"


@dataclass(frozen=True)
class Integer(Type):
    sql = "BIGINT"
    python = "int"

    def json_schema(self) -> dict[str, Any]:
        return {"type": "integer"}

    def decode(self, value: object) -> int:
        if type(value) is int:
            if -MAX_INTEGER <= value <= MAX_INTEGER:
                return value
            raise Mismatch(f"an integer between -{MAX_INTEGER} and {MAX_INTEGER}")
        if type(value) is float and value.is_integer() and abs(value) <= MAX_INTEGER:
            return int(value)
        raise Mismatch("an integer")

    def __str__(self) -> str:
        return "integer"


@dataclass(frozen=True)
class Decimal(Type):
    """Exact numbers of `precision` digits in all, `scale` of them after the point."""

    precision: int
    scale: int
    python = "Decimal"

    @property
    def sql(self) -> str:  # type: ignore[override]
        return f"DECIMAL({self.precision}, {self.scale})"

    @cached_property
    def _quantum(self) -> decimal.Decimal:
        return decimal.Decimal(1).scaleb(-self.scale)

    def json_schema(self) -> dict[str, Any]:
        return {"type": "number"}

    def decode(self, value: object) -> decimal.Decimal:
        """Numbers, and strings that spell one, with at most `scale` decimals: nothing is rounded away."""
        wanted = f"a number with at most {self.scale} decimals" if self.scale else "a whole number"
        if type(value) not in (int, float, str) or (type(value) is str and not _NUMBER.fullmatch(value)):
            raise Mismatch(wanted)
        if type(value) is int and abs(value) > 10**38:
            raise Mismatch(f"a number below {10 ** (self.precision - self.scale)}")
        exact = decimal.Decimal(str(value))
        if not exact.is_finite() or abs(exact.adjusted()) > 40:
            if exact != 0:
                raise Mismatch(wanted)
            exact = decimal.Decimal(0)
        with decimal.localcontext(decimal.Context(prec=100)):
            quantised = exact.quantize(self._quantum)
            if quantised != exact:
                raise Mismatch(wanted)
            if abs(quantised) >= decimal.Decimal(10) ** (self.precision - self.scale):
                raise Mismatch(f"a number below {10 ** (self.precision - self.scale)}")
        return quantised.copy_abs() if quantised.is_zero() else quantised

    def __str__(self) -> str:
        return f"decimal({self.precision}, {self.scale})"


_NUMBER = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?")


@dataclass(frozen=True)
class Double(Type):
    sql = "DOUBLE"
    python = "float"

    def json_schema(self) -> dict[str, Any]:
        return {"type": "number"}

    def decode(self, value: object) -> float:
        if type(value) not in (int, float):
            raise Mismatch("a number")
        assert isinstance(value, int | float)
        if abs(value) > 1e300 or value != value:
            raise Mismatch("a finite number")
        return float(value)

    def __str__(self) -> str:
        return "double"


@dataclass(frozen=True)
class Boolean(Type):
    sql = "BOOLEAN"
    python = "bool"

    def json_schema(self) -> dict[str, Any]:
        return {"type": "boolean"}

    def decode(self, value: object) -> bool:
        if type(value) is not bool:
            raise Mismatch("true or false")
        return value

    def __str__(self) -> str:
        return "boolean"


@dataclass(frozen=True)
class Date(Type):
    sql = "DATE"
    python = "date"

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string", "format": "date"}

    def decode(self, value: object) -> datetime.date:
        if type(value) is not str or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
            raise Mismatch("a date such as 2025-03-01")
        try:
            return datetime.date.fromisoformat(value)
        except ValueError:
            raise Mismatch("a date such as 2025-03-01") from None

    def __str__(self) -> str:
        return "date"


@dataclass(frozen=True)
class Timestamp(Type):
    sql = "TIMESTAMP"
    python = "datetime"

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string", "format": "date-time"}

    def decode(self, value: object) -> datetime.datetime:
        pattern = r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?"
        if type(value) is not str or not re.fullmatch(pattern, value):
            raise Mismatch("a time such as 2025-03-01T09:00:00")
        try:
            return datetime.datetime.fromisoformat(value)
        except ValueError:
            raise Mismatch("a time such as 2025-03-01T09:00:00") from None

    def __str__(self) -> str:
        return "timestamp"


@dataclass(frozen=True)
class Enum(Type):
    """One of `values`; held as text, so that it sorts as text."""

    name: str
    values: tuple[str, ...]
    doc: str = field(default="", compare=False)
    sql = "VARCHAR"
    python = "str"

    def json_schema(self) -> dict[str, Any]:
        return described({"type": "string", "enum": list(self.values)}, self.doc)

    def decode(self, value: object) -> str:
        if value not in self.values:
            raise Mismatch(f"one of {', '.join(self.values)}")
        assert isinstance(value, str)
        return value

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Field:
    """A named part of a record; `optional` ones may be null."""

    name: str
    type: Type
    optional: bool = False
    doc: str = field(default="", compare=False)

    def json_schema(self) -> dict[str, Any]:
        return described(nullable(self.type.json_schema(), self.optional), self.doc)


@dataclass(frozen=True)
class Record(Type):
    """Named fields; `name` is the declared name, empty for a record written in place."""

    name: str
    fields: tuple[Field, ...]
    doc: str = field(default="", compare=False)
    python = "dict[str, Any]"

    @property
    def sql(self) -> str:  # type: ignore[override]
        return "STRUCT(" + ", ".join(f'"{f.name}" {f.type.sql}' for f in self.fields) + ")"

    def field(self, name: str) -> Field | None:
        return next((f for f in self.fields if f.name == name), None)

    def json_schema(self) -> dict[str, Any]:
        schema = {
            "type": "object",
            "properties": {f.name: f.json_schema() for f in self.fields},
            "required": [f.name for f in self.fields if not f.optional],
            "additionalProperties": False,
        }
        return described(schema, self.doc)

    def decode(self, value: object) -> dict[str, Any]:
        """The fields, those that are left out as None. A `Mismatch` tells all mistakes."""
        if not isinstance(value, Mapping):
            raise Mismatch(self._wanted())
        decoded: dict[str, Any] = {}
        problems: list[tuple[str, str]] = []
        for f in self.fields:
            given = value.get(f.name)
            if given is None and not f.optional:
                problems.append((f".{f.name}", "must not be null" if f.name in value else "is missing"))
                continue
            try:
                decoded[f.name] = None if given is None else f.type.decode(given)
            except Mismatch as mismatch:
                problems.extend((f".{f.name}{place}", what) for place, what in mismatch.problems)
        names = [f.name for f in self.fields]
        unknown = [str(name) for name in value if name not in names]
        problems.extend(("", f"has no field {name[:100]!r}{did_you_mean(name, names)}") for name in unknown[:MAX_NAMED])
        if len(unknown) > MAX_NAMED:
            problems.append(("", f"has none of {len(unknown) - MAX_NAMED} others"))
        if problems:
            raise Mismatch(self._wanted(), problems)
        return decoded

    def _wanted(self) -> str:
        """The fields that an object must have, and those that it may have."""
        must = ", ".join(f.name for f in self.fields if not f.optional)
        may = ", ".join(f.name for f in self.fields if f.optional)
        if not must:
            return f"an object with any of {may}"
        return f"an object with {must}" + (f", and optionally {may}" if may else "")

    def __str__(self) -> str:
        return self.name or "{ " + ", ".join(f"{f.name} {f.type}" for f in self.fields) + " }"


@dataclass(frozen=True)
class List(Type):
    """Values of one type, in order; none of them is null."""

    of: Type

    @property
    def sql(self) -> str:  # type: ignore[override]
        return f"{self.of.sql}[]"

    @property
    def python(self) -> str:  # type: ignore[override]
        return f"list[{self.of.python}]"

    def json_schema(self) -> dict[str, Any]:
        return {"type": "array", "items": self.of.json_schema(), "maxItems": MAX_ELEMENTS}

    def decode(self, value: object) -> list[Any]:
        """The elements. A `Mismatch` tells the first mistakes, counting elements from 1 as SQL does."""
        if not isinstance(value, list):
            raise Mismatch("an array")
        if len(value) > MAX_ELEMENTS:
            raise Mismatch("an array", [("", f"must have at most {MAX_ELEMENTS} elements")])
        try:
            return list(map(self.of.decode, value))
        except Mismatch:
            places = ((f"[{position}]", element) for position, element in enumerate(value, 1))
            return _decoded(self.of, places, "an array")

    def __str__(self) -> str:
        return f"{self.of}[]"


@dataclass(frozen=True)
class Map(Type):
    """Values of one type by keys, which are texts or those of an enum; sorted by key, so that equal maps are alike."""

    key: Text | Enum
    of: Type

    @property
    def sql(self) -> str:  # type: ignore[override]
        return f"MAP({self.key.sql}, {self.of.sql})"

    @property
    def python(self) -> str:  # type: ignore[override]
        return f"dict[str, {self.of.python}]"

    def json_schema(self) -> dict[str, Any]:
        schema = {"type": "object", "additionalProperties": self.of.json_schema(), "maxProperties": MAX_ELEMENTS}
        return {**schema, "propertyNames": self.key.json_schema()} if isinstance(self.key, Enum) else schema

    def decode(self, value: object) -> dict[str, Any]:
        """The entries by key. A `Mismatch` tells the first mistakes."""
        if not isinstance(value, Mapping):
            raise Mismatch("an object")
        if len(value) > MAX_ELEMENTS:
            raise Mismatch("an object", [("", f"must have at most {MAX_ELEMENTS} entries")])
        for key in value:
            try:
                self.key.decode(key)
            except Mismatch as mismatch:
                raise Mismatch("an object", [("", f"has a key {str(key)[:100]!r}, which must be {mismatch}")]) from None
        keys = sorted(value)
        entries = _decoded(self.of, ((f"[{key[:100]!r}]", value[key]) for key in keys), "an object")
        return dict(zip(keys, entries, strict=True))

    def __str__(self) -> str:
        return f"map({self.key}, {self.of})"


def _decoded(type_: Type, places: Iterable[tuple[str, object]], wanted: str) -> list[Any]:
    """The values at these places, all of one type. Raises `Mismatch` with the first of those that are not."""
    values: list[Any] = []
    problems: list[tuple[str, str]] = []
    wrong = 0
    for place, value in places:
        try:
            if value is None:
                raise Mismatch(wanted, [("", "must not be null")])
            values.append(type_.decode(value))
        except Mismatch as mismatch:
            wrong += 1
            if wrong <= MAX_NAMED:
                problems.extend((f"{place}{inner}", what) for inner, what in mismatch.problems)
    if wrong > MAX_NAMED:
        problems.append(("", f"has {wrong - MAX_NAMED} more that do not fit"))
    if problems:
        raise Mismatch(wanted, problems)
    return values


def holds_map(type_: Type) -> bool:
    """Whether a type is a map, or has one somewhere inside."""
    if isinstance(type_, Record):
        return any(holds_map(field.type) for field in type_.fields)
    return isinstance(type_, Map) or (isinstance(type_, List) and holds_map(type_.of))


def described(schema: dict[str, Any], doc: str) -> dict[str, Any]:
    """`schema` with a text of its own, where there is one."""
    return {**schema, "description": doc} if doc else schema


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """A hint for an agent that uses a name which does not exist; empty when no other is close."""
    close = get_close_matches(name[:100], sorted(names), n=1)
    return f" (did you mean {close[0]}?)" if close else ""


def nullable(schema: dict[str, Any], optional: bool) -> dict[str, Any]:
    """`schema`, also allowing null where the value is optional."""
    if not optional:
        return schema
    if "enum" in schema:
        return {**schema, "type": [schema["type"], "null"], "enum": [*schema["enum"], None]}
    return {**schema, "type": [schema["type"], "null"]}
