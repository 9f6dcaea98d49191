"""Diagnostics for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable

from forgec.diagnostics.model import Diagnostic, Label


def render_json(diagnostics: Iterable[Diagnostic]) -> str:
    """All `diagnostics` in their order, as a JSON array of objects with the same keys in the same order.

    Lines and columns count from 1 and offsets from 0, both in characters; ends are exclusive; what a
    diagnostic lacks is null. The text is ASCII, so nothing in it can be obeyed by a terminal.
    """
    return json.dumps([as_dict(one) for one in diagnostics], indent=2)


def as_dict(diagnostic: Diagnostic) -> dict[str, object]:
    """One diagnostic as `render_json` writes it."""
    place = _nowhere(diagnostic.path) if diagnostic.primary is None else _place(diagnostic.primary)
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        **place,
        "related": [_place(label) for label in diagnostic.related],
        "notes": list(diagnostic.notes),
        "help": diagnostic.help,
    }


def _place(label: Label) -> dict[str, object]:
    span = label.span
    line, column = span.source.position(span.start)
    end_line, end_column = span.source.position(span.end)
    return {
        "file": span.source.name,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
        "offset": span.start,
        "end_offset": span.end,
        "label": label.text,
    }


def _nowhere(path: str | None) -> dict[str, object]:
    """The keys of a place for a diagnostic that has none inside its file."""
    keys = ("line", "column", "end_line", "end_column", "offset", "end_offset", "label")
    return {"file": path, **dict.fromkeys(keys)}
