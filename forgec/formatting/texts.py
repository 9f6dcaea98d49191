"""Texts in triple quotes: their common indentation is no part of their value, and follows that of their place."""

from __future__ import annotations

import re
import textwrap

_BRACES = re.compile(r"\{\{|\}\}")


def without_indent(text: str) -> str:
    """A text over several lines as it would be written in column 1; a text on one line as it is."""
    if "\n" not in text:
        return text
    value = textwrap.dedent(text[3:-3].replace("\r\n", "\n")).strip()
    return f'"""\n{value}\n"""' if value else '""""""'


def indented(text: str, indent: int) -> str:
    """A text without indentation, moved to its place; its first line follows what stands there."""
    first, *rest = text.split("\n")
    return "\n".join([first, *(" " * indent + line if line else "" for line in rest)])


def holes_break(text: str) -> bool:
    """Whether an expression inside a message runs over a line break: then its white space may mean something."""
    lines = _BRACES.sub("", text).split("\n")
    return any(line.count("{") != line.count("}") for line in lines)
