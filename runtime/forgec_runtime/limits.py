"""How much an agent may send, an episode may hold and a call may tell. Beyond that a call fails, with a text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .errors import Refusal
from .results import to_bytes

MAX_ARGUMENTS = 1_000_000
"""Of the arguments of one call: characters, or bytes, of their JSON, and what they weigh."""
MAX_HELD = 4_000_000
"""What the rows may weigh that an episode, or one call, has changed."""
MAX_RESULT = 1_000_000
"""Characters of what a call tells."""
MAX_ANSWER = 100_000
"""Rows that one call gets of one query."""
MAX_ANSWERS = 1_000_000
"""Rows that all calls of a step get of one query at once; where there are more, each call asks alone."""


def weight(value: Any) -> int:
    """What a value takes: one, and one for each character, or part with what it takes itself."""
    if type(value) is str:
        return 1 + len(value)
    if type(value) is list or type(value) is tuple:
        return 1 + row_weight(value)
    if type(value) is dict:
        return 1 + row_weight(value) + row_weight(value.values())
    return 1


def weight_of(rows: Mapping[Any, Mapping[str, Any] | None]) -> int:
    """What changed rows of one table take; of a deleted one, its key."""
    return sum(weight(key) if row is None else row_weight(row.values()) for key, row in rows.items())


def row_weight(values: Iterable[Any]) -> int:
    """What the values of a row take, or others."""
    taken = 0
    for value in values:  # most are texts, and this runs for every row that is written
        taken += 1 + len(value) if type(value) is str else weight(value)
    return taken


def weight_at_most(values: Iterable[Any]) -> int:
    """No less than what values take, found sooner: of what has parts, as many as its JSON has bytes."""
    taken = 0
    for value in values:
        if type(value) is str:
            taken += 1 + len(value)
        elif type(value) is dict or type(value) is list:
            try:
                taken += len(to_bytes(value))
            except TypeError:
                taken += weight(value)
        else:
            taken += 1
    return taken


def too_much_held() -> Refusal:
    """What is read by whoever stores more than an episode may hold."""
    return Refusal(f"There is no room left: what an episode changes may have {MAX_HELD:,} characters in all")


def too_long() -> Refusal:
    """What is read in the place of a result that nobody would read."""
    return Refusal(f"The result would have more than {MAX_RESULT:,} characters")
