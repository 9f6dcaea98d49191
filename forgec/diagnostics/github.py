"""Diagnostics as the commands that a GitHub action shows beside the lines of a change."""

from __future__ import annotations

from collections.abc import Iterable

from forgec.diagnostics.model import Diagnostic


def render_github(diagnostics: Iterable[Diagnostic]) -> str:
    """A line for each diagnostic, in their order; nothing in a message can begin a command of its own."""
    return "\n".join(_line(one) for one in diagnostics)


def _line(diagnostic: Diagnostic) -> str:
    place = {"file": diagnostic.file, "title": diagnostic.code}
    if diagnostic.primary is not None:
        span = diagnostic.primary.span
        line, column = span.source.position(span.start)
        last, end = span.source.position(span.end)
        place |= {"line": str(line), "endLine": str(last)}
        if line == last:  # columns are for one line alone
            place |= {"col": str(column), "endColumn": str(end)}
    label = diagnostic.primary.text if diagnostic.primary else ""
    message = ": ".join(part for part in (diagnostic.message, label) if part)
    rest = [*diagnostic.notes, *([f"help: {diagnostic.help}"] if diagnostic.help else [])]
    properties = ",".join(f"{name}={_property(value)}" for name, value in place.items())
    return f"::{diagnostic.severity} {properties}::{_data(chr(10).join([message, *rest]))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
