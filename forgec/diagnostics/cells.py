"""Text a terminal can be trusted with: nothing obeyed, reordered or hidden, every column accounted for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple
from unicodedata import category, east_asian_width

WIDTH = 120
"""The columns of a source line that are shown; of a longer line only those around the place that matters."""

TAB = 4
REACH = 5 * WIDTH  # characters looked at on either side: any number of combining ones fit into a column
ELLIPSIS = "..."


def clean(text: str) -> str:
    """`text` with every control, bidi or otherwise invisible character made visible."""
    return "".join(map(_visible, text))


def columns(text: str) -> int:
    """How many columns a terminal gives to `text`, which must be clean."""
    return len(text) if text.isascii() else sum(map(_columns, text))


class Cell(NamedTuple):
    """What stands for one character (or for all those cut off) and the columns it takes."""

    text: str
    left: int
    right: int


@dataclass(frozen=True)
class Line:
    """The part of a source line that is shown, cell by cell.

    The last cell stands for all that follows: an ellipsis if something was cut off, or the empty column
    where a caret after the end of the line goes.
    """

    cells: tuple[Cell, ...]
    offset: int  # of the character the first cell stands for; it may stand for all before it too

    @classmethod
    def of(cls, text: str, anchor: int) -> Line:
        """`text`, trimmed if it is too long, so that the character at `anchor` is shown."""
        first, last = _window(text, anchor)
        cells: list[Cell] = [Cell(ELLIPSIS, 0, len(ELLIPSIS))] if first else []
        for char in text[first:last]:
            cells.append(_cell(char, cells[-1] if cells else None))
        end = cells[-1].right if cells else 0
        cells.append(Cell("", end, end + 1) if last == len(text) else Cell(ELLIPSIS, end, end + len(ELLIPSIS)))
        return cls(tuple(cells), first - 1 if first else 0)

    @property
    def text(self) -> str:
        return "".join(cell.text for cell in self.cells)

    def place(self, start: int, end: int) -> tuple[int, int]:
        """The columns of the characters `start` to `end`: never none, and those cut off lie on an ellipsis."""
        return self._cell(start).left, self._cell(max(start, end - 1)).right

    def _cell(self, index: int) -> Cell:
        return self.cells[min(max(index - self.offset, 0), len(self.cells) - 1)]


def _cell(char: str, previous: Cell | None) -> Cell:
    left = previous.right if previous else 0
    if char == "\t":
        right = left + TAB - left % TAB
        return Cell(" " * (right - left), left, right)
    shown = _visible(char)
    width = columns(shown)
    if width:
        return Cell(shown, left, left + width)
    if previous:  # drawn on top of the character before it: to point at one is to point at the other
        return Cell(shown, previous.left, previous.right)
    return Cell(_named(char), 0, len(_named(char)))  # with nothing to stand on, it would mark the gutter


def _window(text: str, anchor: int) -> tuple[int, int]:
    """The first and last character to show: what leads up to `anchor` tells more than what follows it."""
    before, after = range(anchor - 1, -1, -1)[:REACH], range(anchor, len(text))[:REACH]
    first = _taken(text, before, WIDTH * 2 // 3)
    last = _taken(text, after, WIDTH - _room(text[anchor - first : anchor]))
    first = _taken(text, before, WIDTH - _room(text[anchor : anchor + last]))
    return anchor - first, anchor + last


def _taken(text: str, indexes: Iterable[int], room: int) -> int:
    """How many of the characters at `indexes` fit into `room` columns."""
    taken = 0
    for index in indexes:
        room -= _room(text[index])
        if room < 0:
            break
        taken += 1
    return taken


def _room(text: str) -> int:
    """The columns `text` takes at most: those of a tab depend on where it stands."""
    return sum(TAB if char == "\t" else columns(_visible(char)) for char in text)


def _visible(char: str) -> str:
    if char.isprintable():
        return char
    if char < " ":
        return chr(0x2400 + ord(char))  # Unicode has a picture of each of these
    return _named(char)


def _named(char: str) -> str:
    return f"<U+{ord(char):04X}>"


def _columns(char: str) -> int:
    # U+1160 to U+11FF are the vowels and finals of decomposed Hangul, drawn into the syllable before them.
    if category(char) in {"Mn", "Me"} or "\u1160" <= char <= "\u11ff":
        return 0
    return 2 if east_asian_width(char) in {"W", "F"} else 1
