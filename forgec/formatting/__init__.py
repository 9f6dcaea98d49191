"""The layout of specs, as `forgec fmt` writes it.

`tree` reads tokens with their comments, `declarations`, `statements`, `lists` and `worlds` decide what goes on which
line of a `page`, `flow` breaks long SQL, `align` makes columns, and `verify` proves that nothing else has changed.
"""

from __future__ import annotations

from forgec.diagnostics import Report
from forgec.formatting.declarations import put_file
from forgec.formatting.leaves import Node
from forgec.formatting.page import Page
from forgec.formatting.tree import prepare, read
from forgec.formatting.verify import content, difference
from forgec.source import Source
from forgec.syntax import parse

__all__ = ["FormatError", "format_source"]


class FormatError(Exception):
    """A defect of the formatter, found before it did harm; the message says what differs."""


def format_source(source: Source, report: Report) -> str | None:
    """The text of a spec in its proper layout; None when it does not parse, which is reported.

    Raises `FormatError` when the result would not say the same, or would not be its own layout.
    """
    file = parse(source, report)
    if report.failed:
        return None
    tree = read(source)
    if tree is None:
        raise FormatError("the syntax tree can be built, and the tree of tokens cannot")
    before = content(file, tree)
    text = _printed(tree)
    after = Source(source.name, text)
    again = read(after)
    unlike = difference(before, after, again) or _second_run(text, again)
    if unlike is not None:
        raise FormatError(unlike)
    return text


def _printed(tree: Node) -> str:
    prepare(tree)
    page = Page()
    put_file(page, tree)
    return page.render()


def _second_run(text: str, tree: Node | None) -> str | None:
    """Where a second run, over the tree of the formatted text, would change it."""
    again = "" if tree is None else _printed(tree)
    if again == text:
        return None
    lines = text.splitlines()
    number = next((i for i, line in enumerate(again.splitlines()) if lines[i : i + 1] != [line]), len(lines)) + 1
    return f"a second run would change line {number}"
