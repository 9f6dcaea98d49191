"""Where the values of a line of JSON stand. Only lines about which something is to be said are looked at so closely."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from forgec.diagnostics import Diagnostic, Label
from forgec.source import Source, Span

Path = tuple[str | int, ...]

_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL
)
"""One character of a string of JSON, as it may be written."""
_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+)')


class Places:
    """The spans of all values of one line, by their paths; a line without them gives its own span for each."""

    def __init__(self, source: Source, start: int, end: int, *, exact: bool) -> None:
        self.line = Span(source, start, end)
        self.number = source.position(start)[0] if exact else 0
        self.spans: dict[Path, Span] = {}
        self.exact = exact
        self.texts: dict[Source, tuple[int, list[int]]] = {}
        """Of each text that is a source of its own: where it begins, and how far from there each character stands."""
        if exact:
            self._offset = 0
            self._value(())

    def of(self, path: Path) -> Span:
        """The place of a value; of the value around it where that is not there."""
        while path and path not in self.spans:
            path = path[:-1]
        return self.spans.get(path, self.line)

    def placed(self, finding: Diagnostic) -> Diagnostic:
        """A finding of this line, with its places in texts of their own as places in the line."""
        primary = finding.primary and self._label(finding.primary)
        return replace(finding, primary=primary, related=tuple(self._label(label) for label in finding.related))

    def _label(self, label: Label) -> Label:
        span = label.span
        if span.source not in self.texts:
            return label
        start, offsets = self.texts[span.source]
        first, end = (offsets[min(place, len(offsets) - 1)] for place in (span.start, span.end))
        return Label(Span(self.line.source, start + first, start + max(end, first + 1)), label.text)

    def text(self, path: Path, text: str) -> Span:
        """A text that is to be read: where it stands, if it stands there as it is."""
        if self.exact:
            span = self.of(path)
            inner = Span(span.source, span.start + 1, max(span.end - 1, span.start + 1))
            if inner.text == text:
                return inner
        return self.apart(path, text)

    def apart(self, path: Path, text: str, quotes: str = "") -> Span:
        """A text as a source of its own, in `quotes`; `placed` knows where the parts of it stand in the line."""
        name = f"{self.line.source.name}:{self.number} {shown(path)}" if self.exact else self.line.source.name
        source = Source(name, f"{quotes}{text}{quotes}")
        if self.exact:
            span = self.of(path)
            raw = [match.start() for match in _CHARACTER.finditer(span.text[1:-1])]
            if len(raw) == len(text):  # it is written as a text, and nothing else
                end = len(span.text) - 2
                self.texts[source] = span.start + 1, [*[0] * len(quotes), *raw, *[end] * (len(quotes) + 1)]
        return Span(source, 0, len(source.text))

    def _next(self) -> tuple[str, int, int]:
        match = _TOKEN.match(self.line.text, self._offset)
        assert match is not None
        self._offset = match.end()
        return match[1], self.line.start + match.start(1), self.line.start + match.end(1)

    def _value(self, path: Path) -> None:
        token, start, end = self._next()
        if token in ("{", "["):
            end = self._parts(path, "}" if token == "{" else "]")
        self.spans[path] = Span(self.line.source, start, end)

    def _parts(self, path: Path, closing: str) -> int:
        count = 0
        while True:
            before = self._offset
            token, _, end = self._next()
            if token == closing:
                return end
            if token == ",":
                continue
            key: str | int = count
            if closing == "}":
                key = json.loads(token)
                self._next()
            else:
                self._offset = before
            self._value((*path, key))
            count += 1


def shown(path: Path) -> str:
    """`plan[2].arguments.amount`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
