"""Which questions a step of training asks: of every environment the same number."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """A task of an environment, and the seed that its episodes begin with."""

    environment: str
    task: str
    seed: int


class Stratified:
    """Batches of questions, `per_environment` of each environment, in which a task comes again only when all others of
    its environment have been asked.

    A batch is a function of the seed and its number alone: a run that is resumed asks what it would have asked. Tasks
    that draw samples begin with another seed each time.
    """

    def __init__(self, tasks: Mapping[str, Sequence[str]], per_environment: int = 2, seed: int = 0) -> None:
        """`tasks` are the names of each environment's tasks.

        Raises `ValueError` for an environment without tasks, and for fewer than two questions of each: a deviation
        over an environment wants more than one.
        """
        empty = [environment for environment, names in tasks.items() if not names]
        if not tasks or empty:
            raise ValueError(f"there are no tasks of {', '.join(empty)}" if empty else "there are no environments")
        if per_environment < 2:
            raise ValueError("a batch needs at least two questions of each environment")
        self._tasks = {environment: sorted(names) for environment, names in tasks.items()}
        self.per_environment, self.seed = per_environment, seed

    def batch(self, step: int) -> list[Question]:
        """The questions of a step, which counts from 0; environments in the order given."""
        return [
            self._question(environment, step * self.per_environment + place)
            for environment in self._tasks
            for place in range(self.per_environment)
        ]

    def more(self, step: int, environment: str, first: int, count: int) -> list[Question]:
        """`count` questions of an environment that are in no batch, for a step that wants more of them; `first` is how
        many it has had of these."""
        return [self._question(environment, place, f"{step}/more/") for place in range(first, first + count)]

    def _question(self, environment: str, place: int, stream: str = "") -> Question:
        names = self._tasks[environment]
        round_, within = divmod(place, len(names))
        order, prefix = list(names), f"{self.seed}/{environment}/{stream}"
        random.Random(f"{prefix}{round_}").shuffle(order)
        return Question(environment, order[within], random.Random(f"{prefix}{place}").getrandbits(31))
