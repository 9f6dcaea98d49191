"""Many episodes at once: each is played, judged and handed over; what fails is told and left for another time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from forgec.llm.client import Client
from forgec.llm.errors import LLMError, Stop
from forgec.llm.spending import Meter
from forgec.rollouts.agents.agent import AgentError, AgentPart, Agents, Tools
from forgec.rollouts.episode import Dialogue, ending
from forgec.rollouts.limits import Limits
from forgec.rollouts.trajectory import HashesOf, Key, Shortfall, Spent, Times, Trajectory
from forgec.rollouts.user_verdict import by_rules, judged
from forgec.users.asking import Asking
from forgec.users.glossary import glossary
from forgec.users.user import UserPart, Users
from forgec_runtime import AsyncEnvironment, CallTimeout, Environment, GoldError, Reward, Task, TaskError, WorkerError

Certified = Literal["certified", "stale", "uncertified"]

MAX_FAILURES = 20
"""After how many episodes that fail one after the other a run stops."""
GROUNDS = ("state", "expect", "says", "never", "rule")


@dataclass(frozen=True)
class Side:
    """Who plays one side, by name, and the model that it has, if any."""

    name: str
    model: str | None = None


@dataclass(frozen=True)
class Setup:
    """What all episodes of a run have in common."""

    agent: Side
    user: Side
    agents: Agents
    users: Users
    limits: Limits = field(default_factory=Limits)
    judge: Client | None = None
    """A model that decides whether a user erred where the rules leave it open."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Whatever else shapes the play, to be put down in each trajectory."""
    certified: Callable[[str], Certified | None] = lambda task: None
    """What is known of a task, by its name."""
    over: Callable[[Key], None] = lambda key: None
    """Told of each episode that is over, however it ended, and of those that are not begun any more."""

    @property
    def all_settings(self) -> dict[str, Any]:
        return {"limits": self.limits.model_dump(), **self.settings}


@dataclass(frozen=True)
class Job:
    """One episode to be played."""

    task: Task
    seed: int
    trial: int


@dataclass(frozen=True)
class Failure:
    """An episode that could not be played to its end: it has no trajectory."""

    key: Key
    kind: str
    text: str


class Runner:
    """Plays the episodes of one environment."""

    def __init__(
        self, environment: Environment, front: AsyncEnvironment[Any], setup: Setup, done: Callable[[Trajectory], None],
        failures: list[Failure],
    ) -> None:  # fmt: skip
        """`front` plays `environment`, or workers of it. `done` is handed each trajectory as it ends, and may raise
        `OSError` to stop the run; episodes that fail go to `failures`.
        """
        self.environment, self.front, self.setup, self.done, self.failures = environment, front, setup, done, failures
        self.stopped = ""
        self._tools: Tools = [tool.schema for tool in environment.tools.values()]
        self._user_tools = [tool.schema for tool in environment.user_tools.values()]
        self._ending = ending([*environment.tools.values(), *environment.user_tools.values()])
        self._words = glossary(environment)
        self._in_a_row = 0

    async def play(self, jobs: Iterable[Job], at_once: int) -> str:
        """Play episodes, so many at a time; gives why it stopped before their end, or nothing."""
        waiting = iter(jobs)

        async def work() -> None:
            for job in waiting:
                if self.stopped:
                    self.setup.over(self._key(job))
                else:
                    await self._play(job)

        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(work())
        return self.stopped

    async def _play(self, job: Job) -> None:
        try:
            trajectory = await self.episode(job)
        except Stop as error:
            self._stop(str(error))
        except (LLMError, AgentError) as error:
            self._fail(job, error.kind if isinstance(error, LLMError) else "agent", str(error))
        except (GoldError, TaskError) as error:
            self._fail(job, "task", str(error))
        except (WorkerError, CallTimeout) as error:
            self._fail(job, "environment", str(error))
        else:
            self._in_a_row = 0
            try:
                self.done(trajectory)
            except OSError as error:
                self._stop(f"a trajectory cannot be written: {error.strerror or error}")
        finally:
            self.setup.over(self._key(job))

    def _key(self, job: Job) -> Key:
        return (self.environment.name, job.task.name, job.seed, job.trial)

    def _fail(self, job: Job, kind: str, text: str) -> None:
        self.failures.append(Failure(self._key(job), kind, text))
        self._in_a_row += 1
        if self._in_a_row >= MAX_FAILURES:
            self._stop(f"{MAX_FAILURES} episodes failed one after the other; the last one: {text}")

    def _stop(self, why: str) -> None:
        self.stopped = self.stopped or why

    # -- one episode -------------------------------------------------------------------------------------------

    async def episode(self, job: Job, agents: Agents | None = None) -> Trajectory:
        """Play one episode to its end and judge it; `agents` makes another agent than the run's.

        Raises `LLMError`, `AgentError`, `GoldError`, `TaskError`, `WorkerError`, `CallTimeout`.
        """
        began = time.perf_counter()
        task, environment, setup = job.task, self.environment, self.setup
        inner = self.front.environment

        def begin() -> tuple[Any, Any]:
            episode = inner.reset(task.name, job.seed)
            return episode, episode.briefing

        episode, briefing = await self.front.ask(begin)
        asking = Asking(briefing, self._words)
        agent_meter, user_meter = Meter(), Meter()
        scope = f"{environment.name}/{task.name}/{job.seed}/{job.trial}"

        async def judge() -> Reward:
            return await self.front.reward(episode, task)

        agent = (agents or setup.agents)(
            AgentPart(environment, task, job.seed, job.trial, f"{scope}/agent", self.front.ask, agent_meter)
        )
        user = setup.users(
            UserPart(
                asking,
                self._user_tools,
                environment.name,
                task.name,
                job.seed,
                job.trial,
                f"{scope}/user",
                judge,
                user_meter,
            )
        )
        dialogue = Dialogue(
            self.front, episode, self._ending, agent, user, self._tools, setup.limits, agent_meter
        )  # fmt: skip
        end = await dialogue.play(environment.policy)
        reward = await judge()
        verdict = by_rules(dialogue.messages, end, asking)
        judge_meter = Meter()
        if verdict.mask is None and setup.judge is not None:
            verdict = await judged(
                setup.judge, dialogue.messages, briefing, meter=judge_meter, scope=f"{scope}/judge"
            ) or verdict  # fmt: skip
        digest = await self.front.digest(episode)
        broken = await self.front.ask(lambda: tuple(episode.broken_rules), episode)
        usage: dict[Literal["agent", "user", "judge"], Spent] = {}
        if setup.agent.model is not None:
            usage["agent"] = _spent(setup.agent.model, agent_meter)
        if setup.user.model is not None:
            usage["user"] = _spent(setup.user.model, user_meter)
        if judge_meter.answers and setup.judge is not None:
            usage["judge"] = _spent(setup.judge.endpoint.model, judge_meter)
        clock = dialogue.clock
        times = Times(
            total=_rounded(time.perf_counter() - began), agent=_rounded(clock.agent), user=_rounded(clock.user),
            environment=_rounded(clock.environment),
        )  # fmt: skip
        return Trajectory(
            format=1, environment=environment.name, task=task.name, seed=job.seed, trial=job.trial,
            agent=setup.agent.name, user=setup.user.name, model=setup.agent.model, user_model=setup.user.model,
            settings=setup.all_settings, hashes=hashes_of(environment, task), certified=setup.certified(task.name),
            tags=task.tags, features=dict(task.features), messages=tuple(dialogue.messages),
            facts=tuple(dialogue.facts), turns=dialogue.turns, calls=dialogue.calls, end=end, reward=reward.value,
            parts=_parts(reward), reasons=tuple(Shortfall(kind=one.kind, text=one.text) for one in reward.reasons),
            broken_rules=broken, digest=digest, user_verdict=verdict, usage=usage, times=times,
        )  # fmt: skip


def hashes_of(environment: Environment, task: Task) -> HashesOf | None:
    """What identifies that which is played; None for an environment that was not compiled."""
    known = environment.hashes
    if known is None:
        return None
    return HashesOf(
        environment=known.environment, grading=known.grading, world=known.worlds[task.world],
        task=known.tasks[task.name],
    )  # fmt: skip


def jobs_of(tasks: Sequence[Task], seed: int, trials: int, seeds: int = 1) -> list[Job]:
    """All episodes of a run, with so many seeds from the given one on: the first trial of all before any second."""
    return [Job(task, seed + more, trial) for trial in range(trials) for more in range(seeds) for task in tasks]


def _parts(reward: Reward) -> dict[str, float]:
    missed = {one.kind for one in reward.reasons}
    return {ground: 0.0 if ground in missed else 1.0 for ground in GROUNDS}


def _spent(model: str, meter: Meter) -> Spent:
    counted = asdict(meter)
    del counted["seconds"]
    return Spent(model=model, **counted)


def _rounded(seconds: float) -> float:
    return round(seconds, 6)
