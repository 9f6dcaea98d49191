"""DuckDB, opened so that SQL can reach nothing but its own tables: the only door to it."""

from __future__ import annotations

from math import isfinite
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection as Connection
from duckdb import Error as EngineError

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


def fetch(connection: Connection, statement: str, parameters: Any = None) -> list[tuple[Any, ...]]:
    """All rows of an answer.

    Raises `EngineError`, also for what no value of a spec can be: dates beyond the years 1 to 9999, infinite doubles.
    """
    answer = connection.execute(statement, parameters)
    kinds = [str(column[1]) for column in answer.description or ()]
    rows = answer.fetchall()
    times = [i for i, kind in enumerate(kinds) if kind in ("DATE", "TIMESTAMP")]
    if times and any(type(row[i]) is str for row in rows for i in times):
        raise EngineError("date out of range")
    doubles = [i for i, kind in enumerate(kinds) if kind == "DOUBLE"]
    if doubles and any(type(row[i]) is float and not isfinite(row[i]) for row in rows for i in doubles):
        raise EngineError("number out of range")
    return rows


def lock(connection: Connection) -> None:
    """Close files, network and settings for good; tables can still be written."""
    connection.execute("set enable_external_access = false")
    connection.execute("set disabled_filesystems = 'LocalFileSystem'")  # a file that is open can still be read
    connection.execute("set lock_configuration = true")


__all__ = ["Connection", "EngineError", "connect", "connect_to_files", "fetch", "lock"]
