"""SQLite files to found tables: what their schema says, and the rows."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from urllib.parse import quote

from forgec.diagnostics import Diagnostic
from forgec.source import Source
from forgec.sql.tree import Statement, exp, parse_script
from forgec.starting.found import MAX_POOL, Found, FoundTable, Row, SourceError
from forgec.starting.schema_sql import SchemaReader
from forgec.starting.values import shortened

MAGIC = b"SQLite format 3\x00"


def read_sqlite(path: Path) -> Found:
    """The tables of a SQLite file, which is only read. Raises `SourceError`."""
    try:
        connection = sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro", uri=True)
        try:
            connection.text_factory = lambda data: data.decode("utf-8", "replace")
            return _read(connection, path.as_posix())
        finally:
            connection.close()
    except sqlite3.Error as error:
        message = f"this SQLite file cannot be read: {error}"
        raise SourceError(Diagnostic("AFS807", message, path=path.as_posix())) from None


def _read(connection: sqlite3.Connection, path: str) -> Found:
    reader = SchemaReader(Source(path, ""), "sqlite")
    created = connection.execute(
        "select type, name, sql from sqlite_master where type in ('table', 'index') and sql is not null "
        "and name not like 'sqlite\\_%' escape '\\' order by type desc, rowid"
    ).fetchall()
    shadows = _shadows(connection)
    for kind, name, sql in created:
        if name in shadows:
            continue
        statements = _statements(sql)
        if kind == "table" and not (statements and isinstance(statements[0].tree, exp.Create)):
            sql = _rewritten(connection, name)
            statements = _statements(sql)
            reader.found.notes.append(f"defaults and checks of the table {name} could not be read")
        reader.source = Source(path, sql)
        for statement in statements:
            reader.read(statement)
    for table in reader.found.tables:
        _fill(connection, table)
    return reader.found


def _statements(sql: str) -> list[Statement]:
    try:
        return parse_script(sql, "sqlite")
    except ValueError:
        return []


def _shadows(connection: sqlite3.Connection) -> set[str]:
    """Virtual tables and the tables that they keep their own data in."""
    listed = connection.execute("select name, type from pragma_table_list where schema = 'main'").fetchall()
    return {name for name, kind in listed if kind in ("virtual", "shadow")}


def _rewritten(connection: sqlite3.Connection, table: str) -> str:
    """A plainer `create table` than the one that could not be read: no checks, no defaults."""
    columns = connection.execute('select name, type, "notnull", pk from pragma_table_info(?)', [table]).fetchall()
    parts = [
        f"{_name(name)} {kind if _is_type(kind) else ''} {'not null' if full else ''}"
        for name, kind, full, _ in columns
    ]
    key = [name for position, name in sorted((position, name) for name, _, _, position in columns if position)]
    if key:
        parts.append(f"primary key ({', '.join(map(_name, key))})")
    references: dict[int, list[tuple[str, str, str | None]]] = {}
    for number, target, column, to in connection.execute(
        'select id, "table", "from", "to" from pragma_foreign_key_list(?) order by id, seq', [table]
    ):
        references.setdefault(number, []).append((target, column, to))
    for ends in references.values():
        named = f"({', '.join(_name(to) for _, _, to in ends if to)})" if ends[0][2] else ""
        mine = ", ".join(_name(column) for _, column, _ in ends)
        parts.append(f"foreign key ({mine}) references {_name(ends[0][0])} {named}")
    return f"create table {_name(table)} ({', '.join(parts)})"


def _is_type(kind: str) -> bool:
    return any(isinstance(found.tree, exp.Create) for found in _statements(f"create table t (a {kind})"))


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _fill(connection: sqlite3.Connection, table: FoundTable) -> None:
    columns = ", ".join(_name(column.name) for column in table.columns)
    (table.count,) = connection.execute(f"select count(*) from {_name(table.name)}").fetchone()
    rows = connection.execute(f"select {columns} from {_name(table.name)} limit {MAX_POOL}")
    table.rows = [_row(row) for row in rows]


def _row(row: tuple[object, ...]) -> Row:
    return tuple(None if v is None else shortened(v.hex()) if isinstance(v, bytes) else str(v) for v in row)
