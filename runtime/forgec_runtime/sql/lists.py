"""Lists and maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def element(a: Sequence[Any] | None, position: int | None) -> Any:
    """What a list has at a position, counted from 1; None where it has nothing."""
    if a is None or position is None or not 1 <= position <= len(a):
        return None
    return a[position - 1]


def entry(a: Mapping[str, Any] | None, key: str | None) -> Any:
    """What a map has at a key; None where it has nothing."""
    return None if a is None or key is None else a.get(key)
