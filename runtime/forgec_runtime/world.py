"""Worlds: where episodes start. The rows of a world lie in DuckDB once, and never change."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from .data.completing import complete, read_allowed
from .data.outside import OutsideFile
from .data.rows import Defaults
from .documents import Document
from .engine import Connection, EngineError, connect, fetch, lock
from .errors import LoadError
from .filling import fill
from .schema import Index, Key, Table

WHOLE_TABLE = 10_000
"""Tables of at most so many rows are decoded when a world is opened; rows of larger ones when they are first needed."""
MAX_CACHED = 100_000
"""Decoded rows kept of a larger table."""


@dataclass(frozen=True)
class World:
    """An initial state by name, and the JSON file that holds its rows.

    Rows may also lie in files `outside` of the package, whose hashes are in the `manifest`; columns that these leave
    out have `defaults`.
    """

    name: str
    path: Path
    outside: tuple[OutsideFile, ...] = ()
    defaults: Defaults = field(default_factory=dict)
    manifest: Path | None = None

    def load(self, environment: str, tables: Mapping[str, Table[Any]], allowed: Iterable[str] = ()) -> Base:
        """The world's rows in memory, for an environment, with those of allowed sources. Raises `LoadError`."""
        connection = connect()
        return Base(tables, connection, *self._fill(connection, environment, tables, allowed))

    def store(
        self, environment: str, tables: Mapping[str, Table[Any]], file: Path, allowed: Iterable[str] = ()
    ) -> Stored:
        """Write the world's rows to a new database, for several processes to open. Raises `LoadError`."""
        connection = connect(file=str(file))
        try:
            return Stored(str(file), *self._fill(connection, environment, tables, allowed))
        finally:
            connection.close()

    def _fill(
        self, connection: Connection, environment: str, tables: Mapping[str, Table[Any]], allowed: Iterable[str]
    ) -> tuple[Origin, dict[str, int]]:
        contents = read_allowed(self.outside, allowed, self.name, self.manifest) if self.outside else []
        try:
            data = self.path.read_bytes()
            content = json.loads(data)
            complete(content, tables, self.outside, contents, self.defaults)
            for name, table in tables.items():
                fill(connection, table, content.get(name, []))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, EngineError) as error:
            raise LoadError(f"the world {self.name} cannot be read from {self.path}: {error}") from error
        for table in tables.values():
            _check_keys(connection, table)
        rows = b"".join([data, *(outside.digest.encode() for outside in contents)])
        origin = Origin(environment, self.name, _schema_digest(tables), _digest(rows))
        return origin, {name: _last_serial(connection, table) for name, table in tables.items() if table.serial}


def _check_keys(connection: Connection, table: Table[Any]) -> None:
    if not table.key:
        ((rows,),) = fetch(connection, f'select count(*) from "{table.name}"')
        if rows != 1:
            raise LoadError(f"the world holds {rows} rows of {table.name}, which has always one")
        return
    counts = f'select count(*), count(distinct ({table.key_list})) from "{table.name}"'
    ((rows, distinct),) = fetch(connection, counts)
    if distinct < rows:
        raise LoadError(f"the world holds two rows of {table.name} with the same key")


def _last_serial(connection: Connection, table: Table[Any]) -> int:
    """The highest number in a key that looks as if the engine had made it."""
    keys = fetch(connection, f'select "{table.key[-1]}" from "{table.name}"')
    return max((number for (key,) in keys if (number := table.serial_number(key)) is not None), default=0)


class Origin(NamedTuple):
    """Where an episode belongs; `schema` and `rows` are digests of the declarations and of the files."""

    environment: str
    world: str
    schema: str
    rows: str


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def _schema_digest(tables: Mapping[str, Table[Any]]) -> str:
    declared = [
        (table.name, table.key, table.keys or table.serial, [(c.name, repr(c.type), c.optional) for c in table.columns])
        for table in tables.values()
    ]
    return _digest(repr(declared).encode())


class Stored(NamedTuple):
    """A world that lies in a database of its own, and what its reader need not work out again."""

    file: str
    origin: Origin
    serials: dict[str, int]

    def open(self, tables: Mapping[str, Table[Any]]) -> Base:
        """The world's rows, which stay in the file."""
        return Base(tables, connect(file=self.file, writes=False), self.origin, self.serials)


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
        self.cache: dict[str, dict[Key, Any]] = {}
        self.whole: dict[str, bool] = {}
        self.documents: dict[str, dict[Key, Document]] = {name: {} for name in tables}
        """What `documents` has put together of rows and those nested in them."""
        self.weights: dict[str, dict[Key, int]] = {name: {} for name in tables}
        """What rows take that episodes have changed."""
        self.indexes: dict[str, dict[str | tuple[str, ...], dict[Any, list[Any]]]] = {name: {} for name in tables}
        """By table, and by the name of a column or the SQL of expressions."""
        lock(connection)
        for name, table in tables.items():
            ((count,),) = fetch(connection, f'select count(*) from "{name}"')
            self.whole[name] = count <= WHOLE_TABLE or not table.key
            self.cache[name] = self._read(table) if self.whole[name] else {}

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
        for values in self.connection.execute(statement, parts).fetchall():
            row = dict(zip(table.names, values, strict=True))
            found[table.key_of(row)] = row
        self.cache[table.name].update(found)  # not before: what could not be read is not known to be absent

    def index(self, table: Table[Any], column: str | Index) -> Mapping[Any, Sequence[Any]]:
        """The rows by what they have in a column: of a table in memory all of them, of others those fetched."""
        indexes = self.indexes[table.name]
        by = column if isinstance(column, str) else column.sql
        index = indexes.get(by)
        if index is None:
            index = indexes[by] = {}
            if self.whole[table.name]:
                of = itemgetter(column) if isinstance(column, str) else column.of
                for row in self.cache[table.name].values():
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
        for row_values in self.connection.execute(statement, lists).fetchall():
            row = dict(zip(table.names, row_values, strict=True))
            found[by.of(row)].append(row)
        self.indexes[table.name][column if isinstance(column, str) else column.sql].update(found)

    def under(self, table: Table[Any], parent: tuple[Any, ...]) -> list[dict[str, Any]]:
        """The rows of a nested table whose keys begin so."""
        index, first = self.index(table, table.key[0]), parent[0]
        if first not in index and not self.whole[table.name]:
            self.fetch_where(table, table.key[0], [first])
        names = table.key[1 : len(parent)]
        return [row for row in index.get(first, ()) if all(row[n] == v for n, v in zip(names, parent[1:], strict=True))]

    def trim(self) -> None:
        """Forget rows beyond `MAX_CACHED`, those fetched first. Not amid a step: its calls need what they have."""
        for name, cache in self.cache.items():
            if len(cache) > MAX_CACHED and not self.whole[name]:
                for key in list(islice(cache, len(cache) - MAX_CACHED)):
                    del cache[key]
            if not self.whole[name]:
                for index in self.indexes[name].values():
                    _shorten(index)
            if len(self.weights[name]) > MAX_CACHED:
                self.weights[name].clear()

    def all_rows(self, table: Table[Any]) -> dict[Key, dict[str, Any]]:
        """Every row of a table by key."""
        return self.cache[table.name] if self.whole[table.name] else self._read(table)

    def _read(self, table: Table[Any]) -> dict[Key, dict[str, Any]]:
        found = fetch(self.connection, f'select {table.select_list} from "{table.name}"')
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
