"""The rows of a world: they lie in DuckDB once, and never change; those in use are decoded, for all episodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple

from .documents import Document
from .engine import Connection, fetch, lock
from .limits import row_weight
from .schema import Index, Key, Table

WHOLE_TABLE = 10_000
"""Tables of at most so many rows are decoded when a world is opened; rows of larger ones when they are first needed."""
MAX_CACHED = 100_000
"""Decoded rows kept of a larger table."""


class Origin(NamedTuple):
    """Where an episode belongs; `schema` and `rows` are digests of the declarations and of the files."""

    environment: str
    world: str
    schema: str
    rows: str


class TableRows:
    """What is known of the rows of one table."""

    __slots__ = ("by_key", "documents", "heaviest", "indexes", "whole")

    def __init__(self, whole: bool) -> None:
        self.whole = whole
        """Whether all rows are known; else those that were asked for, with None for a key that has none."""
        self.by_key: dict[Key, Any] = {}
        self.indexes: dict[str | tuple[str, ...], dict[Any, list[Any]]] = {}
        """By the name of a column or the SQL of expressions."""
        self.documents: dict[Key, Document] = {}
        """What `documents` has put together of rows and those nested in them."""
        self.heaviest = 0
        """What the heaviest of them takes."""

    def trim(self) -> None:
        """Forget rows beyond `MAX_CACHED`, those fetched first."""
        if self.whole:
            return
        if len(self.by_key) > MAX_CACHED:
            for key in list(islice(self.by_key, len(self.by_key) - MAX_CACHED)):
                del self.by_key[key]
        for index in self.indexes.values():
            _shorten(index)


def _shorten(index: dict[Any, list[Any]]) -> None:
    """Forget the values of an index that were asked for first, until it is no larger than a cache."""
    held = len(index) + sum(map(len, index.values()))
    for value in list(index):
        if held <= MAX_CACHED:
            return
        held -= 1 + len(index.pop(value))


class Base:
    """The immutable rows of one world: a database for queries, and decoded rows shared by all episodes."""

    def __init__(
        self, tables: Mapping[str, Table[Any]], connection: Connection, origin: Origin, serials: dict[str, int]
    ) -> None:
        self.tables = tables
        self.connection = connection
        self.origin = origin
        self.serials = serials
        """The last number of each table whose keys the engine makes."""
        self.rows_of: dict[str, TableRows] = {}
        lock(connection)
        for name, table in tables.items():
            ((count,),) = fetch(connection, f'select count(*) from "{name}"')
            known = self.rows_of[name] = TableRows(count <= WHOLE_TABLE or not table.key)
            if known.whole:
                known.by_key = self._read(table)

    def fetch(self, table: Table[Any], keys: Iterable[Key]) -> None:
        """Decode the rows with these keys into the cache; a key without a row is remembered, too. One execution."""
        wanted = list(dict.fromkeys(keys))
        if len(wanted) == len(table.key) == 1:  # planned in half the time
            statement, parts = f'select {table.select_list} from "{table.name}" where {table.key_list} = $1', wanted
        else:
            parts = [wanted] if len(table.key) == 1 else [list(part) for part in zip(*wanted, strict=True)]
            lists = ", ".join(f"unnest(${i}::{sql}[]) as k{i}" for i, sql in enumerate(table.key_types, 1))
            same = " and ".join(f't."{name}" = k.k{i}' for i, name in enumerate(table.key, 1))
            columns = ", ".join(f't."{name}"' for name in table.names)
            statement = f'select {columns} from "{table.name}" as t join (select {lists}) as k on {same}'
        found: dict[Key, Any] = dict.fromkeys(wanted)
        for row in self._decoded(table, self.connection.execute(statement, parts).fetchall()):
            found[table.key_of(row)] = row
        self.rows_of[table.name].by_key.update(found)  # not before: what could not be read is not known to be absent

    def index(self, table: Table[Any], column: str | Index) -> Mapping[Any, Sequence[Any]]:
        """The rows by what they have in a column: of a table in memory all of them, of others those fetched."""
        known = self.rows_of[table.name]
        by = column if isinstance(column, str) else column.sql
        index = known.indexes.get(by)
        if index is None:
            index = known.indexes[by] = {}
            if known.whole:
                of = itemgetter(column) if isinstance(column, str) else column.of
                for row in known.by_key.values():
                    index.setdefault(of(row), []).append(row)
        return index

    def fetch_where(self, table: Table[Any], column: str | Index, values: Iterable[Any]) -> None:
        """Decode the rows that have one of these values in a column into its index. One execution."""
        wanted = list(dict.fromkeys(values))
        found: dict[Any, list[Any]] = {value: [] for value in wanted}
        by = column if isinstance(column, Index) else Index(f'"{column}"', table.types[column], itemgetter(column))
        if isinstance(by.type, tuple):
            lists = [list(part) for part in zip(*wanted, strict=True)]
            unnested = ", ".join(f"unnest(${i}::{type_.sql}[]) as __{i}" for i, type_ in enumerate(by.type, 1))
            same = " and ".join(f"{sql} = __{i}" for i, sql in enumerate(by.sql, 1))
            matching = f"exists (select 1 from (select {unnested}) where {same})"
        else:
            lists, matching = [wanted], f"{by.sql} in (select unnest($1::{by.type.sql}[]))"
        statement = f'select {table.select_list} from "{table.name}" where {matching} order by {table.key_list}'
        for row in self._decoded(table, self.connection.execute(statement, lists).fetchall()):
            found[by.of(row)].append(row)
        self.rows_of[table.name].indexes[column if isinstance(column, str) else column.sql].update(found)

    def under(self, table: Table[Any], parent: tuple[Any, ...]) -> list[dict[str, Any]]:
        """The rows of a nested table whose keys begin so."""
        index, first = self.index(table, table.key[0]), parent[0]
        if first not in index and not self.rows_of[table.name].whole:
            self.fetch_where(table, table.key[0], [first])
        names = table.key[1 : len(parent)]
        return [row for row in index.get(first, ()) if all(row[n] == v for n, v in zip(names, parent[1:], strict=True))]

    def trim(self) -> None:
        """Forget rows of large tables. Not amid a step: its calls need what they have."""
        for known in self.rows_of.values():
            known.trim()

    def all_rows(self, table: Table[Any]) -> dict[Key, dict[str, Any]]:
        """Every row of a table by key."""
        known = self.rows_of[table.name]
        return known.by_key if known.whole else self._read(table)

    def _read(self, table: Table[Any]) -> dict[Key, dict[str, Any]]:
        found = fetch(self.connection, f'select {table.select_list} from "{table.name}"')
        return {table.key_of(row): row for row in self._decoded(table, found)}

    def _decoded(self, table: Table[Any], found: Iterable[Sequence[Any]]) -> list[dict[str, Any]]:
        rows = [dict(zip(table.names, values, strict=True)) for values in found]
        known = self.rows_of[table.name]
        known.heaviest = max(known.heaviest, *[row_weight(row.values()) for row in rows], 0)
        return rows

    def rows(self, table: Table[Any], keys: Iterable[Key]) -> dict[Key, dict[str, Any]]:
        """The rows that exist for these keys."""
        known = self.rows_of[table.name]
        if known.whole:
            return {key: known.by_key[key] for key in keys if key in known.by_key}
        wanted = list(keys)
        missing = [key for key in wanted if key not in known.by_key]
        if missing:
            self.fetch(table, missing)
        found = {key: row for key in wanted if (row := known.by_key.get(key)) is not None}
        self.trim()
        return found
