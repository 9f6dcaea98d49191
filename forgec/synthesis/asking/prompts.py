"""The questions, from templates under `templates/prompts/`: texts of documents come in as data, marked as such."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from forgec.resources import resource
from forgec.synthesis.asking.reference import SECTIONS, example, reference

REFERENCE_SHARE = 0.5
"""The part of a prompt that the reference of the language may take."""


@cache
def _jinja() -> Environment:
    return Environment(
        loader=FileSystemLoader(resource("templates", "prompts")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # a prompt is no page; what a document says is fenced by `quoted`
    )


def quoted(text: str) -> str:
    """A text of somebody else between marks that do not occur in it."""
    mark = "=" * 8
    while mark in text:
        mark += "="
    return f"{mark}\n{text}\n{mark}"


def question(template: str, stage: str, limit: int, **context: Any) -> list[dict[str, str]]:
    """The messages of a question: what the model is told of the language, and what it is asked."""
    reserved = int(limit * REFERENCE_SHARE) - len(example())
    system = (
        _jinja()
        .get_template("system.md.j2")
        .render(example=example(), reference=reference(SECTIONS[stage], max(reserved, 0)))
    )
    user = _jinja().get_template(template).render(quoted=quoted, **context)
    return [{"role": "system", "content": system.strip()}, {"role": "user", "content": user.strip()}]
