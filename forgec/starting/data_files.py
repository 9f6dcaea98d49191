"""CSV and Parquet files to found tables: types as DuckDB sniffs them, keys and references as the rows suggest."""

from __future__ import annotations

import re
from pathlib import Path

from forgec.diagnostics import Diagnostic
from forgec.starting.found import MAX_POOL, Found, FoundColumn, FoundTable, SourceError
from forgec.starting.guess import Guesser, quoted_name
from forgec.starting.types import parse_type
from forgec.starting.values import decimal_for
from forgec_runtime.engine import Connection, EngineError, connect_to_files, fetch

READERS = {
    ".csv": "read_csv(?, sample_size = -1)",
    ".tsv": "read_csv(?, sample_size = -1)",
    ".parquet": "read_parquet(?)",
}


def read_files(paths: list[Path]) -> Found:
    """A table for each file, named after it. Raises `SourceError`."""
    connection = connect_to_files()
    found = Found(path=", ".join(path.as_posix() for path in paths))
    try:
        for number, path in enumerate(paths):
            found.tables.append(_load(connection, path, f"t{number}"))
        guesser = Guesser(connection, found.tables)
        guesser.keys()
        guesser.references()
    finally:
        connection.close()
    return found


def _load(connection: Connection, path: Path, name: str) -> FoundTable:
    """Copy a file into the database as the table `name`."""
    if path.stat().st_size == 0:
        raise SourceError(Diagnostic("AFS807", "this file is empty", path=path.as_posix()))
    reader = READERS[path.suffix.lower()]
    try:
        connection.execute(f"create table {name} as select * from {reader}", [_escaped(path)])
        columns = fetch(connection, f"select column_name, column_type from (describe {name})")
        table = FoundTable(path.stem)
        (table.count,) = fetch(connection, f"select count(*) from {name}")[0]
        texts = ", ".join(f"cast({quoted_name(column)} as varchar)" for column, _ in columns)
        table.rows = fetch(connection, f"select {texts} from {name} limit {MAX_POOL}")
        nulls = ", ".join(f"count(*) - count({quoted_name(column)})" for column, _ in columns)
        missing = fetch(connection, f"select {nulls} from {name}")[0]
    except EngineError as error:
        reason = re.sub(r"^[A-Z][A-Za-z ]* Error: ", "", str(error).strip().splitlines()[0])
        what = "Parquet" if path.suffix.lower() == ".parquet" else "CSV"
        message = f"this file cannot be read as {what}: {reason}"
        raise SourceError(Diagnostic("AFS807", message, path=path.as_posix())) from None
    for (column, type_), empty in zip(columns, missing, strict=True):
        table.columns.append(FoundColumn(column, parse_type(type_), nullable=empty > 0))
    if path.suffix.lower() != ".parquet":
        _prefer_decimals(connection, table, name)
    return table


def _prefer_decimals(connection: Connection, table: FoundTable, name: str) -> None:
    """Numbers with few digits after the point are amounts: exact, unlike the doubles that DuckDB takes them for."""
    for column in table.columns:
        if column.type is None or column.type.this.name != "DOUBLE":
            continue
        column_name = quoted_name(column.name)
        rows = fetch(
            connection, f"select distinct cast({column_name} as varchar) from {name} where {column_name} is not null"
        )
        exact = decimal_for((text for (text,) in rows), 2)
        if rows and exact is not None:
            column.type = parse_type(exact.sql)


def _escaped(path: Path) -> str:
    """A path that DuckDB does not take for a pattern."""
    return re.sub(r"([*?\[])", r"[\1]", str(path.resolve()))
