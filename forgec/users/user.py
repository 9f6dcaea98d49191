"""What a user is, for the loop that asks it; and what it is given to play one episode."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from forgec.dialogue import Transcript, Utterance
from forgec.llm.spending import Meter
from forgec.users.asking import Asking
from forgec_runtime import Briefing, Reward


class User(Protocol):
    """Plays the user of one episode.

    Its transcript has what it said, what the agent said to it, and the results of its own calls: never the agent's
    calls, their results, or what the agent thinks.
    """

    async def open(self) -> Utterance:
        """The first thing that it says."""
        ...

    async def answer(self, transcript: Transcript) -> Utterance:
        """What it says or does next. Raises `forgec.llm.errors.LLMError` where a model plays it and cannot answer."""
        ...


@dataclass(frozen=True)
class UserPart:
    """What the user of one episode is given. It holds nothing of the plan, and no rows."""

    asking: Asking
    """Finds what it is asked for, among what it knows."""
    tools: Sequence[dict[str, Any]]
    """The tools of its own side, as OpenAI function schemas."""
    environment: str
    task: str
    seed: int
    trial: int
    scope: str
    """Names the episode and this side of it: seeds what is drawn, and tells recorded traffic apart."""
    judge: Callable[[], Awaitable[Reward]]
    """The reward as the episode stands, for users that stop by a rule on the state."""
    meter: Meter
    """Counts what it costs, where a model plays it."""

    @property
    def briefing(self) -> Briefing:
        """What it wants and knows: intent, requests in their order, facts."""
        return self.asking.briefing


Users: TypeAlias = Callable[[UserPart], User]
"""Makes the user of an episode."""
