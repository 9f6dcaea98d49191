"""Episodes between an agent and a user, played to a file: the long form of `forgec run`."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from forgec.commands.common import CLEAN, FINDINGS, UNREADABLE
from forgec.commands.locks import Locks
from forgec.commands.model_options import ModelOptions
from forgec.commands.telemetry_option import tell
from forgec.commands.wanted import Wanted
from forgec.diagnostics import counted
from forgec.llm.client import Client, Endpoint, SetupError
from forgec.llm.spending import Budget
from forgec.rollouts import players, summary
from forgec.rollouts.limits import Limits
from forgec.rollouts.run import Failure, Job, Runner, Setup, hashes_of, jobs_of
from forgec.rollouts.store import Store, StoreError, read
from forgec.rollouts.trajectory import Key, Trajectory
from forgec_runtime import AsyncEnvironment, Environment, Workers, load_environment
from forgec_runtime.confining.posture import Posture

SHOWN_EVERY = 0.5
"""Seconds between two states of the progress that is shown."""


@dataclass(frozen=True)
class Options:
    """What the command was asked for."""

    agents: Sequence[str]
    user: str
    judge: str | None
    trials: int
    seed: int
    seeds: int
    out: Path | None
    resume: bool
    at_once: int
    workers: int | None
    require: Posture | None
    telemetry: str | None
    limits: dict[str, Any]
    model: ModelOptions
    allowed: Sequence[str]
    as_json: bool
    locks: Locks
    silent: bool = False
    """Whether no summary is printed."""


@dataclass
class _Run:
    """All environments of one command."""

    options: Options
    setup: Setup
    budget: Budget
    summary: summary.Summary = field(default_factory=summary.Summary)
    failures: list[Failure] = field(default_factory=list)
    stopped: str = ""
    store: Store | None = None
    done: set[Key] = field(default_factory=set)
    """What was there already."""
    total: int = 0
    began: float = field(default_factory=time.monotonic)
    shown: float = 0.0
    turns: int = 0
    """Of the agent, in this run."""

    def end(self, trajectory: Trajectory) -> None:
        """Keep a trajectory. Raises `OSError`."""
        if self.store is not None:
            self.store.add(trajectory)
        self.turns += trajectory.turns
        self.summary.add(trajectory)
        self.show()

    def show(self, *, last: bool = False) -> None:
        """The progress, on a terminal."""
        now = time.monotonic()
        if not sys.stderr.isatty() or (now - self.shown < SHOWN_EVERY and not last):
            return
        self.shown = now
        count, rewards = len(self.summary.rewards), self.summary.rewards.values()
        mean = f", mean {sum(rewards) / count:.3f}" if count else ""
        cost = f", cost {self.budget.cost:.2f}" if self.budget.cost else ""
        failed = f", {len(self.failures):,} failed" if self.failures else ""
        rate = self.turns / max(now - self.began, 1e-3)
        line = f"{count:,}/{self.total:,} episodes{mean}, {rate:,.1f} turns/s{cost}{failed}"
        click.echo(f"\r\x1b[K{line}" + ("\n" if last else ""), err=True, nl=False)


def run_rollouts(folders: Sequence[Path], wanted: Wanted, options: Options) -> int:
    """Play the wanted tasks and print a summary; the exit code. Raises `LoadError`."""
    if len(options.agents) > 1:
        raise click.UsageError("one agent at a time plays with a user: give one --agent, or no --user, --out, --trials")
    if options.resume and options.out is None:
        raise click.UsageError("--resume goes on with a file: name it with --out")
    clients: list[Client] = []
    budget, prices, traffic = Budget(options.model.max_calls, options.model.max_cost), None, None
    environments: list[Environment | Workers] = []
    run: _Run | None = None
    try:
        prices, traffic = options.model.all_prices(), options.model.traffic()

        def connect(endpoint: Endpoint) -> Client:
            clients.append(options.model.client(endpoint, budget, prices, traffic))
            return clients[-1]

        setup = _setup(options, connect)
        environments.extend(_environment(folder, options) for folder in folders)
        jobs = [(one, _jobs(one, wanted, options)) for one in environments]
        wanted.check()
        run = _Run(options, setup, budget, total=sum(len(some) for _, some in jobs))
        if options.out is not None:
            _open(run, options.out, jobs)
        try:
            asyncio.run(_play(run, jobs, clients))
        except KeyboardInterrupt:
            run.stopped = "interrupted"
        code = _told(run)
        tell(options.telemetry, ((_inner(one), one.measured()) for one in environments))
        return code
    except players.UnknownPlayer as error:
        raise click.UsageError(str(error)) from None
    except (StoreError, SetupError) as error:
        click.echo(f"error: {error}", err=True)
        return UNREADABLE
    finally:
        if run is not None and run.store is not None:
            run.store.close()
        if traffic is not None:
            traffic.close()
        for environment in environments:
            if isinstance(environment, Workers):
                environment.close()


def _environment(folder: Path, options: Options) -> Environment | Workers:
    """Where the episodes live. Raises `LoadError`, `PostureError`."""
    measured = options.telemetry is not None
    if options.workers is not None or options.require is not None:
        return Workers(
            folder, options.workers or 1, allow_sources=options.allowed, posture=options.require, telemetry=measured
        )  # fmt: skip
    environment = load_environment(folder, allow_sources=options.allowed)
    if measured:
        environment.measure()
    return environment


def _setup(options: Options, connect: Any) -> Setup:
    """Who plays. Raises `UnknownPlayer`, `StoreError`, `SetupError`."""
    model = options.model
    agent = players.agent(
        options.agents[0], connect=connect, endpoint=model.endpoint, reasoning=model.keep_reasoning
    )  # fmt: skip
    user = players.user(options.user, connect=connect, endpoint=model.endpoint)
    settings, judge = {**agent.settings, **user.settings}, None
    if options.judge is not None:
        kind, _, name = options.judge.partition(":")
        if kind != "openai" or not name:
            raise players.UnknownPlayer(f"there is no judge `{options.judge}`; there is openai:MODEL")
        judge = connect(model.endpoint(name))
        settings["judge"] = {"model": name, **judge.endpoint.settings}
    return Setup(agent.side, user.side, agent.play, user.play, Limits(**options.limits), judge, settings)


def _jobs(environment: Environment | Workers, wanted: Wanted, options: Options) -> list[Job]:
    own = _inner(environment)
    return jobs_of([own.tasks[name] for name in wanted.of(own)], options.seed, options.trials, options.seeds)


def _inner(environment: Environment | Workers) -> Environment:
    return environment.environment if isinstance(environment, Workers) else environment


async def _play(
    run: _Run, jobs: Sequence[tuple[Environment | Workers, list[Job]]], clients: Sequence[Client]
) -> None:  # fmt: skip
    try:
        for environment, some in jobs:
            inner = _inner(environment)
            left = [job for job in some if (inner.name, job.task.name, job.seed, job.trial) not in run.done]
            if not left or run.stopped:
                continue
            front: AsyncEnvironment[Any] = AsyncEnvironment(environment)
            async with front:
                setup = replace(run.setup, certified=partial(run.options.locks.word, inner))
                runner = Runner(inner, front, setup, run.end, run.failures)
                run.stopped = await runner.play(left, run.options.at_once)
    finally:
        for client in clients:
            await client.close()


def _open(run: _Run, path: Path, jobs: Sequence[tuple[Environment | Workers, list[Job]]]) -> None:
    """Open the file of a run, with what is in it already. Raises `StoreError`."""
    if path.exists() and path.stat().st_size and not run.options.resume:
        raise StoreError(f"{path} is there already: --resume goes on with it")
    run.store = Store(path)
    wanted = {
        (_inner(environment).name, job.task.name, job.seed, job.trial): (_inner(environment), job)
        for environment, some in jobs
        for job in some
    }
    for trajectory in read(path):
        other = _other_play(trajectory, run.setup)
        if not other and trajectory.key in wanted:
            other = _other_environment(trajectory, *wanted[trajectory.key])
        if other:
            environment_name, task, _, _ = trajectory.key
            raise StoreError(f"{path} cannot be gone on with: {environment_name}/{task} was played with {other}")
        if trajectory.key not in wanted:
            continue
        run.done.add(trajectory.key)
        run.summary.add(trajectory)
        for spent in trajectory.usage.values():
            run.budget.spent(spent.requests, spent.cost)


def _other_play(trajectory: Trajectory, setup: Setup) -> str:
    """Who played a trajectory, or how, where that is not so now; empty where nothing is otherwise."""
    for what, then, now in (
        ("the agent", trajectory.agent, setup.agent.name),
        ("the user", trajectory.user, setup.user.name),
        ("settings", trajectory.settings, setup.all_settings),
    ):
        if then != now:
            return f"{what} {_shown(then)}, not {_shown(now)}"
    return ""


def _other_environment(trajectory: Trajectory, environment: Environment, job: Job) -> str:
    """What a trajectory was played in that has changed since; empty where nothing has."""
    known, now_known = trajectory.hashes, hashes_of(environment, job.task)
    if known is None or now_known is None or known == now_known:
        return ""
    changed = [name for name, value in known if value != getattr(now_known, name)]
    return f"another {' and '.join(changed)} than there is now"


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _told(run: _Run) -> int:
    """Print the summary; the exit code."""
    run.show(last=True)
    told = run.failures, run.stopped, run.summary.unfinished(run.budget.calls, run.budget.cost)
    if run.options.silent:
        pass
    elif run.options.as_json:
        click.echo(json.dumps(run.summary.json(*told), indent=2))
    else:
        click.echo(summary.text(run.summary, *told))
    rest = run.total - len(run.summary.rewards)
    if rest:
        hint = "; --resume goes on with them" if run.store else ""
        click.echo(f"{rest:,} of {counted(run.total, 'episode')} not played{hint}", err=True)
    gold = run.setup.agent.name == "gold" and any(reward != 1.0 for reward in run.summary.rewards.values())
    return FINDINGS if rest or gold else CLEAN
