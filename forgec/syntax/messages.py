"""Texts with holes, and the SQL of a text that no parser has seen: their `$names` are found by themselves."""

from __future__ import annotations

import re

from forgec.diagnostics import Report
from forgec.source import Span
from forgec.syntax import nodes, text

_TOKEN = re.compile(r"'(?:[^']|'')*'|\$[A-Za-z_][A-Za-z0-9_]*")


def message(span: Span, report: Report) -> nodes.Message:
    """The text that stands in quotes at `span`."""
    parts: list[str | nodes.Hole] = []
    for part in text.split_message(span, report):
        parts.append(part if isinstance(part, str) else nodes.Hole(part[0], sql_text(part[0]), part[1]))
    return nodes.Message(span, tuple(parts))


def sql_text(span: Span) -> nodes.SqlText:
    """SQL with its `$names` that stand outside of SQL strings."""
    params = tuple(
        Span(span.source, span.start + match.start(), span.start + match.end())
        for match in _TOKEN.finditer(span.text)
        if match[0].startswith("$")
    )
    return nodes.SqlText(span, params)
