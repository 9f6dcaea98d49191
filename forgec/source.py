"""Source files and places inside them."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True)
class Source:
    """One spec file: the name users know it by, and its text."""

    name: str
    text: str = field(repr=False)

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        starts.extend(i + 1 for i, char in enumerate(self.text) if char == "\n")
        return starts

    def position(self, offset: int) -> tuple[int, int]:
        """The 1-based line and column (in characters) of `offset`."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of 1-based line `number`, without its line end."""
        start = self._line_starts[number - 1]
        end = self._line_starts[number] if number < len(self._line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")


_GAP = re.compile(r"""('[^']*'|"(?:[^"\\\n]|\\.)*")|(?:\s|--[^\n]*|/\*[\s\S]*?\*/)+""")
"""A string, which stays, or white space and comments."""


@dataclass(frozen=True)
class Span:
    """The characters `start` (inclusive) to `end` (exclusive) of a source."""

    source: Source
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    @property
    def on_one_line(self) -> str:
        """The text on one line, without comments."""
        return _GAP.sub(lambda match: match[1] or " ", self.text).strip()

    def to(self, other: Span) -> Span:
        """The span from the start of this one to the end of `other`."""
        return Span(self.source, self.start, other.end)
