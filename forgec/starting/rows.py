"""The rows of a draft's world: few enough to read, and closed under references."""

from __future__ import annotations

from collections.abc import Mapping

from forgec.diagnostics import counted
from forgec.starting.drafted import Draft, DraftTable
from forgec.starting.found import Found, FoundTable
from forgec.starting.values import literal

MAX_ROWS = 50
"""Rows of a table that are written into a draft."""

Literals = tuple[str | None, ...]


def choose_rows(draft: Draft, found: Found, most: int) -> None:
    """Give each drafted table its rows: at most `most`, the first ones whose references lead to chosen rows."""
    keys: dict[str, set[str | None]] = {}
    sources = dict(zip((table.name for table in draft.tables), found.tables, strict=True))
    for table in _in_order(draft.tables):
        source = sources[table.name]
        table.rows = _closed(table, _literals(table, source), keys, most)
        keys[table.name] = {row[_key(table)] for row in table.rows}
        table.row_notes = _notes(table, source)


def _key(table: DraftTable) -> int:
    """Where the key of a table stands, or its first part."""
    return next(i for i, column in enumerate(table.columns) if column.key)


def _in_order(tables: list[DraftTable]) -> list[DraftTable]:
    """Tables that are referred to first."""
    done: list[DraftTable] = []
    waiting = list(tables)
    while waiting:
        names = {table.name for table in waiting}
        ready = [table for table in waiting if not _targets(table) & names]
        done += ready
        waiting = [table for table in waiting if table not in ready]
    return done


def _targets(table: DraftTable) -> set[str]:
    return {column.references for column in table.columns if column.references} - {table.name}


def _literals(table: DraftTable, source: FoundTable) -> list[Literals]:
    """The rows in which every value is one of its column."""
    found = []
    for number, row in enumerate(source.rows, 1):
        values: list[str | None] = []
        for column in table.columns:
            text = str(number) if column.place is None else row[column.place]
            made = column.default if text is None and not column.optional else None
            made = made if text is None else literal(column.type, text)
            if made is None and (text is not None or not column.optional):
                break
            values.append(made)
        else:
            found.append(tuple(values))
    return _distinct(table, found)


def _distinct(table: DraftTable, rows: list[Literals]) -> list[Literals]:
    """The rows but those that repeat a key or a unique value."""
    groups = [[i for i, column in enumerate(table.columns) if column.key]]
    groups += [[i] for i, column in enumerate(table.columns) if column.unique and not column.key]
    seen: set[tuple[int, Literals]] = set()
    kept = []
    for row in rows:
        marks = [(group[0], tuple(row[i] for i in group)) for group in groups]
        marks = [mark for mark in marks if None not in mark[1]]
        if seen.isdisjoint(marks):
            seen.update(marks)
            kept.append(row)
    return kept


def _closed(table: DraftTable, pool: list[Literals], keys: Mapping[str, set[str | None]], most: int) -> list[Literals]:
    ends = [(i, column.references) for i, column in enumerate(table.columns) if column.references is not None]
    outward = [(i, keys[target]) for i, target in ends if target != table.name]
    rows = [row for row in pool if all(row[i] is None or row[i] in known for i, known in outward)][:most]
    own = [i for i, target in ends if target == table.name]
    while True:
        known = {row[_key(table)] for row in rows}
        closed = [row for row in rows if all(row[i] is None or row[i] in known for i in own)]
        if len(closed) == len(rows):
            return rows
        rows = closed


def _notes(table: DraftTable, source: FoundTable) -> list[str]:
    if len(table.rows) == source.count:
        return []
    why = ", with references to rows that are here" if any(c.references for c in table.columns) else ""
    return [f"{len(table.rows):,} of {counted(source.count, 'row')}: the first whole ones{why}"]
