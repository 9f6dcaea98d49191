"""Rows of JSON into DuckDB's tables: checked a column at a time, and converted by DuckDB itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import types as t
from .encoding import encode
from .engine import Connection
from .results import to_json
from .schema import Column, Table
from .types import Mismatch

_CHUNK = 20_000
"""Rows handed over at once: more save nothing, and take memory."""


def fill(connection: Connection, table: Table[Any], rows: Sequence[Mapping[str, Any]]) -> None:
    """Create a table with these rows. Raises `Mismatch` and `KeyError` for what its columns cannot hold."""
    columns = ", ".join(f'"{column.name}" {column.type.sql}' for column in table.columns)
    connection.execute(f'create table "{table.name}" ({columns})')
    lists = ", ".join(
        f"unnest(from_json_strict(${i}, '{to_json([_structure(column.type)])}'))"
        for i, column in enumerate(table.columns, 1)
    )
    for start in range(0, len(rows), _CHUNK):
        part = rows[start : start + _CHUNK]
        values = [to_json(_checked(table, column, part)) for column in table.columns]
        connection.execute(f'insert into "{table.name}" select {lists}', values)


def _structure(type_: t.Type) -> Any:
    """The type as `from_json` wants to be told of it."""
    if isinstance(type_, t.Record):
        return {f.name: _structure(f.type) for f in type_.fields}
    return [_structure(type_.of)] if isinstance(type_, t.List) else type_.sql  # a map is told as DuckDB names it


def _checked(table: Table[Any], column: Column, rows: Sequence[Mapping[str, Any]]) -> list[Any]:
    """The values of a column, each as `encode` writes it."""
    values = [row[column.name] for row in rows]
    type_, decode = column.type, column.type.decode
    kinds = set(map(type, values))
    if type(None) in kinds and not column.optional:
        raise Mismatch(f"{table.name}.{column.name} is null")
    if kinds <= {str, type(None)}:  # most texts occur more than once
        known = {text: encode(type_, decode(text)) for text in dict.fromkeys(values) if text is not None}
        return [known.get(value) for value in values]
    return [None if value is None else encode(type_, decode(value)) for value in values]
