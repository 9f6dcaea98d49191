"""What a file is, from the first lines of it: the spec of an environment, or a part of one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from forgec.diagnostics import Report
from forgec.files.reading import read
from forgec.source import Source, Span
from forgec.syntax.scan import SCAN

_WORDS = re.compile(r"^(?:environment|extend)\b", re.MULTILINE)
_NAME = re.compile(r"(?:\s|--[^\n]*|/\*[\s\S]*?\*/)*([A-Za-z_][A-Za-z0-9_]*)")


@dataclass(frozen=True)
class Head:
    """`environment library` or `extend library`, and where the name stands."""

    extends: bool
    name: str
    span: Span


def head_of(source: Source) -> Head | None:
    """The head of a file, an environment before an `extend`; None where it has none, or none that can be read."""
    text = source.text
    found: Head | None = None
    for match in SCAN.finditer(text) if _WORDS.search(text) else ():
        if match["item"] in ("environment", "extend") and (name := _NAME.match(text, match.end())):
            head = Head(match["item"] == "extend", name[1], Span(source, name.start(1), name.end(1)))
            if not head.extends:
                return head
            found = found or head
    return found


def heads_in(folder: Path) -> Iterator[tuple[Path, Head]]:
    """The specs of a folder, and the parts of specs, in the order of their names; what cannot be read is neither."""
    for path in sorted(folder.glob("[!.]*.afs")):
        source = read(path, Report()) if path.is_file() else None
        head = None if source is None else head_of(source)
        if head is not None:
            yield path, head
