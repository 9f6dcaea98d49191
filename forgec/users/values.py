"""Values of facts in texts: how they are said, and whether they are; an empty text is a value, too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from forgec_runtime import says

BLANK = "(left empty)"


def is_blank(value: Any) -> bool:
    """Whether a value is a text of nothing."""
    return isinstance(value, str) and not value.strip()


def spoken(value: Any) -> str:
    """A sentence fragment that says a value."""
    return BLANK if is_blank(value) else says.spoken(value)


def said(value: Any, texts: Iterable[str]) -> bool:
    """Whether a value is said in texts."""
    return not is_blank(value) and says.said(value, texts)
