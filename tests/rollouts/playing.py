"""Runs for tests: episodes of the library, played by whatever plays."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from forgec.dialogue import AssistantMessage, Transcript
from forgec.llm.client import Client, Endpoint
from forgec.llm.retrying import Patience
from forgec.rollouts import players
from forgec.rollouts.agents.agent import Agents, Tools
from forgec.rollouts.agents.endpoint import EndpointPlayer
from forgec.rollouts.limits import Limits
from forgec.rollouts.run import Failure, Runner, Setup, Side, jobs_of
from forgec.rollouts.trajectory import Trajectory
from forgec_runtime import AsyncEnvironment, Environment, load_environment

GENERATED = Path(__file__).parents[2] / "generated"
QUICK = Patience(timeout=2.0, retries=12, first_wait=0.001, longest_wait=0.01)
"""Patience for tests: nobody waits long."""


def environment(name: str = "library") -> Environment:
    return load_environment(GENERATED / name)


def written(env: Environment) -> list[str]:
    """The tasks that people wrote: there are enough of them."""
    return [name for name, task in env.tasks.items() if "made" not in task.tags]


def play(
    env: Environment,
    agents: Agents,
    tasks: Sequence[str] = (),
    *,
    user: str = "scripted",
    trials: int = 1,
    limits: Limits | None = None,
    client: Client | None = None,
    at_once: int = 16,
    failures: list[Failure] | None = None,
) -> list[Trajectory]:
    """The trajectories of some tasks, those that people wrote as a rule, in their order."""
    played: list[Trajectory] = []

    async def all_of_them() -> str:
        async with AsyncEnvironment(env) as front:
            made = players.user(user)
            setup = Setup(Side("test"), made.side, agents, made.play, limits or Limits())
            runner = Runner(env, front, setup, played.append, [] if failures is None else failures)
            stopped = await runner.play(
                jobs_of([env.tasks[name] for name in tasks or written(env)], 0, trials), at_once
            )
            if client is not None:
                await client.close()
            return stopped

    stopped = asyncio.run(all_of_them())
    if failures is None:
        assert stopped == ""
    return sorted(played, key=lambda one: one.key)


def client(url: str, patience: Patience = QUICK, **more: Any) -> Client:
    budget = {name: more.pop(name) for name in ("budget", "prices", "traffic") if name in more}
    return Client(Endpoint("small", url, "FORGEC_TEST_KEY", patience=patience, **more), **budget)


def asking(one: Client, *, reasoning: bool = True) -> Agents:
    return lambda part: EndpointPlayer(part, one, reasoning=reasoning)


def plain(trajectories: Sequence[Trajectory]) -> list[dict[str, Any]]:
    """Trajectories without what depends on the time that it took."""
    return [one.model_dump(exclude={"times", "usage"}) for one in trajectories]


class Scripted:
    """An agent that makes given moves, then says that it is done."""

    def __init__(self, *given: AssistantMessage) -> None:
        self._moves: Iterator[AssistantMessage] = iter(given)

    async def act(self, transcript: Transcript, tools: Tools) -> AssistantMessage:
        return next(self._moves, AssistantMessage(text="It is done."))


def scripted(*given: AssistantMessage) -> Agents:
    """Agents that all make the same moves."""
    maker: Callable[[Any], Scripted] = lambda part: Scripted(*given)  # noqa: E731
    return maker
