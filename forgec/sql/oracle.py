"""DuckDB over the empty schema, as the judge of types."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from forgec.sql.allow import MAX_FIELDS
from forgec_runtime.engine import EngineError, connect, lock
from forgec_runtime.types import (
    Boolean,
    Date,
    Decimal,
    Double,
    Field,
    Integer,
    List,
    Map,
    Record,
    Text,
    Timestamp,
    Type,
)

if TYPE_CHECKING:
    from forgec.model.spec import Table

_INTEGERS = {
    "TINYINT",
    "SMALLINT",
    "INT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
}
_SIMPLE: dict[str, Type] = {
    "VARCHAR": Text(), "TEXT": Text(), "DOUBLE": Double(), "FLOAT": Double(), "BOOLEAN": Boolean(), "DATE": Date(),
    "TIMESTAMP": Timestamp(),
}  # fmt: skip


class Rejected(Exception):
    """DuckDB cannot bind or compute a statement; the text is its reason, in one line."""


class Oracle:
    """A hardened in-memory database with the tables of one spec, all empty."""

    def __init__(self, tables: Iterable[Table] = ()) -> None:
        self.connection = connect(memory="512MB", seconds=2)
        columns = {
            table.name: ", ".join(f'"{column.name}" {column.type.sql}' for column in table.columns) for table in tables
        }
        self.connection.execute("; ".join(f'create table "{name}" ({text})' for name, text in columns.items()))
        lock(self.connection)
        self._described: dict[str, list[tuple[Any, ...]]] = {}

    def describe(self, query: str) -> list[tuple[str, Type | None]]:
        """Names and types of a query's columns; the type is None for NULL, and for what has a bare NULL in it.

        Raises `Rejected`.
        """
        if query not in self._described:  # a spec asks for the same again and again: what a text of the call is
            self._described[query] = self._run(f"describe {query}")
        described = [(name, text) for name, text, *_ in self._described[query]]
        if any(text.count(", ") > 2 * MAX_FIELDS for _, text in described):  # a map, too, has one
            raise Rejected(f"a record of this holds more than {MAX_FIELDS:,} fields")
        columns = [(name, text, parse_type(text)) for name, text in described]
        for _, text, type_ in columns:
            if type_ is None and '"NULL"' not in text:
                raise Rejected(f"no column and no value of a spec holds {text}")
        return [(name, type_) for name, _, type_ in columns]

    def compute(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query over constants. Raises `Rejected`."""
        return self._run(query)

    def _run(self, statement: str) -> list[tuple[Any, ...]]:
        try:
            return self.connection.execute(statement).fetchmany(100_000)
        except EngineError as error:
            raise Rejected(_reason(error)) from None


def _reason(error: EngineError) -> str:
    """The first line of DuckDB's message, without its category."""
    line = str(error).strip().splitlines()[0]
    line = re.sub(r"^[A-Z][A-Za-z ]* Error: ", "", line)
    return re.sub(r"\s+Candidate .*|\s*You might need to add explicit type casts\.?", "", line).strip()


def parse_type(text: str) -> Type | None:
    """The type that DuckDB calls `text`; every kind of integer is an `Integer`."""
    if text.endswith("[]"):
        of = parse_type(text[:-2])
        return List(of) if of is not None else None
    if text in _INTEGERS:
        return Integer()
    decimal = re.fullmatch(r"DECIMAL\((\d+),\s*(\d+)\)", text)
    if decimal:
        return Decimal(int(decimal[1]), int(decimal[2]))
    if text.startswith("STRUCT("):
        return _parse_struct(text)
    if text.startswith("MAP("):
        key, of = map(parse_type, _split(text[len("MAP(") : -1]))
        return Map(key, of) if isinstance(key, Text) and of is not None else None
    return _SIMPLE.get(text)


def _parse_struct(text: str) -> Type | None:
    fields: list[Field] = []
    for part in _split(text[len("STRUCT(") : -1]):
        name, _, rest = part.partition(" ")
        of = parse_type(rest)
        if of is None:
            return None
        fields.append(Field(name.strip('"'), of, True))
    return Record("", tuple(fields))


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()]
