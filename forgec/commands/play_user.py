"""`forgec play --as user`: a person in the user's place, an agent in its own."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from functools import partial
from typing import Any

import click

from forgec.commands.common import CLEAN, FINDINGS, UNREADABLE
from forgec.commands.environments import package
from forgec.commands.model_options import ModelOptions
from forgec.llm.client import Client, Endpoint, SetupError
from forgec.llm.spending import Budget
from forgec.rollouts import players
from forgec.rollouts.limits import Limits
from forgec.rollouts.run import Failure, Job, Runner, Setup, Side
from forgec.rollouts.store import StoreError
from forgec.rollouts.trajectory import Trajectory
from forgec.users.person import PersonUser
from forgec_runtime import AsyncEnvironment, Environment, LoadError, load_environment


def play_user(
    name: str, task: str, seed: int, agent: str, model: ModelOptions, allowed: Sequence[str], *, as_json: bool
) -> int:
    """Have a person play the user of a task; the exit code."""
    clients: list[Client] = []
    budget, prices, traffic = Budget(model.max_calls, model.max_cost), model.all_prices(), model.traffic()

    def connect(endpoint: Endpoint) -> Client:
        clients.append(model.client(endpoint, budget, prices, traffic))
        return clients[-1]

    try:
        made = players.agent(agent, connect=connect, endpoint=model.endpoint, reasoning=model.keep_reasoning)
        with package(name, tuple(allowed)) as folder:
            environment = load_environment(folder, allow_sources=allowed)
            if task not in environment.tasks:
                near = get_close_matches(task, environment.tasks, 1)
                hint = f"; did you mean `{near[0]}`?" if near else ""
                raise click.UsageError(f"{environment.name} has no task `{task}`{hint}")
            user = partial(PersonUser, ask=_asked, show=partial(click.echo, err=as_json))
            setup = Setup(made.side, Side("person"), made.play, user, Limits(seconds=None), settings=made.settings)
            played, failures = asyncio.run(_played(environment, setup, Job(environment.tasks[task], seed, 0), clients))
    except players.UnknownPlayer as error:
        raise click.UsageError(str(error)) from None
    except (LoadError, StoreError, SetupError) as error:
        click.echo(f"error: {error}", err=True)
        return UNREADABLE
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        return FINDINGS
    finally:
        if traffic is not None:
            traffic.close()
    for failure in failures:
        click.echo(f"error: {failure.text}", err=True)
    for trajectory in played:
        click.echo(trajectory.line().decode().rstrip() if as_json else _told(trajectory))
    return CLEAN if played else FINDINGS


async def _played(
    environment: Environment, setup: Setup, job: Job, clients: Sequence[Client]
) -> tuple[list[Trajectory], list[Failure]]:
    played: list[Trajectory] = []
    failures: list[Failure] = []
    front: AsyncEnvironment[Any] = AsyncEnvironment(environment)
    try:
        async with front:
            runner = Runner(environment, front, setup, played.append, failures)
            stopped = await runner.play([job], 1)
    finally:
        for client in clients:
            await client.close()
    if stopped and not failures:
        failures.append(Failure((environment.name, job.task.name, job.seed, job.trial), "stopped", stopped))
    return played, failures


def _asked() -> str:
    """The next line that the person types. Raises `EOFError`."""
    return input("> " if sys.stdin.isatty() else "")


def _told(one: Trajectory) -> str:
    lines = [
        f"ended: {one.end}",
        f"reward: {one.reward:g}",
        *(f"  {reason.kind}: {reason.text}" for reason in one.reasons),
    ]
    verdict = one.user_verdict
    if verdict is not None and verdict.mask is not False:
        word = "may have erred" if verdict.mask is None else "erred"
        lines.append(f"the user {word}: {verdict.kind}: {verdict.evidence}")
    return "\n".join(lines)
