"""What columns hold, and what must be true at the end of a call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from forgec.model.spec import Column, Spec, Table
from forgec.reference.database import ReferenceDatabase
from forgec_runtime import Refusal, sql
from forgec_runtime.types import MAX_INTEGER, MAX_TEXT, Enum, Integer, Text

Before = Mapping[str, Mapping[tuple[Any, ...], Mapping[str, Any]]]


def check_column(table: Table, column: Column, value: Any) -> Any:
    """`value`, when `column` may hold it. Raises `Refusal`."""
    where = f"{table.name}.{column.name}"
    if value is None:
        if not column.optional:
            raise Refusal(f"{where} must not be null")
    elif isinstance(column.type, Enum):
        if value not in column.type.values:
            raise Refusal(f"{where} must be one of {', '.join(column.type.values)}")
    elif isinstance(column.type, Integer) and abs(value) > MAX_INTEGER:
        raise Refusal(f"{where} is out of range")
    elif isinstance(column.type, Text) and len(value) > MAX_TEXT:
        raise Refusal(f"{where} is too long")
    return value


def violations(spec: Spec, database: ReferenceDatabase, before: Before) -> Iterator[str]:
    """The constraints that the changes since `before` break, in the order in which they are looked at."""
    changed: set[str] = set()
    for table in spec.tables.values():
        if table.name not in before:
            continue
        old, new = before[table.name], database.table(table)
        if old != new:
            changed.add(table.name)
        for key, row in new.items():
            yield from _row_violations(spec, database, table, old.get(key), row)
        for key in sorted(set(old) - set(new)):
            yield from _uses(spec, database, table, key)
    for invariant in spec.invariants:
        if invariant.sql.reads & changed and database.holds(invariant.sql.expression, {}) is not True:
            yield invariant.doc or invariant.name


def _row_violations(
    spec: Spec, database: ReferenceDatabase, table: Table, old: Mapping[str, Any] | None, row: Mapping[str, Any]
) -> Iterator[str]:
    for column in table.columns:
        value = row[column.name]
        if value is None or (old is not None and old[column.name] == value):
            continue
        if column.unique and database.count(table, column.name, value) > 1:
            yield f"{table.name}: {column.name} {sql.text(value)} is already taken"
        if column.references and database.find(spec.tables[column.references], (value,)) is None:
            yield f"Unknown {column.name}: {sql.text(value)}"


def _uses(spec: Spec, database: ReferenceDatabase, table: Table, key: tuple[Any, ...]) -> Iterator[str]:
    for other in spec.tables.values():
        for column in other.columns:
            if column.references == table.name and database.count(other, column.name, key[0]):
                yield f"{table.name}: {sql.text(key)} is still used by {other.name}"
