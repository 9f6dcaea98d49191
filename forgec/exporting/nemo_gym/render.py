"""The templates of a project, filled in, and its files of YAML."""

from __future__ import annotations

from functools import cache
from typing import Any

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from forgec.resources import resource


def rendered(template: str, **context: Any) -> bytes:
    """A template filled in. Of a spec nothing but names goes into Python."""
    return _jinja().get_template(template).render(**context).encode()


def yaml_of(content: dict[str, Any]) -> bytes:
    """A mapping as YAML, its keys in their order."""
    text: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120)
    return text.encode()


@cache
def _jinja() -> Environment:
    return Environment(
        loader=FileSystemLoader(resource("templates", "nemo_gym")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # Python and Markdown, not HTML
    )
