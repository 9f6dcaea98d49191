"""Documents as tests read them: code blocks, tables, hidden preludes, and specs put together from pieces."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from forgec.syntax.scan import KEYWORDS

_FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_PRELUDE = re.compile(r"^<!-- prelude\n(.*?)^-->$", re.MULTILINE | re.DOTALL)
_ITEM = re.compile(rf'^(?P<kind>{"|".join(KEYWORDS)})\b[ \t]*(?P<name>"[^"\n]*"|[A-Za-z_0-9]*)', re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A code block: the first word of its info string, the `name=value` words after it, and where its text lies."""

    language: str
    attributes: dict[str, str]
    text: str
    line: int
    start: int
    end: int


def blocks(document: str) -> list[Block]:
    """All fenced blocks in order."""
    found = []
    for match in _FENCE.finditer(document):
        language, *words = match["info"].split() or [""]
        attributes = dict(word.split("=", 1) for word in words)
        line = document.count("\n", 0, match.start()) + 1
        found.append(Block(language, attributes, match["text"], line, *match.span("text")))
    return found


def prelude(document: str) -> str:
    """What completes the fragments of a document: a spec in an HTML comment."""
    match = _PRELUDE.search(document)
    assert match, "the document has no prelude"
    return match[1]


def table_rows(document: str, first_header: str) -> list[list[str]]:
    """The cells of all tables whose first header is this."""
    rows: list[list[str]] = []
    inside = False
    for line in document.splitlines():
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
        if not cells:
            inside = False
        elif cells[0] == first_header:
            inside = True
        elif inside and not re.fullmatch(r"[-: ]+", cells[0]):
            rows.append(cells)
    return rows


def declarations(spec: str) -> list[tuple[tuple[str, str], str]]:
    """The declarations of a spec: kind and name, and the text up to the next one."""
    starts = list(_ITEM.finditer(spec))
    ends = [*(match.start() for match in starts[1:]), len(spec)]
    return [((m["kind"], m["name"]), spec[m.start() : end]) for m, end in zip(starts, ends, strict=True)]


def merged(spec: str, fragment: str) -> str:
    """`spec` with the declarations of `fragment`: one of the same kind and name is replaced, others are appended."""
    found = {**dict(declarations(spec)), **dict(declarations(fragment))}
    return "\n\n".join(text.rstrip("\n") for text in found.values()) + "\n"


def replaced(document: str, changes: list[tuple[Block, str]]) -> str:
    """`document` with new texts for some of its blocks."""
    for block, text in sorted(changes, key=lambda change: -change[0].start):
        document = document[: block.start] + text + document[block.end :]
    return document


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
