"""The page that lines are written on. Comments go where their tokens go, so that no caller has to think of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby

from forgec.diagnostics.cells import columns
from forgec.formatting.leaves import Comment, Leaf, spaced
from forgec.formatting.texts import indented

WIDTH = 110
"""Columns that a line takes where that is possible."""
STEP = 2
"""Columns of one level of indentation."""


@dataclass
class _Line:
    indent: int
    blank: bool
    text: str = ""
    trail: list[Comment] = field(default_factory=list)

    @property
    def commented(self) -> bool:
        return bool(self.trail) and self.text[-1:] in (",", ";")


class Page:
    """Lines of output, the last of them still being written."""

    def __init__(self) -> None:
        self._lines: list[_Line] = []
        self._begun: Leaf | None = None
        self._hang = 0

    @property
    def column(self) -> int:
        """Where the line ends that is being written."""
        return self._lines[-1].indent + len(self._lines[-1].text)

    @property
    def closed(self) -> bool:
        """Whether a comment has ended the line."""
        return bool(self._lines[-1].trail)

    def begin(
        self,
        leaf: Leaf,
        indent: int,
        *,
        blank: bool = True,
        apart: bool = False,
        hang: int | None = None,
        deeper: int = 0,
    ) -> None:
        """Start a line for `leaf`, below the comments above it.

        `blank` lets the author's blank lines through, `apart` wants one above all this. Where a comment breaks the
        line, it goes on at `hang`. The comments above stand `deeper` than the line.
        """
        self.comments(leaf, indent + deeper, blank=blank, apart=apart)
        if leaf.own:
            blank, apart = True, False
        self._lines.append(_Line(indent, apart or (blank and leaf.blank)))
        self._begun = leaf
        self._hang = indent + 2 * STEP if hang is None else hang

    def close(self, leaf: Leaf, indent: int) -> None:
        """Write the bracket that closes a list or body on a line; comments before it belong to what it closes."""
        leaf.own += leaf.inline
        leaf.inline = []
        self.begin(leaf, indent, blank=False, deeper=STEP)
        self.put([leaf])

    def comments(self, leaf: Leaf, indent: int, *, blank: bool = True, apart: bool = False) -> None:
        """Write the comments above a token."""
        for comment in leaf.own:
            self._lines.append(_Line(indent, apart or (blank and comment.blank), comment.text))
            blank, apart = True, False

    def put(self, leaves: Iterable[Leaf]) -> None:
        """Write tokens behind what stands on the line, on a new line where a comment wants it."""
        for leaf in leaves:
            if self._lines[-1].trail or (leaf.own and leaf is not self._begun):
                self.begin(leaf, self._hang, blank=False, hang=self._hang)
            line = self._lines[-1]
            text = spaced(leaf, first=not line.text)
            if leaf.kind == "TEXT":
                before = text.removesuffix(leaf.text)
                text = before + indented(leaf.text, line.indent + (STEP if line.text else 0))
            line.text += text
            line.trail.extend(leaf.trail)

    def put_text(self, text: str, leaves: list[Leaf]) -> None:
        """Write the text that the caller has made of tokens, which must be `flat`; the last comments end the line."""
        self._lines[-1].text += text
        if leaves:
            self._lines[-1].trail.extend(leaves[-1].trail)

    def pad(self, column: int) -> None:
        """Fill the line with blanks up to a column."""
        line = self._lines[-1]
        line.text = line.text.ljust(column - line.indent)

    def comma(self) -> None:
        """Write a comma behind the last token, before the comments that follow it."""
        self._lines[-1].text += ","

    def render(self) -> str:
        """The text of the page. Comments behind adjacent elements or statements stand below each other."""
        written: list[str] = []
        for aligned, run in groupby(self._lines, key=lambda line: (line.commented, line.indent)):
            lines = list(run)
            column = _comment_column(lines) if aligned[0] else 0
            for line in lines:
                text = " " * line.indent + line.text
                if line.trail:
                    text += " " * (column - columns(text)) + "  " + " ".join(comment.text for comment in line.trail)
                written.append(("\n" if line.blank and written else "") + text.rstrip(" "))
        return "".join(text + "\n" for text in written)


def _comment_column(lines: list[_Line]) -> int:
    """Where the comments of adjacent lines are aligned: 0 when that makes a line too long."""
    column = max(line.indent + columns(line.text) for line in lines)
    widest = max(columns(comment.text) for line in lines for comment in line.trail)
    tall = any("\n" in line.text or line.blank for line in lines[1:]) or "\n" in lines[0].text
    return 0 if tall or column + 2 + widest > WIDTH else column
