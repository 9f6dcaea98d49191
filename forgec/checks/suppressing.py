"""Comments that allow a finding: `-- allow AFW102: the reason`, at the end of its line or on the line above.

A comment allows one rule in one place, and says why. One that does not, or that allows nothing, is a finding itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from forgec.source import Source, Span
from forgec.syntax.scan import SCAN

_ALLOW = re.compile(r"--\s*allow\s+(?P<code>AF[SW]\w*)(?P<rest>.*)")


@dataclass(frozen=True, eq=False)
class Permission:
    """A comment, the rule that it names, its reason, and the line that it is about: below it, if it stands alone."""

    span: Span
    code: str
    reason: str
    line: int
    above: bool

    def allows(self, code: str, span: Span) -> bool:
        """Whether it is about a finding of this code at a place in its line."""
        return code == self.code and (not self.above or self.line == lines_of(span)[0])


def lines_of(span: Span) -> range:
    """The numbers of the lines that a place lies in."""
    return range(span.source.position(span.start)[0], span.source.position(max(span.end - 1, span.start))[0] + 1)


def permissions(source: Source) -> Iterator[Permission]:
    """The comments of a source that begin with `allow` and the code of a rule."""
    for match in SCAN.finditer(source.text):
        found = _ALLOW.fullmatch(match["comment"].rstrip()) if match["comment"] else None
        if found is None:
            continue
        line, column = source.position(match.start())
        above = not source.line(line)[: column - 1].strip()
        reason = found["rest"].removeprefix(":").strip() if found["rest"].startswith(":") else ""
        about = _next_code(source, line) if above else line
        yield Permission(
            Span(source, match.start(), match.start() + len(found[0])), found["code"], reason, about, above
        )


def _next_code(source: Source, line: int) -> int:
    """The first line below that holds more than a comment."""
    last = source.position(len(source.text))[0]
    while line < last:
        line += 1
        text = source.line(line).strip()
        if text and not text.startswith("--"):
            break
    return line
