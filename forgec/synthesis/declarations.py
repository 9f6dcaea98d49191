"""A spec as its declarations: cut out of texts, put together in one order, compared one by one."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from forgec.diagnostics import Report
from forgec.formatting import FormatError, format_source
from forgec.source import Source
from forgec.starting.spec_text import SpecText
from forgec.syntax.scan import KEYWORDS, SCAN

_HEAD = re.compile(rf'(?:user\s+)?(?P<kind>{"|".join(KEYWORDS)})\b\s*(?P<name>"(?:[^"\\\n]|\\.)*"|[A-Za-z_]\w*)?')
_GROUPS: tuple[tuple[str, ...], ...] = (
    ("environment",), ("policy",), ("enum",), ("record", "type"), ("table", "single"),
    ("view", "function", "action"), ("invariant",), ("tool",), ("sync",), ("rule",), ("world",), ("test",), ("task",),
)  # fmt: skip
"""The order of kinds in a spec; within a group declarations stay in the order in which they came."""
RANK = {kind: rank for rank, kinds in enumerate(_GROUPS) for kind in kinds}
_HEADINGS = {
    2: "What there is", 5: "What is worked out, and what always holds", 7: "What the agent can do",
    9: "What the agent is told", 10: "Where it begins", 11: "Does it do what the document says?",
    12: "What is asked for",
}  # fmt: skip


@dataclass(frozen=True)
class Chunk:
    """A declaration in a text: its key, and where it lies, the comments right above it included."""

    key: str
    start: int
    end: int
    text: str


def chunks(text: str) -> list[Chunk]:
    """The declarations of a text, whether they can be parsed or not."""
    starts = [match.start() for match in SCAN.finditer(text) if match["item"]]
    begins = [_with_comments(text, last, start) for last, start in zip([0, *starts], starts, strict=False)]
    found = []
    for start, begin, end in zip(starts, begins, [*begins, len(text)][1:], strict=True):
        body = _without_tail(text[begin:end])
        found.append(Chunk(key_of(text[start:end]), begin, begin + len(body), body))
    return found


def _without_tail(text: str) -> str:
    """A declaration without what follows it: blank lines, and comments in column 1."""
    lines = text.rstrip().split("\n")
    while len(lines) > 1 and (not lines[-1].strip() or lines[-1].startswith("--")):
        lines.pop()
    return "\n".join(lines).rstrip()


def _with_comments(text: str, least: int, start: int) -> int:
    """Where the lines of comment begin that stand right above `start`."""
    begin = start
    while begin > least:
        line = text.rfind("\n", 0, begin - 1) + 1
        if line < least or not text[line:begin].startswith("--"):
            break
        begin = line
    return begin


def key_of(text: str) -> str:
    """`tool rent`, `test a title`: how a declaration is known, by its first line."""
    match = _HEAD.match(text)
    if match is None:
        return text.split("\n", 1)[0][:80]
    return f"{match['kind']} {(match['name'] or '').strip(chr(34))}".strip()


@dataclass(frozen=True)
class Declaration:
    """A declaration, and where it is from."""

    key: str
    text: str
    stage: str
    operations: tuple[str, ...] = ()
    """The operations of the document that it is made for."""
    assumed: tuple[str, ...] = ()
    """What it takes to be so without the document saying it."""
    by: str = "model"

    @property
    def kind(self) -> str:
        return self.key.split(" ", 1)[0]

    @property
    def name(self) -> str:
        return self.key.partition(" ")[2]


@dataclass(frozen=True)
class Laid:
    """A spec's text, and the lines of each declaration: from, up to and without."""

    text: str
    lines: tuple[tuple[int, int, str], ...]

    def owner(self, line: int) -> str | None:
        return next((key for begin, end, key in self.lines if begin <= line < end), None)


@dataclass
class Declarations:
    """The declarations of a spec by their keys, in the order in which they came."""

    held: dict[str, Declaration] = field(default_factory=dict)

    def put(self, declaration: Declaration) -> None:
        """Add one, or put it in the place of the one with its key."""
        self.held[declaration.key] = declaration

    def drop(self, key: str) -> None:
        self.held.pop(key, None)

    def __iter__(self) -> Iterator[Declaration]:
        return iter(sorted(self.held.values(), key=lambda one: RANK.get(one.kind, len(_GROUPS))))

    def __contains__(self, key: object) -> bool:
        return key in self.held

    def of(self, *kinds: str) -> list[Declaration]:
        return [one for one in self if one.kind in kinds]

    def text_of(self, *kinds: str) -> str:
        """The text of all declarations of some kinds."""
        return "\n\n".join(one.text for one in self.of(*kinds))

    def laid(self, extra: Iterable[str] = (), *, head: str = "") -> Laid:
        """The whole spec, with `extra` texts at its end, and `head` as a comment at its beginning."""
        out = SpecText()
        if head:
            out.comment(head)
            out.add("")
        lines: list[tuple[int, int, str]] = []
        shown: set[int] = set()
        for one in self:
            rank = max((first for first in _HEADINGS if first <= RANK.get(one.kind, 0)), default=0)
            if rank and rank not in shown:
                shown.add(rank)
                out.heading(_HEADINGS[rank])
            begin = len(out.lines) + 1
            out.lines += [*one.text.split("\n"), ""]
            lines.append((begin, len(out.lines) + 1, one.key))
        for text in extra:
            out.lines += [*text.split("\n"), ""]
        return Laid(out.text, tuple(lines))


def cut(text: str, stage: str, *, operations: Iterable[str] = (), assumed: Iterable[str] = ()) -> list[Declaration]:
    """The declarations in a text that somebody wrote, in whatever indentation."""
    plain = textwrap.dedent(text.replace("\r\n", "\n")).strip()
    made = tuple(operations), tuple(assumed)
    return [Declaration(one.key, one.text, stage, *made) for one in chunks(plain)]


def tidy(text: str) -> str:
    """A declaration in the layout of `forgec fmt`, so that two can be compared; as it is where it does not parse."""
    try:
        return (format_source(Source("declaration.afs", text + "\n"), Report()) or text).strip()
    except FormatError:
        return text.strip()
