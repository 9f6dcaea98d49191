"""What an agent is, for the loop that asks it; and what it is given to play one episode."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar

from forgec.dialogue import AssistantMessage, Transcript
from forgec.llm.spending import Meter
from forgec_runtime import Environment, Task

T = TypeVar("T")

Tools: TypeAlias = Sequence[Mapping[str, Any]]
"""OpenAI function schemas."""


class Agent(Protocol):
    """Plays the agent of one episode."""

    async def act(self, transcript: Transcript, tools: Tools) -> AssistantMessage:
        """What it says or does next. `transcript` begins with the policy; it has the user's texts, what the agent said
        and did, and the results of its calls.

        Raises `Left` to end the episode, `AgentError`, and `forgec.llm.errors.LLMError` where a model plays it and
        cannot answer.
        """
        ...


class AgentError(Exception):
    """An agent that cannot go on: the episode does not count, and is played again when the run is resumed."""


class Left(Exception):
    """The agent ends the episode, which is judged as it stands."""


class Asker(Protocol):
    """Has a function run where the environment may be used: in its own thread, between two steps."""

    def __call__(self, function: Callable[[], T], /) -> Awaitable[T]: ...


@dataclass(frozen=True)
class AgentPart:
    """What the agent of one episode may be made from. Those that are put to the test use `scope` and `meter` alone."""

    environment: Environment
    """To be asked through `ask`."""
    task: Task
    seed: int
    trial: int
    scope: str
    """Names the episode and this side of it: seeds what is drawn, and tells recorded traffic apart."""
    ask: Asker
    meter: Meter
    """Counts what it costs, where a model plays it."""


Agents: TypeAlias = Callable[[AgentPart], Agent]
"""Makes the agent of an episode."""
