"""Files of data as documents: one a row of a table, with what is nested in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any, Literal, NoReturn

from ..schema import Column
from ..types import Text

MAX_BYTES = 32 * 2**20
"""The largest file that is read."""

Kind = Literal["csv", "json", "jsonl"]
KINDS: Mapping[str, Kind] = {".csv": "csv", ".json": "json", ".jsonl": "jsonl"}
"""What is in a file, by the ending of its name."""


class Unreadable(ValueError):
    """Data that are not what their file is called; `start` is the character where, if that is known."""

    def __init__(self, text: str, start: int | None = None) -> None:
        super().__init__(text)
        self.start = start


class Cell(str):
    """What a field of a CSV file holds."""

    quoted = True

    def stands_for_null(self, column: Column) -> bool:
        """An empty field is NULL where the column may be; where it is a text, `""` is not, and so no field is."""
        is_text = isinstance(column.type, Text)
        return not self and (not is_text or (column.optional and not self.quoted))


class _Bare(Cell):
    quoted = False


@dataclass(frozen=True)
class Document:
    """One row with those nested in it.

    `step` leads to it from the place where all of them lie: its name in an object, which is its `key`, or its index;
    None where it lies there by itself. Of a CSV or JSONL file, `start` is the character where it begins.
    """

    value: Any
    step: str | int | None
    start: int = 0

    @property
    def key(self) -> str | None:
        return self.step if isinstance(self.step, str) else None


def kind_of(path: str) -> Kind | None:
    """What a file is by its name; None for what is not read."""
    return KINDS.get(PurePosixPath(path).suffix.lower())


def text_of(data: bytes) -> str:
    """The text of a file. Raises `Unreadable`."""
    if len(data) > MAX_BYTES:
        raise Unreadable(f"a file of data has at most {MAX_BYTES:,} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Unreadable(f"this file is not UTF-8: byte {error.start} on line {line}") from None


def documents_in(text: str, kind: Kind, member: str, *, single: bool = False) -> list[Document]:
    """The documents of a file; of a JSON file those at `member`, a path of names joined by dots.

    With `single` there is one, which may lie there by itself. Raises `Unreadable`.
    """
    if kind != "json":
        if member:
            raise Unreadable(f"only a JSON file has members to read, and this is a {kind.upper()} file")
        return list(_csv(text) if kind == "csv" else _jsonl(text))
    found = _member(parsed(text), member)
    if isinstance(found, list):
        return [Document(value, i) for i, value in enumerate(found)]
    if isinstance(found, dict):
        return [Document(found, None)] if single else [Document(value, name) for name, value in found.items()]
    where = f"at `{member}`" if member else "in this file"
    raise Unreadable(f"{where} there is neither an array of rows nor an object that has them by their keys", 0)


# -- JSON ---------------------------------------------------------------------------------------------------------


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise Unreadable(f"the name {twice[:100]!r} stands twice in one object")
    return found


def _no_number(text: str) -> NoReturn:
    raise Unreadable(f"{text} is no number of JSON")


DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=Decimal, parse_constant=_no_number)


def parsed(text: str, start: int = 0) -> Any:
    """The value of a JSON text that begins at `start`, numbers with a point as exact decimals. Raises `Unreadable`."""
    try:
        return DECODER.decode(text)
    except Unreadable as error:
        raise Unreadable(str(error), start) from None
    except json.JSONDecodeError as error:
        raise Unreadable("this is no JSON from here on", start + error.pos) from None
    except (ValueError, RecursionError):
        raise Unreadable("this JSON has a number that is too long, or is nested too deep", start) from None


def _member(value: Any, member: str) -> Any:
    before: list[str] = []
    for name in member.split(".") if member else ():
        if not isinstance(value, dict) or name not in value:
            where = f"`{'.'.join(before)}`" if before else "this file"
            there = ", ".join(list(value)[:10]) if isinstance(value, dict) else ""
            raise Unreadable(f"{where} has no member `{name}`" + (f"; it has {there}" if there else ""))
        value = value[name]
        before.append(name)
    return value


def _jsonl(text: str) -> Iterator[Document]:
    """A document a line; empty lines are none."""
    for i, line in enumerate(re.finditer(r"[^\n]*[^\s][^\n]*", text)):
        yield Document(parsed(line[0].strip(), line.start()), i, line.start())


# -- CSV ----------------------------------------------------------------------------------------------------------

CELL = re.compile(r'"((?:[^"]+|"")*+)"|([^",\r\n]*)')
"""A field, in quotes or without."""
_END = re.compile(r"\r\n|\n|\r|,|\Z")


def _csv(text: str) -> Iterator[Document]:
    records = _records(text)
    _, header = next(records, (0, []))
    if not header:
        raise Unreadable("this file is empty: its first line names the columns", 0)
    if len(header) == 1 and re.search(r"[;\t|]", header[0]):
        raise Unreadable("fields are separated by commas", 0)
    twice = next((name for i, name in enumerate(header) if name in header[:i]), None)
    if twice is not None:
        raise Unreadable(f"the column {twice[:100]!r} stands twice in the first line", 0)
    for number, (start, cells) in enumerate(records):
        if len(cells) != len(header):
            raise Unreadable(f"this line has {_fields(len(cells))}, and the first one {_fields(len(header))}", start)
        yield Document(dict(zip(header, cells, strict=True)), number, start)


def _records(text: str) -> Iterator[tuple[int, list[Cell]]]:
    """The fields of each line that is not empty, and where it begins."""
    start = position = 0
    cells: list[Cell] = []
    while position < len(text) or cells:
        cell = CELL.match(text, position)
        assert cell is not None
        end = _END.match(text, cell.end())
        if end is None:
            closed = cell[1] is not None or text[position : position + 1] != '"'
            what = "a quote inside of a field" if closed else "a quote that is never closed"
            raise Unreadable(f'{what}: a field with quotes is written "like ""this"""', cell.end())
        cells.append(_Bare(cell[2]) if cell[1] is None else Cell(cell[1].replace('""', '"')))
        position = end.end()
        if end[0] != ",":
            if len(cells) > 1 or cells[0] or cells[0].quoted:
                yield start, cells
            start, cells = position, []


def _fields(number: int) -> str:
    return f"{number} field{'s' * (number != 1)}"
