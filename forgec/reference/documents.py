"""Rows with those that are nested in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forgec.model.spec import Result, Spec, Table
from forgec.reference.database import ReferenceDatabase, key_of
from forgec.sql.scope import Cell


def with_nested(spec: Spec, database: ReferenceDatabase, table: Table, value: Any) -> Any:
    """A row, rows or nothing, completed."""
    if value is None:
        return None
    if isinstance(value, list):
        return [with_nested(spec, database, table, row) for row in value]
    own = {column.name for column in table.own}
    first = {name: part for name, part in value.items() if name not in own}
    return {**first, **_parts(spec, database, table, value)}


def _parts(spec: Spec, database: ReferenceDatabase, table: Table, row: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in table.parts:
        nested = spec.tables.get(f"{table.name}_{part}")
        if table.column(part) is not None or nested is None:
            found[part] = row[part]
            continue
        rows = database.under(nested, key_of(table, row))
        inner = [_parts(spec, database, nested, one) for one in rows]
        key = nested.key[-1].name
        found[part] = {one[key]: one for one in inner} if nested.kind == "map" else inner
    return found


def told(spec: Spec, result: Result | None, value: Any) -> Any:
    """What a tool gives, without the NULLs of alternatives that do not apply to whole rows of a table."""
    if result is None or isinstance(result.shape, Cell) or result.shape.table is None:
        return value
    return _told(spec, spec.tables[result.shape.table], value)


def _told(spec: Spec, table: Table, value: Any) -> Any:
    if isinstance(value, list):
        return [_told(spec, table, row) for row in value]
    if value is None:
        return None
    found: dict[str, Any] = {}
    for name, part in value.items():
        column, nested = table.column(name), spec.tables.get(f"{table.name}_{name}")
        if column is not None and column.when is not None and part is None:
            continue
        if column is None and nested is not None:
            rows = part.items() if isinstance(part, dict) else ()
            part = {key: _told(spec, nested, row) for key, row in rows} if rows else _told(spec, nested, part)
        found[name] = part
    return found
