"""What columns hold, and what must be true at the end of a call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from forgec.model.spec import ELEMENT, Action, Check, Column, Parameter, Spec, Table
from forgec.reference.database import ReferenceDatabase
from forgec.reference.statements import Values
from forgec_runtime import Refusal, sql
from forgec_runtime.types import MAX_ELEMENTS, MAX_INTEGER, MAX_TEXT, Enum, Integer, List, Map, Record, Text, Type

Before = Mapping[str, Mapping[tuple[Any, ...], Mapping[str, Any]]]


def check_column(table: Table | Action, column: Column | Parameter, value: Any) -> Any:
    """`value`, when `column` of a table may hold it, or a parameter of an action. Raises `Refusal`."""
    where = f"{table.title}.{column.name}"
    if value is None:
        if not column.optional:
            raise Refusal(f"{where} must not be null")
    elif isinstance(column, Column) or not isinstance(column.type, Record | List | Map):
        for problem in _problems(column.type, value):
            raise Refusal(f"{where}{problem}")
    return value


def _problems(type_: Type, value: Any) -> Iterator[str]:
    """What is wrong with a value, or inside of it, each mistake with its place."""
    if isinstance(type_, Enum):
        if value not in type_.values:
            yield f" must be one of {', '.join(type_.values)}"
    elif isinstance(type_, Integer) and abs(value) > MAX_INTEGER:
        yield " is out of range"
    elif isinstance(type_, Text) and len(value) > MAX_TEXT:
        yield " is too long"
    elif isinstance(type_, Record):
        for field in type_.fields:
            if value[field.name] is not None:
                yield from (f".{field.name}{problem}" for problem in _problems(field.type, value[field.name]))
            elif not field.optional:
                yield f".{field.name} must not be null"
    elif isinstance(type_, List | Map):
        kind = "elements" if isinstance(type_, List) else "entries"
        if len(value) > MAX_ELEMENTS:
            yield f" must have at most {MAX_ELEMENTS} {kind}"
        parts: Iterable[tuple[Any, Any]] = value.items() if isinstance(type_, Map) else enumerate(value, 1)
        for place, part in parts:
            if isinstance(type_, Map):
                yield from (f": the key {place[:100]!r}{problem}" for problem in _problems(type_.key, place))
            shown = repr(place[:100]) if isinstance(type_, Map) else place
            if part is None:
                yield f"[{shown}] must not be null"
            else:
                yield from (f"[{shown}]{problem}" for problem in _problems(type_.of, part))


def failures(check: Check, database: ReferenceDatabase, values: Values) -> Iterator[str]:
    """The text of a check that is false, once for each element where it is about those of a list."""
    if check.over is None:
        if database.holds(check.sql.expression, values) is False:
            yield check.text
        return
    for place, element in enumerate(database.value(check.over.expression, values) or (), 1):
        if database.holds(check.sql.expression, {ELEMENT: element}) is False:
            yield f"{check.text}[{place}]{check.rest}"


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
            yield f"{table.title}: {column.name} {sql.text(value)} is already taken"
        if column.references and database.find(spec.tables[column.references], (value,)) is None:
            yield f"Unknown {column.name}: {sql.text(value)}"
    if table.parent is not None and old is None and len(table.inherited) > 1:
        names = [column.name for column in table.inherited]
        parent = tuple(row[name] for name in names)
        if database.find(spec.tables[table.parent], parent) is None:
            yield f"Unknown {', '.join(names)}: {sql.text(parent)}"
    for tie in table.ties:
        key = tuple(row[name] for name in tie.columns)
        if None in key or (old is not None and tuple(old[name] for name in tie.columns) == key):
            continue
        if database.find(spec.tables[tie.table], key) is None:
            yield f"Unknown {', '.join(tie.columns)}: {sql.text(key)}"


def _uses(spec: Spec, database: ReferenceDatabase, table: Table, key: tuple[Any, ...]) -> Iterator[str]:
    for other in spec.tables.values():
        for column in other.columns:
            if column.inherited or column.references != table.name:
                continue
            if database.count(other, column.name, key[0]):
                yield f"{table.title}: {sql.text(key)} is still used by {other.title}"
    for other in spec.tables.values():
        for tie in other.ties:
            held = (tuple(row[name] for name in tie.columns) for row in database.table(other).values())
            if tie.table == table.name and key in held:
                yield f"{table.title}: {sql.text(key)} is still used by {other.title}"
