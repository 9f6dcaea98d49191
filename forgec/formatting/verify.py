"""The proof that comes with every run: what was written says the same as what was read.

Compared are the syntax trees without their places, the tokens, and the comments in their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import zip_longest

from forgec.diagnostics import Report
from forgec.formatting.keywords import KEYWORDS
from forgec.formatting.leaves import Node
from forgec.source import Source, Span
from forgec.syntax import parse
from forgec.syntax.nodes import File, SqlText


@dataclass(frozen=True)
class Content:
    """What a file says, apart from its layout: no layout may change it."""

    file: File
    tokens: tuple[str, ...]
    comments: tuple[str, ...]


def content(file: File, tree: Node) -> Content:
    """The content of a file, from its syntax tree and its tokens, which must not be prepared for printing yet."""
    leaves = list(tree.leaves())
    comments = [comment.text for leaf in leaves for comment in (*leaf.own, *leaf.inline, *leaf.trail)]
    return Content(file, tuple(leaf.text for leaf in leaves), tuple(comments))


def difference(before: Content, after: Source, tree: Node | None) -> str | None:
    """What a formatted source, whose tokens are `tree`, says differently from the one it was made of, or None."""
    report = Report()
    file = parse(after, report)
    if report.failed or tree is None:
        found = next(iter(report), None)
        return f"it does not parse: {found.message if found else 'syntax error'}"
    again = content(file, tree)
    unlike = next(_unlike_nodes(before.file, file, "the file"), None)
    return (
        unlike
        or _unlike_texts("token", before.tokens, again.tokens)
        or _unlike_texts("comment", before.comments, again.comments)
    )


def _unlike_nodes(before: object, after: object, where: str) -> Iterator[str]:
    """The places where two syntax trees differ. The text of SQL is left to the comparison of the tokens."""
    if isinstance(before, Span):
        return
    if isinstance(before, SqlText) and isinstance(after, SqlText):
        yield from _unlike_nodes(len(before.params), len(after.params), f"{where}, number of values")
    elif isinstance(before, tuple) and isinstance(after, tuple) and len(before) == len(after):
        for i, (one, other) in enumerate(zip(before, after, strict=True), start=1):
            yield from _unlike_nodes(one, other, f"{where} {i}")
    elif is_dataclass(before) and type(before) is type(after):
        for field in fields(before):
            yield from _unlike_nodes(getattr(before, field.name), getattr(after, field.name), f"{where}, {field.name}")
    elif before != after:
        yield f"the syntax trees differ at {where}: {_short(before)} became {_short(after)}"


def _unlike_texts(what: str, before: Sequence[str], after: Sequence[str]) -> str | None:
    for i, (one, other) in enumerate(zip_longest(before, after), start=1):
        keyword = one is not None and other is not None and one.lower() == other and other in KEYWORDS
        if one != other and not (keyword and what == "token"):
            return f"{what} {i} differs: {_short(one)} became {_short(other)}"
    return None


def _short(value: object) -> str:
    if value is None:
        return "nothing"
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
