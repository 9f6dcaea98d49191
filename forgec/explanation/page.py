"""Explanations as one HTML page, without anything from elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from forgec.dialogue import ToolCall
from forgec.explanation.text import shown_call
from forgec.explanation.turning import Explanation, Undone
from forgec.pages import render_page


def page(explanations: Sequence[Explanation], title: str) -> str:
    """A page with a list of the episodes, and each with its transcript and what is to be said of it."""
    filters: dict[str, Callable[..., str]] = {"call": shown_call, "undone": _undone}
    return render_page("explain", filters, title=title, explanations=explanations)


def _undone(undone: Undone) -> str:
    return shown_call(ToolCall.of(undone.tool, undone.arguments))
