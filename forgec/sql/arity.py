"""Calls of functions with more arguments than these take: sqlglot drops the others of some, without a word."""

from __future__ import annotations

import re
from collections.abc import Iterator

MOST = {
    **dict.fromkeys(("sha256", "list_distinct", "array_distinct", "list_sort", "array_sort", "list_unique"), 1),
    **dict.fromkeys(("left", "right", "date_trunc", "datetrunc", "list_append", "array_append"), 2),
    **dict.fromkeys(("array_push_back", "list_contains", "array_contains", "list_has", "array_has"), 2),
    **dict.fromkeys(("list_has_any", "array_has_any", "ifnull"), 2),
    **dict.fromkeys(("substring", "substr", "date_diff", "datediff"), 3),
}
"""How many arguments these functions take at most."""

_TOKEN = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*[\s\S]*?\*/|\w+|[()\[\]{},]|\S""")


def calls_with_too_many(text: str) -> Iterator[tuple[int, int, str]]:
    """Where such calls begin and end in SQL, and what they call."""
    open_: list[tuple[int, str, int]] = []
    """For each bracket that is open: where it began with the name before it, that name, and its commas so far."""
    word, start = "", 0
    for token in _TOKEN.finditer(text):
        if token[0].startswith(("--", "/*")):
            continue
        if token[0] in "([{":
            open_.append((start if word else token.start(), word, 0))
        elif token[0] in ")]}" and open_:
            began, name, commas = open_.pop()
            if commas >= MOST.get(name, commas + 1):
                yield began, token.end(), name
        elif token[0] == "," and open_:
            began, name, commas = open_[-1]
            open_[-1] = began, name, commas + 1
        word, start = token[0].lower() if token[0].isidentifier() else "", token.start()
