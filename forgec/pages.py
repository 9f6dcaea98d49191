"""HTML pages that need nothing from elsewhere, of templates that escape whatever they are given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from forgec.resources import resource


def render_page(folder: str, filters: Mapping[str, Callable[..., str]] | None = None, **context: Any) -> str:
    """`page.html.j2` of a folder of the templates, filled in."""
    environment = Environment(
        loader=FileSystemLoader(resource("templates", folder)),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(filters or {})
    return environment.get_template("page.html.j2").render(**context)
