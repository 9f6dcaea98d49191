"""Diagnostics for people: the message, the user's own lines with what is wrong marked, a way out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from forgec.diagnostics.cells import clean
from forgec.diagnostics.excerpt import Mark, Role, Row, bar, excerpt
from forgec.diagnostics.model import Diagnostic, Label
from forgec.source import Source

_ANSI: dict[Role, str] = {"error": "1;31", "warning": "1;33", "place": "1;34", "frame": "1;34", "strong": "1"}


def render_text(diagnostics: Iterable[Diagnostic], *, color: bool = False) -> str:
    """All `diagnostics` in their order, a blank line between them and no line end after the last.

    Characters of sources, messages and names that a terminal would obey, reorder or hide are made visible;
    the only escape sequences are those of `color`.
    """
    return "\n\n".join("\n".join(_painted(row, color) for row in _rows(one)) for one in diagnostics)


def summary(diagnostics: Iterable[Diagnostic]) -> str:
    """How many there are, for the last line: `2 errors, 1 warning`."""
    counts = Counter(diagnostic.severity for diagnostic in diagnostics)
    parts = (f"{n} {kind}{'s' * (n != 1)}" for kind in ("error", "warning") if (n := counts[kind]))
    return ", ".join(parts) or "no findings"


def _rows(diagnostic: Diagnostic) -> Iterator[Row]:
    blocks = _blocks(diagnostic)
    last_lines = (mark.line for marks in blocks.values() for mark in marks)
    gutter = len(str(max(last_lines, default=1)))
    severity = diagnostic.severity
    yield [(f"{severity}[{diagnostic.code}]", severity), (f": {clean(diagnostic.message)}", "strong")]
    if diagnostic.primary is None and diagnostic.path:
        yield _arrow("-->", diagnostic.path, gutter)
    for source, marks in blocks.items():
        yield from _block(diagnostic, source, marks, gutter)
    if blocks and (diagnostic.notes or diagnostic.help):
        yield bar(gutter)
    for note in diagnostic.notes:
        yield from _remark("note", note, gutter)
    if diagnostic.help:
        yield from _remark("help", diagnostic.help, gutter)


def _blocks(diagnostic: Diagnostic) -> dict[Source, list[Mark]]:
    """The marks of each source, the one of the primary label first."""
    blocks: dict[Source, list[Mark]] = {}
    for label in _labels(diagnostic):
        role: Role = diagnostic.severity if label is diagnostic.primary else "place"
        blocks.setdefault(label.span.source, []).append(Mark.of(label, role))
    return blocks


def _labels(diagnostic: Diagnostic) -> tuple[Label, ...]:
    return diagnostic.related if diagnostic.primary is None else (diagnostic.primary, *diagnostic.related)


def _block(diagnostic: Diagnostic, source: Source, marks: list[Mark], gutter: int) -> Iterator[Row]:
    main = diagnostic.primary is not None and source == diagnostic.primary.span.source
    first = next(label for label in _labels(diagnostic) if label.span.source == source)
    line, column = source.position(first.span.start)
    if not main:
        yield bar(gutter)
    yield _arrow("-->" if main else ":::", f"{source.name}:{line}:{column}", gutter)
    yield bar(gutter)
    yield from excerpt(source, marks, gutter)


def _arrow(arrow: str, place: str, gutter: int) -> Row:
    return [(" " * gutter + arrow, "frame"), (f" {clean(place)}", "plain")]


def _remark(kind: str, text: str, gutter: int) -> Iterator[Row]:
    indent = " " * (gutter + 1)
    first, *others = text.split("\n")
    yield [(f"{indent}= ", "frame"), (kind, "strong"), (f": {clean(first)}", "plain")]
    for other in others:
        yield [(f"{indent}{' ' * len(f'= {kind}: ')}{clean(other)}".rstrip(), "plain")]


def _painted(row: Row, color: bool) -> str:
    return "".join(_piece(text, role) if color else text for text, role in row)


def _piece(text: str, role: Role) -> str:
    return f"\x1b[{_ANSI[role]}m{text}\x1b[0m" if text and role in _ANSI else text
