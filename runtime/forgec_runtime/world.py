"""Worlds: where episodes start. The rows of a world lie in DuckDB once, and never change."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from .engine import connect, lock
from .errors import LoadError
from .schema import Key, Table
from .types import Mismatch

WHOLE_TABLE = 10_000
"""Tables of at most so many rows are decoded when a world is opened; rows of larger ones when they are first needed."""
MAX_CACHED = 100_000
"""Decoded rows kept of a larger table."""


@dataclass(frozen=True)
class World:
    """An initial state by name, and the JSON file that holds its rows."""

    name: str
    path: Path

    def load(self, environment: str, tables: Mapping[str, Table[Any]]) -> Base:
        """The world's rows, opened for an environment. Raises `LoadError`."""
        try:
            data = self.path.read_bytes()
            content = json.loads(data)
            rows = {name: [_decode(table, row) for row in content.get(name, [])] for name, table in tables.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise LoadError(f"the world {self.name} cannot be read from {self.path}: {error}") from error
        return Base(tables, rows, Origin(environment, self.name, _schema_digest(tables), _digest(data)))


def _decode(table: Table[Any], row: Mapping[str, Any]) -> dict[str, Any]:
    decoded: dict[str, Any] = {}
    for column in table.columns:
        value = row[column.name]
        if value is None and not column.optional:
            raise Mismatch(f"{table.name}.{column.name} is null")
        decoded[column.name] = None if value is None else column.type.decode(value)
    return decoded


def _shorten(index: dict[Any, list[Any]]) -> None:
    """Forget the values of an index that were asked for first, until it is no larger than a cache."""
    held = len(index) + sum(map(len, index.values()))
    for value in list(index):
        if held <= MAX_CACHED:
            return
        held -= 1 + len(index.pop(value))


class Origin(NamedTuple):
    """Where an episode belongs; `schema` and `rows` are digests of the declarations and of the world's file."""

    environment: str
    world: str
    schema: str
    rows: str


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def _schema_digest(tables: Mapping[str, Table[Any]]) -> str:
    declared = [
        (table.name, table.key, table.serial, [(c.name, repr(c.type), c.optional) for c in table.columns])
        for table in tables.values()
    ]
    return _digest(repr(declared).encode())


class Base:
    """The immutable rows of one world: a database for queries, and decoded rows shared by all episodes."""

    def __init__(
        self, tables: Mapping[str, Table[Any]], rows: Mapping[str, list[dict[str, Any]]], origin: Origin
    ) -> None:
        self.tables = tables
        self.origin = origin
        self.connection = connect()
        self.cache: dict[str, dict[Key, Any]] = {}
        self.whole: dict[str, bool] = {}
        self.serials: dict[str, int] = {}
        self._indexes: dict[tuple[str, str], dict[Any, list[Any]]] = {}
        for name, table in tables.items():
            self._load(table, rows.get(name, []))
        lock(self.connection)

    def _load(self, table: Table[Any], rows: list[dict[str, Any]]) -> None:
        columns = ", ".join(f'"{column.name}" {column.type.sql}' for column in table.columns)
        self.connection.execute(f'create table "{table.name}" ({columns})')
        if rows:
            lists = ", ".join(f"unnest(${i}::{column.type.sql}[])" for i, column in enumerate(table.columns, 1))
            values = [[row[column.name] for row in rows] for column in table.columns]
            self.connection.execute(f'insert into "{table.name}" select {lists}', values)
        self.whole[table.name] = len(rows) <= WHOLE_TABLE
        by_key = {table.key_of(row): row for row in rows}
        if len(by_key) < len(rows):
            raise LoadError(f"the world holds two rows of {table.name} with the same key")
        self.cache[table.name] = by_key if self.whole[table.name] else {}
        if table.serial is not None:
            numbers = [table.serial_number(row[table.key[-1]]) for row in rows]
            self.serials[table.name] = max((number for number in numbers if number is not None), default=0)

    def fetch(self, table: Table[Any], keys: Iterable[Key]) -> None:
        """Decode the rows with these keys into the cache; a key without a row is remembered, too. One execution."""
        wanted = list(dict.fromkeys(keys))
        parts = [wanted] if len(table.key) == 1 else [list(part) for part in zip(*wanted, strict=True)]
        lists = ", ".join(f"unnest(${i}::{sql}[]) as k{i}" for i, sql in enumerate(table.key_types, 1))
        same = " and ".join(f't."{name}" = k.k{i}' for i, name in enumerate(table.key, 1))
        columns = ", ".join(f't."{name}"' for name in table.names)
        statement = f'select {columns} from "{table.name}" as t join (select {lists}) as k on {same}'
        cache = self.cache[table.name]
        cache.update(dict.fromkeys(wanted))
        for values in self.connection.execute(statement, parts).fetchall():
            row = dict(zip(table.names, values, strict=True))
            cache[table.key_of(row)] = row

    def index(self, table: Table[Any], column: str) -> Mapping[Any, Sequence[Any]]:
        """The rows by what they have in a column: of a table in memory all of them, of others those fetched."""
        index = self._indexes.get((table.name, column))
        if index is None:
            index = self._indexes[table.name, column] = {}
            if self.whole[table.name]:
                for row in self.cache[table.name].values():
                    index.setdefault(row[column], []).append(row)
        return index

    def fetch_where(self, table: Table[Any], column: str, values: Iterable[Any]) -> None:
        """Decode the rows that have one of these values in a column into its index. One execution."""
        wanted = list(dict.fromkeys(values))
        index = self._indexes[table.name, column]
        index.update((value, []) for value in wanted)
        sql = next(c.type.sql for c in table.columns if c.name == column)
        statement = (
            f'select {table.select_list} from "{table.name}"'
            f' where "{column}" in (select unnest($1::{sql}[])) order by {table.key_list}'
        )
        for row_values in self.connection.execute(statement, [wanted]).fetchall():
            row = dict(zip(table.names, row_values, strict=True))
            index[row[column]].append(row)

    def trim(self) -> None:
        """Forget rows beyond `MAX_CACHED`, those fetched first. Not amid a step: its calls need what they have."""
        for name, cache in self.cache.items():
            if len(cache) > MAX_CACHED and not self.whole[name]:
                for key in list(islice(cache, len(cache) - MAX_CACHED)):
                    del cache[key]
        for (name, _), index in self._indexes.items():
            if not self.whole[name]:
                _shorten(index)

    def all_rows(self, table: Table[Any]) -> dict[Key, dict[str, Any]]:
        """Every row of a table by key."""
        if self.whole[table.name]:
            return self.cache[table.name]
        found = self.connection.execute(f'select {table.select_list} from "{table.name}"').fetchall()
        rows = (dict(zip(table.names, values, strict=True)) for values in found)
        return {table.key_of(row): row for row in rows}

    def rows(self, table: Table[Any], keys: Iterable[Key]) -> dict[Key, dict[str, Any]]:
        """The rows that exist for these keys."""
        cache = self.cache[table.name]
        if self.whole[table.name]:
            return {key: cache[key] for key in keys if key in cache}
        wanted = list(keys)
        missing = [key for key in wanted if key not in cache]
        if missing:
            self.fetch(table, missing)
        found = {key: row for key in wanted if (row := cache.get(key)) is not None}
        self.trim()
        return found
