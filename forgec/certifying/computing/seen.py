"""The rows that a call sees: those of its world, and those that were changed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from forgec_runtime.base import Base
from forgec_runtime.query import Changes


class Seen:
    """The rows of tables that are in memory as a whole."""

    def __init__(self, base: Base, changes: Mapping[str, Changes]) -> None:
        self.base = base
        self.changes = changes
        self._rows: dict[str, Collection[Any]] = {}

    def rows(self, name: str) -> Collection[Any]:
        """All rows of a table."""
        changed, rows = self.changes.get(name), self.base.rows_of[name].by_key
        if not changed:
            return rows.values()
        found = self._rows.get(name)
        if found is None:
            kept = [row for key, row in rows.items() if key not in changed]
            found = self._rows[name] = kept + [row for row in changed.values() if row is not None]
        return found

    def where(self, name: str, column: str, value: Any) -> Collection[Any]:
        """The rows that have a value in a column; none have NULL."""
        if value is None:
            return ()
        table = self.base.tables[name]
        rows, changed = self.base.index(table, column).get(value, ()), self.changes.get(name)
        if not changed:
            return rows
        kept = [row for row in rows if table.key_of(row) not in changed]
        return kept + [row for row in changed.values() if row is not None and row[column] == value]

    def touched(self, name: str, column: str) -> Iterator[Any]:
        """What changed rows have in a column, and had before."""
        rows = self.base.rows_of[name].by_key
        for key, row in self.changes.get(name, {}).items():
            for one in (row, rows.get(key)):
                if one is not None and one[column] is not None:
                    yield one[column]
