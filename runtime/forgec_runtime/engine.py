"""DuckDB, opened so that SQL can reach nothing but its own tables: the only door to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import isfinite
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
from duckdb import DuckDBPyConnection as Connection
from duckdb import Error as EngineError

Check: TypeAlias = "Callable[[Any], None]"
"""Raises `EngineError` for what no value of a spec can be."""

_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,  # more than one makes the order of rows, and so results, vary
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_unsigned_extensions": "false",
    "allow_extension_repositories": "forbidden",
    "allow_persistent_secrets": "false",
    "async_threads": 0,
    "pivot_limit": 100,
    "python_enable_replacements": "false",
    "error_on_division_by_zero": "false",  # it is NULL,
    "ieee_floating_point_ops": "false",  # also for doubles
    "max_expression_depth": 250,
    "temp_directory": "",
    # beyond this many keys a join with a large table reads all of it; the default is 50
    "dynamic_or_filter_threshold": 2000,
}


def connect(*, memory: str = "2GB", seconds: int = 60, file: str = ":memory:", writes: bool = True) -> Connection:
    """A database whose statements may take so much memory and time, private in memory or in a file. Call `lock`
    before use.
    """
    limits = {"memory_limit": memory, "max_execution_time": str(seconds * 1000)}
    connection = duckdb.connect(file, read_only=not writes, config={**_CONFIG, **limits})
    connection.execute("set TimeZone = 'UTC'")
    return connection


def connect_to_files() -> Connection:
    """A trusted connection, for files that the user named: its statements may read whatever the user may.

    Nothing that a spec or an agent says may reach it.
    """
    return connect(memory="4GB", seconds=300)


def connect_to_file(path: Path) -> Connection:
    """A database whose statements may read this one file, and nothing else."""
    connection = connect(memory="1GB", seconds=60)
    connection.execute("set allowed_paths = [?]", [str(path)])
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")
    return connection


def fetch(
    connection: Connection, statement: str, parameters: Any = None, most: int | None = None
) -> list[tuple[Any, ...]]:
    """All rows of an answer.

    Raises `EngineError`, also when there are more than `most`, and for what no value of a spec can be: dates beyond the
    years 1 to 9999, infinite doubles.
    """
    answer = connection.execute(statement, parameters)
    checks = [(i, check) for i, column in enumerate(answer.description or ()) if (check := _check(column[1]))]
    rows = answer.fetchall() if most is None else answer.fetchmany(most + 1)
    if most is not None and len(rows) > most:
        raise EngineError("too many rows")
    for i, check in checks:
        for row in rows:
            check(row[i])
    return rows


def _check(kind: Any) -> Check | None:
    """What looks at the values of a type of DuckDB; None where there is nothing to look at."""
    if kind.id in ("date", "timestamp"):
        return _check_time
    if kind.id == "double":
        return _check_double
    if kind.id == "list":
        return _check_parts(_check(kind.child), iter)
    if kind.id == "map":
        return _check_parts(_check(kind.value), dict.values)
    if kind.id == "struct":
        return _check_fields({name: check for name, child in kind.children if (check := _check(child))})
    return None


def _check_time(value: Any) -> None:
    if type(value) is str:
        raise EngineError("date out of range")


def _check_double(value: Any) -> None:
    if type(value) is float and not isfinite(value):
        raise EngineError("number out of range")


def _check_parts(check: Check | None, parts: Callable[[Any], Iterable[Any]]) -> Check | None:
    if check is None:
        return None

    def look(value: Any) -> None:
        for part in parts(value) if value is not None else ():
            check(part)

    return look


def _check_fields(checks: dict[str, Check]) -> Check | None:
    def look(value: Any) -> None:
        for name, check in checks.items() if value is not None else ():
            check(value[name])

    return look if checks else None


def lock(connection: Connection) -> None:
    """Close files, network and settings for good; tables can still be written."""
    connection.execute("set enable_external_access = false")
    connection.execute("set disabled_filesystems = 'LocalFileSystem'")  # a file that is open can still be read
    connection.execute("set lock_configuration = true")


__all__ = ["Connection", "EngineError", "connect", "connect_to_file", "connect_to_files", "fetch", "lock"]
