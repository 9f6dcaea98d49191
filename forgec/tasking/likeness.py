"""Which tasks are nearly the same: by the shape of their plans, and by the runs of words that their texts share."""

from __future__ import annotations

import hashlib
import json
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from forgec.tasking.measuring import alike, shape_of

RUN = 3
"""So many words are a run."""
GIVEN, MADE = 0.7, 0.8
"""From which share of common runs on a task is like one that was given, or like one of its shape made before."""
SHOWN = 20
"""How many pairs a report shows."""


def runs_of(line: Mapping[str, Any]) -> frozenset[int]:
    """The runs of words in what a user is told, as numbers of this process, which take less room."""
    texts = [line.get("intent") or "", *(request["text"] for request in line.get("requests", []))]
    words = re.findall(r"\w+", " ".join(texts).lower())
    runs = (" ".join(words[i : i + RUN]) for i in range(max(len(words) - RUN + 1, 1)) if words)
    return frozenset(map(hash, runs))


def share(one: frozenset[int], other: Sequence[int]) -> float:
    """How much of what both have, each once, they have in common, from 0 to 1."""
    common = len(one.intersection(other))
    return common / max(len(one) + len(other) - common, 1)


@dataclass
class Given:
    """Tasks that nothing may be like, and the pairs that were: the made task, the given one, and why."""

    kinds: dict[str, str] = field(default_factory=dict)
    """What tasks are alike by, and the name of the first."""
    texts: list[tuple[str, frozenset[int]]] = field(default_factory=list)
    places: dict[int, list[int]] = field(default_factory=dict)
    pairs: list[list[str]] = field(default_factory=list)

    def add(self, line: Mapping[str, Any]) -> None:
        """One more. Raises `KeyError`, `TypeError`, `AttributeError` or `ValueError` for what is no task."""
        name, runs = str(line["name"]), runs_of(line)
        if not runs and not line.get("plan") and not line.get("plans"):
            raise ValueError("it has neither texts nor a plan")
        self.kinds.setdefault(alike(line), name)
        for run in runs:
            self.places.setdefault(run, []).append(len(self.texts))
        self.texts.append((name, runs))

    def like(self, line: Mapping[str, Any]) -> str:
        """Why a task is like one of them, in a word; empty if it is not. A pair that is found is noted."""
        if not self.texts:
            return ""
        name = self.kinds.get(alike(line))
        if name is not None:
            return self._found(line, name, "plan and words")
        runs = runs_of(line)
        common = Counter(place for run in runs for place in self.places.get(run, ()))
        for place, number in sorted(common.items()):
            other, theirs = self.texts[place]
            if number >= GIVEN * len(runs | theirs):
                return self._found(line, other, "words")
        return ""

    def _found(self, line: Mapping[str, Any], name: str, why: str) -> str:
        if len(self.pairs) < SHOWN:
            self.pairs.append([str(line["name"]), name, why])
        return why

    @property
    def digest(self) -> str:
        """The same for the same tasks."""
        return hashlib.sha256(json.dumps([sorted(self.kinds), [name for name, _ in self.texts]]).encode()).hexdigest()


@dataclass
class Before:
    """The texts of tasks that were made, by the shape of their plans."""

    shapes: dict[str, dict[str, array[int]]] = field(default_factory=dict)

    def has_like(self, line: Mapping[str, Any]) -> bool:
        """Whether one with the same shape says nearly the same."""
        runs = runs_of(line)
        return any(share(runs, other) >= MADE for other in self.shapes.get(shape_of(line), {}).values())

    def add(self, line: Mapping[str, Any]) -> None:
        self.shapes.setdefault(shape_of(line), {})[str(line["name"])] = array("q", runs_of(line))

    def drop(self, line: Mapping[str, Any]) -> None:
        self.shapes.get(shape_of(line), {}).pop(str(line["name"]), None)


def given_in(lines: Iterable[str], given: Given) -> None:
    """Add the tasks of a file. Raises `ValueError` for a line that is no task."""
    for number, text in enumerate(lines, 1):
        if text.strip():
            try:
                given.add(json.loads(text))
            except KeyError as error:
                raise ValueError(f"line {number} is no task: there is no {error}") from None
            except (TypeError, AttributeError, ValueError) as error:
                raise ValueError(f"line {number} is no task: {error}") from None
