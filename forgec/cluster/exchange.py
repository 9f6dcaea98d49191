"""Between NeMo-RL's own rollouts and the seats: a log of messages in, an observation out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forgec.cluster import chat
from forgec.cluster.estimator import MASKED
from forgec.cluster.seats import Answer, Turn
from forgec.training.questions import Question

OBSERVED = "environment"


@dataclass(frozen=True)
class Observed:
    """What NeMo-RL is told of one episode after a turn."""

    role: str
    content: str
    """Text that is made tokens as it is: what stands between two turns is in it."""
    metadata: dict[str, Any]
    """For the next turn; that of a last turn is dropped by NeMo-RL."""
    reward: float
    """Only of a last turn, as those of all turns are added up."""
    over: bool


def turn(log: Sequence[Mapping[str, Any]], metadata: Mapping[str, Any], *, thinking: bool) -> Turn:
    """The turn of an episode whose log ends with what the policy wrote; `thinking`: it was begun with `<think>`."""
    question = Question(metadata["environment"], metadata["task"], int(metadata["seed"]))
    wrote = chat.read(str(log[-1]["content"]), thinking=thinking)
    return Turn(question, wrote, metadata["seat"], metadata["opening"])


def observed(answer: Answer, metadata: Mapping[str, Any], *, thinking: bool, ended: bool = True) -> Observed:
    """What comes of a turn. An episode that failed, or whose user erred, ends with the role `MASKED` and no reward.

    `ended`: the turn was not cut off in its thoughts, so that what was generated ends with `<|im_end|>`.
    """
    told = {**metadata, "seat": answer.seat}
    if not answer.over:
        return Observed(OBSERVED, chat.observed(answer.read, ended=ended, thinking=thinking), told, 0.0, False)
    if answer.masked or answer.trajectory is None:
        return Observed(MASKED, "\n", told, 0.0, True)
    return Observed(OBSERVED, "\n", told, answer.trajectory.reward, True)
