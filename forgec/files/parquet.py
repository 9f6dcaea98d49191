"""Parquet files as documents: read by a DuckDB that can reach nothing else."""

from __future__ import annotations

import datetime
import tempfile
from pathlib import Path
from typing import Any

from forgec_runtime.data.documents import Document, Unreadable
from forgec_runtime.data.rows import MAX_ROWS
from forgec_runtime.engine import EngineError, connect_to_file

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
            names = [name for name, *_ in answer.description or ()]
            documents: list[Document] = []
            while rows := answer.fetchmany(_MANY):
                if len(documents) + len(rows) > MAX_ROWS:
                    raise Unreadable(f"a source has at most {MAX_ROWS:,} rows")
                for row in rows:
                    value = {name: _plain(part) for name, part in zip(names, row, strict=True)}
                    documents.append(Document(value, len(documents)))
            return documents
        except EngineError as error:
            reason = str(error).strip().splitlines()[0].rpartition(" Error: ")[2].replace(f"'{path}' ", "")
            raise Unreadable(f"this is no Parquet that can be read: {reason}") from None


def _plain(value: Any) -> Any:
    """A value of DuckDB as JSON has it."""
    if isinstance(value, datetime.date):  # a datetime is one
        return value.isoformat()
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list) else value
