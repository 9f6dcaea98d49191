"""Explanations as one HTML page, without anything from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from forgec.dialogue import ToolCall
from forgec.explanation.text import shown_call
from forgec.explanation.turning import Explanation, Undone
from forgec.resources import resource


def page(explanations: Sequence[Explanation], title: str) -> str:
    """A page with a list of the episodes, and each with its transcript and what is to be said of it."""
    environment = Environment(
        loader=FileSystemLoader(resource("templates", "explain")),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["call"] = shown_call
    environment.filters["undone"] = _undone
    return environment.get_template("page.html.j2").render(title=title, explanations=explanations)


def _undone(undone: Undone) -> str:
    return shown_call(ToolCall.of(undone.tool, undone.arguments))
