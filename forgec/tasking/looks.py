"""Lookups that are made on the way to plans, each once: those for which DuckDB is asked, of many drafts in one step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forgec.tasking.ground import Ground
from forgec_runtime.episode import Episode
from forgec_runtime.results import Result, json_able

MAX_KEPT = 20_000
"""How many answers in worlds as they begin are kept."""


class Waits(Exception):
    """A lookup has to be made first: those of many drafts are made in one step, and then the drafts begin again."""


Place_ = tuple[Episode | str, str, str]


class Looks:
    """What lookups answer, each asked once: in worlds as they begin, or in the episode of a draft."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self._kept: dict[Place_, Result] = {}
        self._fresh: dict[Place_, Result] = {}
        self._waiting: dict[Place_, tuple[Episode, str, dict[str, Any]]] = {}
        self._asking: set[str] = set()
        """The tools that have asked DuckDB anything: for them it is worth to wait for others."""

    def look(self, episode: Episode, tool: str, arguments: Mapping[str, Any], fresh: bool) -> Result:
        """What a lookup answers. Raises `Waits` where that is not known yet."""
        given = {name: json_able(value) for name, value in arguments.items()}
        place: Place_ = (episode if fresh else episode.world, tool, repr(sorted(given.items())))
        kept = self._fresh if fresh else self._kept
        found = kept.get(place)
        if found is None and tool in self._asking:
            self._waiting[place] = (episode, tool, given)
            raise Waits
        if found is None:
            before = self.ground.env.executions
            (found,) = self.ground.env.step([(episode, tool, given)])
            kept[place] = found
            if self.ground.env.executions > before:
                self._asking.add(tool)
        return found

    def make(self) -> None:
        """Make the lookups that are waited for."""
        if len(self._kept) > MAX_KEPT:
            self._kept.clear()
        results = self.ground.env.step(list(self._waiting.values()))
        for place, result in zip(self._waiting, results, strict=True):
            (self._kept if isinstance(place[0], str) else self._fresh)[place] = result
        self._waiting.clear()

    def forget(self) -> None:
        """The drafts of these episodes are done."""
        self._fresh.clear()
