"""The rows of files outside of a package, put beside those that lie in it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..encoding import encode
from ..errors import LoadError
from ..schema import Table
from .documents import Unreadable, documents_in, text_of
from .outside import Content, OutsideFile
from .rows import Defaults, Problem, Reader, Row

Rows = dict[str, list[dict[str, Any]]]
"""Rows by table, as the JSON file of a world has them."""


def read_allowed(
    files: Iterable[OutsideFile], allowed: Iterable[str], world: str, manifest: Path | None
) -> list[Content]:
    """What is in the files of a world. Raises `LoadError`, also for content that is not what the manifest names."""
    names = denied(files, allowed)
    if names:
        flags, listed = " ".join(f"--allow-source {name}" for name in names), ", ".join(map(repr, names))
        raise LoadError(
            f"rows of the world {world} lie outside of its package, and nobody allowed to read them: {flags},"
            f" or load_environment(..., allow_sources=[{listed}])"
        )
    pinned = _pinned(manifest) if manifest is not None else {}
    read: dict[str, Content] = {}
    contents = []
    for file in files:
        if file.label not in read:  # once, so that all tables are of one state of it
            read[file.label] = file.read()
        content = read[file.label]
        wanted = pinned.get(file.label)
        if wanted is not None and wanted != content.digest:
            raise LoadError(
                f"{file.label} is not what this environment was compiled with: its sha256 is {content.digest},"
                f" and was {wanted}"
            )
        contents.append(content)
    return contents


def denied(files: Iterable[OutsideFile], allowed: Iterable[str]) -> list[str]:
    """The names of sources that would have to be allowed."""
    names = frozenset(allowed)
    return list(dict.fromkeys(file.grant for file in files if not file.allowed_by(names)))


def _pinned(manifest: Path) -> Mapping[str, str]:
    """The hashes of files outside that a manifest names."""
    try:
        found = json.loads(manifest.read_text(encoding="utf-8"))["outside"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def complete(
    rows: Rows,
    tables: Mapping[str, Table[Any]],
    files: Iterable[OutsideFile],
    contents: Iterable[Content],
    defaults: Defaults,
) -> None:
    """Add the rows of files to those that are there. Raises `LoadError`."""
    numbers = _numbers(rows, tables)
    for file, content in zip(files, contents, strict=True):
        table, reader = tables[file.table], Reader(tables, defaults)
        try:
            text = text_of(content.data)
            documents = documents_in(text, content.kind, file.at, single=not table.key)
            for row in reader.rows(table, documents):
                _finish(row, numbers)
                given = {**defaults.get(row.table.name, {}), **_encoded(row)}
                rows.setdefault(row.table.name, []).append(given)
        except Unreadable as error:
            where = "" if error.start is None else f", line {_line(text, error.start)}"
            raise LoadError(f"{content.name}{where}: {error}") from None
        if reader.problems:
            raise LoadError(f"{content.name}, {_place(reader.problems[0], file, content, text)}")


def _numbers(rows: Rows, tables: Mapping[str, Table[Any]]) -> Counter[tuple[str, tuple[Any, ...]]]:
    """The last number of the rows of each parent."""
    numbers: Counter[tuple[str, tuple[Any, ...]]] = Counter()
    for name, table in tables.items():
        for row in rows.get(name, ()) if table.numbered else ():
            place = name, tuple(table.types[key].decode(row[key]) for key in table.inherited)
            numbers[place] = max(numbers[place], row[table.key[-1]])
    return numbers


def _finish(row: Row, numbers: Counter[tuple[str, tuple[Any, ...]]]) -> None:
    """Give a row the key of the row around it, and its number."""
    table = row.table
    if row.parent is not None:
        keys = zip(table.inherited, row.parent.table.key, strict=True)
        row.values.update({name: row.parent.values[key] for name, key in keys})
    if table.numbered is not None:
        place = table.name, tuple(row.values[name] for name in table.inherited)
        numbers[place] += 1
        row.values[table.numbered] = numbers[place]


def _encoded(row: Row) -> dict[str, Any]:
    types = row.table.types
    return {name: encode(types[name], value) for name, value in row.values.items()}


def _place(problem: Problem, file: OutsideFile, content: Content, text: str) -> str:
    """Where a problem lies and what it is, in words."""
    path = list(problem.path)
    if content.kind == "json":
        steps = [*file.at.split(".")] if file.at else []
        path = [*steps, *([] if problem.document.step is None else [problem.document.step]), *path]
        where = ""
    else:
        where = f"line {_line(text, problem.document.start)}"
        path = path if content.kind == "jsonl" else []
    inside = "".join(f"[{step + 1}]" if isinstance(step, int) else f"[{step[:100]!r}]" for step in path)
    return f"{', '.join(filter(None, (where, inside)))}: {problem.text}" + (
        f" ({problem.help})" if problem.help else ""
    )


def _line(text: str, start: int) -> int:
    return text.count("\n", 0, start) + 1
