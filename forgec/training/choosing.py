"""Which tasks a run trains on, and which it is measured on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal, TypeAlias

from forgec.training.config import ConfigError, EnvironmentPart
from forgec.training.episodes import Episode
from forgec.training.questions import Question
from forgec_runtime import Environment

Split: TypeAlias = Literal["trained", "held_out", "unseen"]
FIRST_HELD_OUT = 2**31
"""Seeds from here on are never trained with."""


@dataclass(frozen=True)
class Choice:
    """The tasks of one environment by what they are for, sorted by name."""

    trained: tuple[str, ...]
    held_out: tuple[str, ...]
    unseen: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, sorted."""
        return tuple(sorted({*self.trained, *self.held_out, *self.unseen}))


def choose(part: EnvironmentPart, environment: Environment) -> Choice:
    """The tasks of an environment. Raises `ConfigError` where none is trained on, or a pattern fits none."""
    trained = _matching(part.tasks, environment)
    held_out = _matching(part.held_out, environment) or trained
    return Choice(trained, held_out, _matching(part.unseen, environment))


def episodes(choices: Mapping[str, Choice], split: Split, count: int, first: int = FIRST_HELD_OUT) -> list[Episode]:
    """`count` episodes of each environment that has tasks in the split: each task in turn, a seed an episode."""
    found = []
    for environment, choice in choices.items():
        names: tuple[str, ...] = getattr(choice, split)
        for number in range(count if names else 0):
            found.append(Episode(Question(environment, names[number % len(names)], first + number)))
    return found


def _matching(patterns: Sequence[str], environment: Environment) -> tuple[str, ...]:
    found: set[str] = set()
    for pattern in patterns:
        tag = pattern.removeprefix("tag:")
        fits = {
            name for name, task in environment.tasks.items()
            if (tag in task.tags if tag != pattern else fnmatchcase(name, pattern))
        }  # fmt: skip
        if not fits:
            raise ConfigError(f"there are no tasks of {environment.name} that fit `{pattern}`")
        found |= fits
    return tuple(sorted(found))
