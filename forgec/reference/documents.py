"""Rows with those that are nested in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forgec.model.spec import Spec, Table
from forgec.reference.database import ReferenceDatabase, key_of


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
