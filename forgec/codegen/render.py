"""The files of a package, as text: the only door to Jinja2."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from forgec.codegen import source
from forgec.plans import python as py
from forgec.resources import resource


@cache
def _jinja() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(resource("templates", "package")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # Python, not HTML: every value of a spec goes through `literal` or `docstring`
    )
    environment.filters["literal"] = py.source_literal
    environment.filters["docstring"] = source.docstring
    return environment


def render(template: str, **context: Any) -> str:
    """A template filled in. Templates only lay out: names and literals in `context` are Python already."""
    return _jinja().get_template(template).render(**context)
