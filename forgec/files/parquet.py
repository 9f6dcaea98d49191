"""Parquet files as documents: read by a DuckDB that can reach nothing else."""

from __future__ import annotations

import datetime
import re
import tempfile
from pathlib import Path
from typing import Any

from forgec_runtime.data.documents import Document, Unreadable
from forgec_runtime.data.rows import MAX_ROWS
from forgec_runtime.engine import Connection, EngineError, connect_to_file

_TIMES = ("DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE")
_MANY = 2_000
"""Rows that are fetched at once."""


def parquet_documents(data: bytes) -> list[Document]:
    """The rows of a Parquet file, as JSON would have them. Raises `Unreadable`."""
    with tempfile.TemporaryDirectory(prefix="forgec-") as folder:
        path = Path(folder) / "data.parquet"
        path.write_bytes(data)
        try:
            connection = connect_to_file(path)
            answer = connection.execute("select * from read_parquet(?)", [str(path)])
            described = answer.description or []
            names = [name for name, *_ in described]
            documents: list[Document] = []
            while rows := answer.fetchmany(_MANY):
                if len(documents) + len(rows) > MAX_ROWS:
                    raise Unreadable(f"a source has at most {MAX_ROWS:,} rows")
                for row in rows:
                    value = {name: _plain(part) for name, part in zip(names, row, strict=True)}
                    documents.append(Document(value, len(documents)))
            _refuse_infinite([name for name, type_, *_ in described if str(type_) in _TIMES], connection, path)
            return documents
        except EngineError as error:
            reason = str(error).strip().splitlines()[0].rpartition(" Error: ")[2]
            reason = re.sub(rf"(?: in file)? '?{re.escape(str(path))}'?", "", reason)
            raise Unreadable(f"this is no Parquet that can be read: {reason}") from None


def _refuse_infinite(names: list[str], connection: Connection, path: Path) -> None:
    """Raise `Unreadable` for a day or moment without end: Python takes it for the last that it knows."""
    for name in names:
        quoted = name.replace('"', '""')
        found = connection.execute(f'select 1 from read_parquet(?) where isinf("{quoted}") limit 1', [str(path)])
        if found.fetchone() is not None:
            raise Unreadable(f"the column {name[:100]!r} holds a date that is infinite")


def _plain(value: Any) -> Any:
    """A value of DuckDB as JSON has it."""
    if isinstance(value, datetime.date):  # a datetime is one
        return value.isoformat()
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list) else value
