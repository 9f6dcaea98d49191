"""What a prompt says of the language: parts of docs/language.md, whose examples are tests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

from forgec.resources import resource

_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_MISTAKE = re.compile(r"^```(?:afs error=|csv|json)[^\n]*\n.*?^```\n+", re.MULTILINE | re.DOTALL)
_ANCHOR = re.compile(r'<a id="[^"]*"></a>')
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_HEADING = re.compile(r"^(?P<marks>##+) (?P<title>.+)$", re.MULTILINE)
_PRELUDE = re.compile(r"^<!-- prelude\n(.*?)^-->$", re.MULTILINE | re.DOTALL)

SECTIONS: Mapping[str, tuple[str, ...]] = {
    "operations": (),
    "state": ("Lexical rules", "Types", "enum and record", "table", "single", "Nested tables"),
    "tools": (
        "Statements", "tool", "function", "action", "Messages", "Values, scopes, NULL", "Functions", "Queries", "each",
        "Lists and maps", "Casts",
    ),
    "policy": ("invariant", "rule", "function", "Values, scopes, NULL"),
    "world": ("world", "Rows that are made"),
    "tests": ("test", "tool"),
    "graph": ("task",),
    "tasks": ("task", "Several ends, forbidden calls", "Requests and conditions"),
}  # fmt: skip
"""The sections that a stage needs, those first that it needs most."""


@cache
def _language() -> str:
    return resource("docs", "language.md").read_text(encoding="utf-8")


def example() -> str:
    """The spec that the examples of the reference are about."""
    match = _PRELUDE.search(_language())
    assert match is not None
    return match[1].strip()


@cache
def sections() -> dict[str, str]:
    """The text of each section by its title, without what shows mistakes, and without the sections inside of it."""
    text = _LINK.sub(r"\1", _ANCHOR.sub("", _MISTAKE.sub("", _COMMENT.sub("", _language()))))
    heads = list(_HEADING.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    return {
        head["title"]: re.sub(r"\n{3,}", "\n\n", text[head.start() : end]).strip()
        for head, end in zip(heads, ends, strict=True)
    }


def reference(titles: Iterable[str], limit: int) -> str:
    """So many sections as fit into `limit` characters, in the order given."""
    found: list[str] = []
    left = limit
    for title in titles:
        section = sections()[title]
        if len(section) <= left:
            found.append(section)
            left -= len(section) + 2
    return "\n\n".join(found)
