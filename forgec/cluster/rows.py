"""The rows that a trainer is given: questions, in the order in which they are asked.

Each run of `questions` of every environment is a batch, so that a trainer that neither shuffles nor skips has the same
number of questions of each environment in every step: ERPO's deviation over an environment needs that.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from forgec.cluster import chat
from forgec.cluster.seats import Seats
from forgec.dialogue import Message
from forgec.training.questions import Question
from forgec_runtime import Environment


class RowError(ValueError):
    """Questions that make no rows."""


class Row(BaseModel):
    """A question as NeMo-RL's own rollouts are given it; `question` tells it from all others of the run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: int
    environment: str
    task: str
    seed: int
    opening: str
    """What the user says first: the prompt ends with it."""
    prompt: str
    """All that the agent reads before its first turn."""

    @property
    def asked(self) -> Question:
        return Question(self.environment, self.task, self.seed)

    def line(self) -> bytes:
        """The row as a line of a file."""
        return self.model_dump_json().encode() + b"\n"


def rows(
    questions: Iterable[Sequence[Question]], environments: Mapping[str, Environment], seats: Seats, *, thinking: bool
) -> Iterator[Row]:
    """A row for each question of the batches, in order. Raises `RowError` for one whose episode cannot begin."""
    tools = {name: [tool.schema for tool in one.tools.values()] for name, one in environments.items()}
    number = 0
    for batch in questions:
        try:
            openings = seats.openings(batch)
        except RuntimeError as error:
            raise RowError(str(error)) from None
        for question, opening in zip(batch, openings, strict=True):
            policy = environments[question.environment].policy
            said = [Message(role="system", content=policy), Message(role="user", content=opening)]
            yield Row(
                question=number, environment=question.environment, task=question.task, seed=question.seed,
                opening=opening, prompt=chat.prompt(said, tools[question.environment], thinking=thinking),
            )  # fmt: skip
            number += 1


def metadata(row: Row) -> dict[str, Any]:
    """What goes with an episode of the row from turn to turn, for the environment that plays it."""
    return row.model_dump(exclude={"prompt"}) | {"seat": None}


def read(line: str) -> Row:
    """The row of a line. Raises `RowError`."""
    try:
        return Row.model_validate(json.loads(line))
    except ValueError as error:
        raise RowError(f"a line is no row: {error}") from None
