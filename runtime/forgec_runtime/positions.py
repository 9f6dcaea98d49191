"""Nested lists without gaps: states are compared by the ranks of their rows, not by the numbers that they have.

A call that removes the second of three rows leaves the numbers 1 and 3. In a world rows are numbered without gaps, so
that changes whose lists are, too, say the same of a state by whatever calls it came about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .schema import Key, Table

if TYPE_CHECKING:
    from .base import Base
    from .states import Changes

_Rows = dict[Key, Any]


def without_gaps(base: Base, changes: Changes) -> Changes:
    """The changes of a state, the rows of each changed nested list or bag numbered anew."""
    groups = [one for one in dict.fromkeys(_groups(base.tables, changes)) if not _is_numbered(base, *one, changes)]
    if not groups:
        return changes
    found: dict[str, _Rows] = {name: dict(rows) for name, rows in changes.items()}
    for name, parent in groups:
        _renumber(base, base.tables[name], parent, changes, found)
    return {name: rows for name, rows in found.items() if rows}


def _groups(tables: Mapping[str, Table[Any]], changes: Changes) -> Iterator[tuple[str, Key]]:
    """The outermost lists and bags that changed rows lie in: the table, and the key of the row around them."""
    for name, rows in changes.items():
        outer = _outermost(tables, tables[name])
        if outer is not None:
            count = len(outer.inherited)
            yield from ((outer.name, key[:count]) for key in rows)


def _is_numbered(base: Base, name: str, parent: Key, changes: Changes) -> bool:
    """Whether the rows of a list without others in it have no gaps: none was removed, new ones go on from the last."""
    table = base.tables[name]
    if table.nested:
        return False
    changed = {key[-1]: row for key, row in changes[name].items() if key[:-1] == parent}
    if None in changed.values():
        return False
    held = len(base.under(table, parent))
    return bool(max(changed) <= held + sum(number > held for number in changed))


def _outermost(tables: Mapping[str, Table[Any]], table: Table[Any]) -> Table[Any] | None:
    """The outermost list or bag among a table and those around it."""
    found: Table[Any] | None = None
    while True:
        found = table if table.numbered is not None else found
        if table.parent is None:
            return found
        table = tables[table.parent]


def _renumber(base: Base, table: Table[Any], parent: Key, changes: Changes, found: dict[str, _Rows]) -> None:
    """Put what is otherwise than in the world, under one row, into `found`."""
    rows: dict[str, _Rows] = {}
    _collect(base, changes, table, (parent, parent), rows)
    for inner in _family(table):
        held = found.setdefault(inner.name, {})
        for key in [key for key in held if key[: len(parent)] == parent]:
            del held[key]
        now = rows.get(inner.name, {})
        old = {inner.key_of(row): row for row in base.under(inner, parent)}
        held.update((key, row) for key, row in now.items() if row != old.get(key))
        held.update((key, None) for key in old if key not in now)


def _family(table: Table[Any]) -> Iterator[Table[Any]]:
    yield table
    for inner in table.nested:
        yield from _family(inner)


def _collect(base: Base, changes: Changes, table: Table[Any], around: tuple[Key, Key], rows: dict[str, _Rows]) -> None:
    """The rows under one row, by their new keys; `around` is the key of that row, and what that is now."""
    parent, renamed = around
    for rank, row in enumerate(_sorted(table, _under(base, table, parent, changes)), 1):
        key = (*renamed, rank if table.numbered is not None else row[table.key[-1]])
        rows.setdefault(table.name, {})[key] = {**row, **dict(zip(table.key, key, strict=True))}
        for inner in table.nested:
            _collect(base, changes, inner, (table.key_of(row), key), rows)


def _under(base: Base, table: Table[Any], parent: Key, changes: Changes) -> Iterator[Mapping[str, Any]]:
    changed = changes.get(table.name, {})
    yield from (row for row in base.under(table, parent) if table.key_of(row) not in changed)
    yield from (row for key, row in changed.items() if row is not None and key[:-1] == parent)


def _sorted(table: Table[Any], rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return sorted(rows, key=lambda row: row[table.key[-1]])
