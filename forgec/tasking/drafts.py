"""A task in the making: who asks, what is done, and the episode that it has led to so far."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from forgec.tasking.guards import Guard
from forgec_runtime.episode import Episode


@dataclass(frozen=True)
class Origin:
    """Where a value was taken from: a column of a row, or a field of it. `new` is what the state gets to know by it."""

    table: str = ""
    path: tuple[str, ...] = ()
    row: Mapping[str, Any] | None = None
    new: bool = False


@dataclass(frozen=True)
class Proposal:
    """Arguments that may do for a tool, in the values of the runtime, and where each comes from."""

    tool: str
    arguments: Mapping[str, Any]
    origins: Mapping[str, Origin]
    person: Mapping[str, Any] | None = None


@dataclass(frozen=True, eq=False)
class Move:
    """A call that was tried in `before`: what came of it. One that a guard refused, or that broke a rule, was not made.

    `opens` says that nobody asked for it: it only makes a later one possible.
    """

    proposal: Proposal
    before: Episode
    value: Any
    guard: Guard | None = None
    opens: bool = False

    @property
    def tool(self) -> str:
        return self.proposal.tool


@dataclass(eq=False)
class Draft:
    """`number` and the seed decide on everything; `wanted` are how many calls that write and that only look."""

    number: int
    chance: random.Random
    world: str
    person: Mapping[str, Any] | None
    """Who asks; until the first call anybody may."""
    episode: Episode
    start: Episode
    writes: int
    looks: int
    refusals: int
    moves: list[Move] = field(default_factory=list)
    wish: list[tuple[str, Guard | None]] = field(default_factory=list)
    """What is tried next, the last first."""
    failed: dict[str, int] = field(default_factory=dict)
    tried: Counter[str] = field(default_factory=Counter)
    """How often a call of a tool, or a refusal by a guard, was looked for."""
    rounds: int = 0
    change: list[str] = field(default_factory=list)
    """What is otherwise in the beginning than in its world, in SQL, and in which tables."""
    altered: frozenset[str] = frozenset()

    @property
    def open(self) -> bool:
        return self.rounds < 14 and bool(self.writes or self.looks or self.refusals)

    @property
    def made(self) -> list[Move]:
        """The calls that were made."""
        return [move for move in self.moves if move.guard is None]
