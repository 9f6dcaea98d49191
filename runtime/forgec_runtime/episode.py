"""Episodes: copy-on-write overlays over a world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import digests, snapshots
from .briefing import Briefing
from .encoding import encode
from .positions import without_gaps
from .schema import Key

if TYPE_CHECKING:
    from .base import Base
    from .starts import Start
    from .tasks import Task
    from .tool import Tool

Overlay = dict[str, dict[Key, Any]]
"""Changed rows by table and key; None marks a deleted row."""


class Episode:
    """One run in one world. It holds what it changed and nothing else; only the environment changes it."""

    __slots__ = (
        "__weakref__", "_broken_rules", "_messages", "base", "counters", "ended", "held", "noted", "overlay", "seed",
        "start", "task", "world",
    )  # fmt: skip

    def __init__(
        self, world: str, base: Base, task: Task | None = None, seed: int = 0, start: Start | None = None
    ) -> None:
        self.world = world
        self.base = base
        self.task = task
        self.seed = seed
        """What the samples of its task were drawn by."""
        self.start = start
        self.overlay: Overlay | None = None
        self.counters: dict[str, int] | None = None
        if start is not None and start.overlay is not None:
            self.overlay = {name: dict(rows) for name, rows in start.overlay.items()}
        if start is not None and start.counters is not None:
            self.counters = dict(start.counters)
        self.held: int | None = 0 if self.overlay is None else None
        """What it changed weighs no more than this; None where nobody has counted."""
        self.noted: list[tuple[str, list[Any]]] | None = None
        """The calls that its task forbids, or may: tools with their arguments, as a snapshot holds them."""
        self.ended = False
        """Whether a tool that ends it was called: no other can be called any more."""
        self._messages: list[str] | None = None
        self._broken_rules: list[str] | None = None

    @property
    def messages(self) -> list[str]:
        """What the agent said to the user, in order."""
        if self._messages is None:
            self._messages = []
        return self._messages

    @property
    def broken_rules(self) -> list[str]:
        """The audited rules that calls of this episode broke, in order."""
        if self._broken_rules is None:
            self._broken_rules = []
        return self._broken_rules

    @property
    def briefing(self) -> Briefing:
        """What the user of this episode wants and knows."""
        return self.start.briefing if self.start is not None else Briefing()

    def note(self, tool: Tool, arguments: Sequence[Any]) -> None:
        """Remember a call that the task is about."""
        parameters = zip(tool.parameters, arguments, strict=True)
        call = tool.name, [encode(parameter.type, value) for parameter, value in parameters]
        if self.noted is None:
            self.noted = []
        if call not in self.noted:
            self.noted.append(call)

    def fork(self) -> Episode:
        """An independent copy: what happens in one is not seen in the other. It costs what the episode changed."""
        copy = Episode(self.world, self.base, self.task, self.seed)
        copy.start = self.start
        copy.held = self.held
        copy.noted = None if self.noted is None else list(self.noted)
        if self.overlay is not None:
            copy.overlay = {name: dict(rows) for name, rows in self.overlay.items()}  # rows are never changed in place
        copy.counters = None if self.counters is None else dict(self.counters)
        copy.ended = self.ended
        copy._messages = None if self._messages is None else list(self._messages)
        copy._broken_rules = None if self._broken_rules is None else list(self._broken_rules)
        return copy

    def snapshot(self) -> bytes:
        """The episode as bytes, for `Environment.restore`: its task, what it changed, said and broke.

        The same state gives the same bytes, by whatever calls it came about. They are data, and say where they
        belong; the world's own rows are not in them. It costs what the episode changed. Raises `SnapshotError` for
        messages that are no text.
        """
        return snapshots.written(self)

    def digest(self) -> str:
        """The SHA-256 of the state, in hexadecimal: what the reward would not tell apart has one digest.

        That is: keys that the engine made count up to renaming, numbers by value, unscored columns, messages and rules
        not at all. It is the same in every process; worlds that differ give digests that differ. Unequal states have
        unequal digests, except where new rows that are alike refer to each other in a pattern that colour refinement
        does not see through, such as two rings of three in the place of one of six. It costs what was changed.
        """
        return digests.digest(self.base, without_gaps(self.base, self.changes()))

    def state(self) -> dict[str, list[dict[str, Any]]]:
        """All rows by table, in the order of their keys. For looking at: it copies nothing that is cheap to read."""
        state = {}
        for name, table in self.base.tables.items():
            rows = {**self.base.all_rows(table), **(self.overlay or {}).get(name, {})}
            state[name] = [rows[key] for key in sorted(rows) if rows[key] is not None]
        return state

    def changes(self) -> Overlay:
        """The changed rows by table and key, without those that are as they were at the start."""
        found: Overlay = {}
        for name, changed in (self.overlay or {}).items():
            base = self.base.rows(self.base.tables[name], changed)
            different = {key: row for key, row in changed.items() if row != base.get(key)}
            if different:
                found[name] = different
        return found
