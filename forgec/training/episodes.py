"""Episodes for training: played in the rollout loop, by gold or by a policy, many at once, in several environments."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

from transformers import Qwen3ForCausalLM

from forgec.rollouts.agents.agent import Agents
from forgec.rollouts.agents.built_in import GoldPlayer
from forgec.rollouts.limits import Limits
from forgec.rollouts.run import Failure, Job, Runner, Setup, Side
from forgec.rollouts.trajectory import Key, Trajectory
from forgec.training.batches import Written
from forgec.training.decoding import Decoder
from forgec.training.player import PolicyPlayer
from forgec.training.questions import Question
from forgec.training.template import Template
from forgec.users.user import Users
from forgec_runtime import AsyncEnvironment, Environment


@dataclass(frozen=True)
class Episode:
    """One episode to be played: the trials of a question differ by what is drawn."""

    question: Question
    trial: int = 0

    @property
    def key(self) -> Key:
        return (self.question.environment, self.question.task, self.question.seed, self.trial)


@dataclass(frozen=True)
class Played:
    """An episode that was played: what came of it, and what the policy read and wrote."""

    episode: Episode
    trajectory: Trajectory
    written: Written

    @property
    def masked(self) -> bool:
        """Whether its user erred, so that nothing can be learned of it."""
        return self.trajectory.user_verdict is not None and self.trajectory.user_verdict.mask is True


@dataclass
class Rollout:
    """What came of some episodes, in their order; those that failed are missing."""

    played: list[Played]
    failures: list[Failure]
    decoding: float
    """CPU seconds of the policy."""
    tokens: int
    """How many it drew."""

    def add(self, other: Rollout) -> None:
        """Further episodes, behind these."""
        self.played += other.played
        self.failures += other.failures
        self.decoding += other.decoding
        self.tokens += other.tokens


class Stage:
    """Environments, their users and limits."""

    def __init__(
        self,
        environments: Mapping[str, Environment],
        users: Users,
        user: str = "scripted",
        limits: Limits | None = None,
    ) -> None:
        self.environments, self.users, self.user = environments, users, user
        # no limit by the clock: what is played must not depend on how fast it was
        self.limits = limits or Limits(turns=12, calls=24, silent=2, seconds=None)

    def gold(self, episodes: Sequence[Episode]) -> list[Trajectory]:
        """The episodes as the gold plans have them, in their order; those that fail are left out."""
        found = asyncio.run(self._play(episodes, "gold", lambda key: GoldPlayer))[0]
        return [found[one.key] for one in episodes if one.key in found]

    def rollout(
        self, model: Qwen3ForCausalLM, template: Template, episodes: Sequence[Episode], seed: str, *,
        temperature: float = 1.0, min_p: float = 0.0, longest_turn: int = 64, gather: float = 0.25,
    ) -> Rollout:  # fmt: skip
        """Have a policy play episodes, all at once. The same seed gives the same episodes."""
        decoder = Decoder(
            model, [one.key for one in episodes], seed, temperature=temperature, min_p=min_p,
            longest_turn=longest_turn, gather=gather,
        )  # fmt: skip

        def agents(key: Key) -> Agents:
            return lambda part: PolicyPlayer(decoder, template, key)

        found, failures = asyncio.run(self._play(episodes, "policy", agents, decoder.leave))
        played = [Played(one, found[one.key], decoder.written(one.key)) for one in episodes if one.key in found]
        return Rollout(played, failures, decoder.seconds, decoder.tokens)

    async def _play(
        self, episodes: Iterable[Episode], name: str, agents: Callable[[Key], Agents],
        over: Callable[[Key], None] = lambda key: None,
    ) -> tuple[dict[Key, Trajectory], list[Failure]]:  # fmt: skip
        found: dict[Key, Trajectory] = {}
        failures: list[Failure] = []
        jobs: dict[str, list[Job]] = {}
        for one in episodes:
            task = self.environments[one.question.environment].tasks[one.question.task]
            jobs.setdefault(one.question.environment, []).append(Job(task, one.question.seed, one.trial))

        def keep(trajectory: Trajectory) -> None:
            found[trajectory.key] = trajectory

        async def play(environment: Environment, asked: list[Job]) -> None:
            setup = Setup(
                Side(name), Side(self.user),
                lambda part: agents((environment.name, part.task.name, part.seed, part.trial))(part),
                self.users, self.limits, over=over,
            )  # fmt: skip
            front: AsyncEnvironment[Any] = await stack.enter_async_context(AsyncEnvironment(environment))
            stopped = await Runner(environment, front, setup, keep, failures).play(asked, len(asked))
            if stopped:
                task = asked[0].task.name
                failures.append(Failure((environment.name, task, asked[0].seed, asked[0].trial), "stop", stopped))

        async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
            for environment, asked in jobs.items():
                group.create_task(play(self.environments[environment], asked))
        return found, failures
