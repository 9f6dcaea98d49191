"""Where in a file of data a document stands, and what is inside of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from forgec.source import Source, Span
from forgec_runtime.data.documents import CELL, Document, Kind
from forgec_runtime.data.rows import Path

_SPACE = re.compile(r"[ \t\r\n]*")
_PLAIN = json.JSONDecoder()
_Range = tuple[int, int]


@dataclass(frozen=True)
class Places:
    """The places of one file, of which the documents at the member `at` are read."""

    source: Source
    kind: Kind
    at: str = ""

    def character(self, start: int) -> Span:
        end = len(self.source.text)
        return Span(self.source, min(start, max(end - 1, 0)), min(start + 1, end))

    def document(self, document: Document) -> Span:
        """A row."""
        if self.kind == "csv":
            fields = self._fields(document.start)
            return Span(self.source, fields[0][0], fields[-1][1])
        return self.value(document, ())

    def value(self, document: Document, path: Path) -> Span:
        """The value at a path inside of a row."""
        if self.kind == "csv":
            column = self._column(path)
            return (
                self.document(document) if column is None else Span(self.source, *self._fields(document.start)[column])
            )
        _, found = _find(self.source.text, path, self._value_of(document))
        return Span(self.source, *found)

    def name(self, document: Document, path: Path) -> Span:
        """The last name of a path: of a CSV file, in its first line."""
        if self.kind == "csv":
            column = self._column(path)
            first = self._fields(0)
            return Span(self.source, first[0][0], first[-1][1]) if column is None else Span(self.source, *first[column])
        name, _ = _find(self.source.text, path, self._value_of(document))
        return Span(self.source, *name)

    def _column(self, path: Path) -> int | None:
        """The number of the field that a path leads to."""
        names = [_unquoted(self.source.text[a:b]) for a, b in self._fields(0)]
        return names.index(str(path[0])) if path and path[0] in names else None

    def _fields(self, start: int) -> list[_Range]:
        text, found = self.source.text, list[_Range]()
        while (cell := CELL.match(text, start)) is not None:
            found.append(cell.span())
            if text[cell.end() : cell.end() + 1] != ",":
                break
            start = cell.end() + 1
        return found

    def _value_of(self, document: Document) -> _Range:
        if self.kind == "jsonl":
            return _value(self.source.text, document.start)
        return self._documents[document.step]

    @cached_property
    def _documents(self) -> dict[str | int | None, _Range]:
        """Where the documents of a JSON file are, by their steps."""
        text = self.source.text
        _, whole = _find(text, tuple(self.at.split(".")) if self.at else (), _value(text, 0))
        return {None: whole, **{step: value for step, _, value in _parts(text, whole[0])}}


def _find(text: str, path: Path, within: _Range) -> tuple[_Range, _Range]:
    """The last name of a path, and the value there; those of the value around it where there is none."""
    name = value = within
    for step in path:
        found = next(((name, value) for found, name, value in _parts(text, value[0]) if found == step), None)
        if found is None:
            return name, value
        name, value = found
    return name, value


def _parts(text: str, start: int) -> Iterator[tuple[str | int, _Range, _Range]]:
    """The parts of an object or array of sound JSON: the name, or index, where that stands, and where the value."""
    if text[start] not in "{[":
        return
    position, count = _skip(text, start + 1), 0
    while text[position] not in "}]":
        step: str | int = count
        name = None
        if text[start] == "{":
            step, end = _PLAIN.raw_decode(text, position)
            name = position, end
            position = _skip(text, _skip(text, end) + 1)
        value = _value(text, position)
        yield step, name or value, value
        count += 1
        position = _skip(text, value[1])
        if text[position] == ",":
            position = _skip(text, position + 1)


def _value(text: str, start: int) -> _Range:
    """Where the value that begins there, or after white space, stands."""
    start = _skip(text, start)
    return start, _PLAIN.raw_decode(text, start)[1]


def _skip(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    assert found is not None
    return found.end()


def _unquoted(field: str) -> str:
    return field[1:-1].replace('""', '"') if field.startswith('"') else field
