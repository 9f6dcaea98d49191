"""Which of the tasks that were made are kept: as many of each level as are wanted, and none too like the others."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from forgec.tasking.likeness import Before, Given
from forgec.tasking.measuring import LEVELS, Level, alike, shape_of

ALIKE = 3
"""So many tasks may differ in nothing but their values."""

DIFFICULTIES: Mapping[str, Mapping[Level, float]] = {
    "easy": {"easy": 1.0},
    "medium": {"medium": 1.0},
    "hard": {"hard": 1.0},
    "mixed": {"easy": 0.3, "medium": 0.4, "hard": 0.3},
}


@dataclass
class Choosing:
    """What was kept so far, and what for it was left out. `known` are tasks that nothing may be like."""

    count: int
    weights: Mapping[Level, float]
    known: Given = field(default_factory=Given)
    splits: Mapping[str, float] = field(default_factory=dict)
    levels: Counter[str] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    before: Before = field(default_factory=Before)
    relaxed: bool = False
    """Whether levels of which there are not enough are made up for by others that are wanted."""

    @property
    def full(self) -> bool:
        return self.levels.total() >= self.count

    def wanted(self) -> dict[str, float]:
        """How many of each level are still to be found."""
        if self.relaxed:
            return {level: float(self.weights.get(level, 0)) for level in LEVELS}
        return {level: max(self._quota(level) - self.levels[level], 0) for level in LEVELS}

    def missing(self) -> dict[str, int]:
        """How many of each level were not found."""
        return {level: lack for level in LEVELS if (lack := self._quota(level) - self.levels[level]) > 0}

    def keeps(self, line: Mapping[str, Any], level: Level) -> bool:
        """Whether a task is kept; it is counted then."""
        if why := self.known.like(line):
            self.left[f"like a task that was given, by {why}"] += 1
        elif self.full or not (self.levels[level] < self._quota(level) or (self.relaxed and self.weights.get(level))):
            self.left[f"enough {level} ones"] += 1
        elif self.seen[str(line["name"])] or self.seen[alike(line)] >= ALIKE or self.before.has_like(line):
            self.left["like others that were made"] += 1
        else:
            self.count_one(line, level)
            return True
        return False

    def count_one(self, line: Mapping[str, Any], level: Level) -> None:
        """A task is kept."""
        self._count(line, level, 1)

    def drop(self, line: Mapping[str, Any], level: Level) -> None:
        """A task that was kept turns out to be none."""
        self._count(line, level, -1)

    def _count(self, line: Mapping[str, Any], level: Level, number: int) -> None:
        for key in (alike(line), str(line["name"])):
            self.seen[key] += number
        (self.before.add if number > 0 else self.before.drop)(line)
        self.levels[level] += number

    def split(self, line: Mapping[str, Any]) -> str:
        """The split of a task: all tasks of one shape are in the same."""
        place = int(hashlib.sha256(f"split {shape_of(line)}".encode()).hexdigest()[:8], 16) / 16**8
        for name, share in self.splits.items():
            place -= share
            if place < 0:
                return name
        return next(reversed(list(self.splits)), "")

    def _quota(self, level: Level) -> int:
        """The shares are rounded such that they add up."""
        total = sum(self.weights.values())
        before = 0.0
        for one in LEVELS:
            after = before + self.weights.get(one, 0) / total
            if one == level:
                return round(after * self.count) - round(before * self.count)
            before = after
        return 0
