"""Worlds: where episodes start."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from .base import Base, Origin
from .data.completing import complete, read_allowed
from .data.outside import OutsideFile
from .data.rows import Defaults
from .engine import Connection, EngineError, connect, fetch
from .errors import LoadError
from .filling import fill
from .schema import Table


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
