"""What happened between two episodes of one world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from forgec_runtime import Episode, Table


@dataclass(frozen=True)
class Change:
    """One row that was added, removed or changed; `columns` are those that changed, with the old and the new value.

    `row` is the row afterwards, of a removed one what it was.
    """

    kind: Literal["added", "removed", "changed"]
    table: str
    key: Any
    row: dict[str, Any]
    key_columns: tuple[str, ...]
    columns: tuple[tuple[str, Any, Any], ...] = ()


def changes(before: Episode, after: Episode) -> list[Change]:
    """The rows that differ, table by table as declared, in the order of their keys."""
    found: list[Change] = []
    for name, table in after.base.tables.items():
        old, new = ((episode.overlay or {}).get(name, {}) for episode in (before, after))
        keys = sorted({*old, *new})
        base = after.base.rows(table, keys) if keys else {}
        for key in keys:
            one = _change(table, key, old.get(key, base.get(key)), new.get(key, base.get(key)))
            if one is not None:
                found.append(one)
    return found


def _change(table: Table[Any], key: Any, old: dict[str, Any] | None, new: dict[str, Any] | None) -> Change | None:
    if old is None:
        return None if new is None else Change("added", table.title, key, new, table.key)
    if new is None:
        return Change("removed", table.title, key, old, table.key)
    columns = tuple((name, old[name], value) for name, value in new.items() if value != old[name])
    return Change("changed", table.title, key, new, table.key, columns) if columns else None


def broken_since(before: Episode, after: Episode) -> list[str]:
    """The audited rules that were broken since `before`, an earlier state of the same episode."""
    return after.broken_rules[len(before.broken_rules) :]


def rows_of(episode: Episode, table: str) -> dict[Any, dict[str, Any]]:
    """The rows of one table as they are now, in the order of their keys."""
    rows = {**episode.base.all_rows(episode.base.tables[table]), **(episode.overlay or {}).get(table, {})}
    return {key: rows[key] for key in sorted(rows) if rows[key] is not None}
