"""Source lines with marks under them, as rows of pieces that know their role but not their colour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Literal, NamedTuple

from forgec.diagnostics.cells import Line, clean
from forgec.diagnostics.model import Label
from forgec.source import Source

Role = Literal["error", "warning", "place", "frame", "strong", "plain"]
"""What a piece of text is for; `place` is a secondary label, the severities are primary ones."""

Piece = tuple[str, Role]
Row = list[Piece]


class Mark(NamedTuple):
    """A label as it is drawn: under the characters `start` to `end` of one line."""

    line: int
    start: int
    end: int
    text: str
    role: Role

    @classmethod
    def of(cls, label: Label, role: Role) -> Mark:
        """The mark of `label`, which may lie in several lines: then under the rest of the first."""
        source, start, end = label.span.source, *_trimmed(label)
        line, column = source.position(start)
        last, _ = source.position(max(start, end - 1))
        length = len(source.line(line))
        first = min(column - 1, length)
        text = clean(label.text)
        if last > line:
            lines = f"lines {line} to {last}"
            return cls(line, first, length, f"{text} ({lines})" if text else lines, role)
        return cls(line, first, min(first + end - start, length), text, role)


class Placed(NamedTuple):
    """A mark in columns of the terminal."""

    left: int
    right: int
    text: str
    role: Role

    @property
    def primary(self) -> bool:
        return self.role != "place"


def bar(gutter: int) -> Row:
    """The row that separates: the rule of the gutter alone."""
    return [(" " * gutter + " |", "frame")]


def excerpt(source: Source, marks: Iterable[Mark], gutter: int) -> Iterator[Row]:
    """The lines of `source` that have marks, in order, with line numbers in a gutter of that width."""
    shown: int | None = None
    for number, group in groupby(sorted(marks, key=attrgetter("line")), key=attrgetter("line")):
        if shown is not None and number - shown == 2:  # an ellipsis would take as much room as the line
            yield _numbered(shown + 1, Line.of(source.line(shown + 1), 0), gutter)
        elif shown is not None and number - shown > 2:
            yield [("...", "frame")]
        yield from _annotated(source, number, list(group), gutter)
        shown = number


def _trimmed(label: Label) -> tuple[int, int]:
    """Where `label` starts and ends, not counting line ends at its end: nobody sees those."""
    text = label.span.source.text
    start = min(label.span.start, len(text))
    return start, start + len(text[start : label.span.end].rstrip("\r\n"))


def _annotated(source: Source, number: int, marks: list[Mark], gutter: int) -> Iterator[Row]:
    anchor = next((mark for mark in marks if mark.role != "place"), marks[0])
    line = Line.of(source.line(number), anchor.start)
    yield _numbered(number, line, gutter)
    placed = [Placed(*line.place(mark.start, mark.end), mark.text, mark.role) for mark in marks]
    for row in _below(placed):
        yield [*bar(gutter), (" ", "plain"), *row]


def _numbered(number: int, line: Line, gutter: int) -> Row:
    text = line.text.rstrip()
    return [(f"{number:<{gutter}} |", "frame"), (f" {text}" if text else "", "plain")]


def _below(placed: list[Placed]) -> Iterator[Row]:
    """The rows under a source line: the underlines, then the texts that do not fit beside them."""
    last = max(placed, key=lambda mark: (mark.right, mark.left, mark.primary))
    yield [*_underlines(placed), (f" {last.text}" if last.text else "", last.role)]
    hanging = sorted((m for m in placed if m.text and m is not last), key=lambda m: (m.left, m.primary))
    if hanging:
        yield _strings(hanging, hanging[-1].left + 1)
    while hanging:
        mark = hanging.pop()
        yield [*_strings(hanging, mark.left), (mark.text, mark.role)]


def _underlines(placed: list[Placed]) -> Row:
    signs: dict[int, Piece] = {}
    for mark in sorted(placed, key=attrgetter("primary")):  # the primary one over all others
        signs.update(dict.fromkeys(range(mark.left, mark.right), ("^" if mark.primary else "-", mark.role)))
    return _drawn(signs, max(signs) + 1)


def _strings(hanging: list[Placed], width: int) -> Row:
    """The strings by which texts hang from their underlines, as far as column `width`."""
    return _drawn({mark.left: ("|", mark.role) for mark in hanging}, width)


def _drawn(signs: Mapping[int, Piece], width: int) -> Row:
    blank: Piece = (" ", "plain")
    pieces = [signs.get(column, blank) for column in range(width)]
    return [("".join(sign for sign, _ in run), role) for role, run in groupby(pieces, key=itemgetter(1))]
