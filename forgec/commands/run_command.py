"""`forgec run`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import click

from forgec.commands.common import FINDINGS, UNREADABLE, sources_option
from forgec.commands.environments import package_folder
from forgec.diagnostics import did_you_mean
from forgec_runtime import (
    AGENTS,
    Agent,
    Environment,
    GoldAgent,
    GoldError,
    LoadError,
    RandomAgent,
    Reward,
    Task,
    TaskError,
    load_environment,
)


@dataclass(frozen=True)
class _Played:
    """One task played by one agent."""

    environment: str
    task: str
    agent: str
    reward: Reward
    hashes: dict[str, str] | None
    plan: str = ""
    """The plan that a gold agent followed, where the task has others."""

    @property
    def title(self) -> str:
        return f"{self.environment}/{self.task}" + (f", plan {self.plan}" if self.plan else "")


@click.command("run")
@click.argument("environments", nargs=-1, required=True, metavar="ENV...")
@click.option(
    "--agent",
    "agents",
    multiple=True,
    type=click.Choice(sorted(AGENTS)),
    default=("gold",),
    show_default=True,
    help="Who plays; give several to compare them.",
)
@click.option("--task", "wanted", multiple=True, metavar="NAME", help="Play only this task; may be repeated.")
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="Draws what tasks sample, and the calls of the random agent; else it changes nothing.",
)
@sources_option
@click.option("--json", "as_json", is_flag=True, help="Print rewards with their reasons as JSON to standard output.")
def command(
    environments: tuple[str, ...],
    agents: tuple[str, ...],
    wanted: tuple[str, ...],
    seed: int,
    allowed: tuple[str, ...],
    as_json: bool,
) -> None:
    """Play the tasks of compiled environments and pay rewards.

    ENV is the folder of a generated package, or its name when it lies in ./generated. The agents are built in: `gold`
    plays the plan of each task, `noop` does nothing, `random` calls tools at random. Tasks in a world with rows from
    outside are skipped unless its sources are allowed.

    \b
    Examples:
      forgec run library --agent gold
      forgec run library --agent gold --agent noop
      forgec run build/environments/library --task settle_the_overdue --json

    Exit codes: 0 played, 1 a gold plan fails or is not paid, 2 an environment or task does not exist.
    """
    played: list[_Played] = []
    try:
        for name in environments:
            environment = load_environment(package_folder(name), allow_sources=allowed)
            tasks = _tasks(environment, wanted, single=len(environments) == 1)
            for task in tasks:
                for agent in agents:
                    played.extend(_play(environment, task, agent, seed))
    except LoadError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(UNREADABLE)
    except GoldError as error:
        click.echo(f"error: the gold plan fails: {error}", err=True)
        sys.exit(FINDINGS)
    except TaskError as error:
        click.echo(f"error: a task cannot begin: {error}", err=True)
        sys.exit(FINDINGS)
    if wanted and not played:
        click.echo(f"error: no environment has a task named {', '.join(wanted)}", err=True)
        sys.exit(UNREADABLE)
    click.echo(json.dumps([_row(one) for one in played], indent=2) if as_json else _table(played, agents))
    unpaid = any(one.agent == "gold" and one.reward.value != 1.0 for one in played)
    sys.exit(FINDINGS if unpaid else 0)


def _tasks(environment: Environment, wanted: tuple[str, ...], *, single: bool) -> list[str]:
    unknown = [name for name in wanted if name not in environment.tasks]
    if unknown and single:
        hint = did_you_mean(unknown[0], environment.tasks)
        raise LoadError(f"`{environment.name}` has no task `{unknown[0]}`" + (f"; {hint}" if hint else ""))
    return [name for name in environment.tasks if name in wanted or not (wanted or _is_skipped(environment, name))]


def _is_skipped(environment: Environment, name: str) -> bool:
    """Whether a task is left out because its world may not be read, which is said."""
    denied = environment.denied(environment.tasks[name].world)
    if denied:
        flags = " ".join(f"--allow-source {source}" for source in denied)
        click.echo(f"skipped {environment.name}/{name}: rows of its world lie outside ({flags})", err=True)
    return bool(denied)


def _play(environment: Environment, name: str, agent: str, seed: int) -> Iterator[_Played]:
    """One task by one agent; the gold agent goes through all plans that the task accepts."""
    task = environment.tasks[name]
    players: list[tuple[str, Agent]] = [("", RandomAgent(seed) if agent == "random" else AGENTS[agent]())]
    if agent == "gold":
        players += [(plan.name, GoldAgent(number)) for number, plan in enumerate(task.plans) if number]
    hashes = _hashes(environment, task)
    for plan, player in players:
        episode = environment.reset(name, seed)
        player.play(environment, episode, task)
        yield _Played(environment.name, name, agent, environment.reward(episode, task), hashes, plan)


def _hashes(environment: Environment, task: Task) -> dict[str, str] | None:
    """What identifies that which was played."""
    known = environment.hashes
    if known is None:
        return None
    return {
        "environment": known.environment, "grading": known.grading, "world": known.worlds[task.world],
        "task": known.tasks[task.name],
    }  # fmt: skip


def _row(one: _Played) -> dict[str, object]:
    reasons = [{"kind": reason.kind, "text": reason.text} for reason in one.reward.reasons]
    return {
        "environment": one.environment, "task": one.task, "agent": one.agent, "reward": one.reward.value,
        "reasons": reasons, **({"plan": one.plan} if one.plan else {}), "hashes": one.hashes,
    }  # fmt: skip


def _table(played: list[_Played], agents: tuple[str, ...]) -> str:
    """A line a task, a column an agent; below, why rewards were not paid where the gold agent is concerned."""
    tasks = list(dict.fromkeys(one.title for one in played))
    rewards = {(one.title, one.agent): one.reward for one in played}
    width = max([len(task) for task in tasks] + [len("task"), len("mean of 00")])
    header = "task".ljust(width) + "".join(agent.rjust(8) for agent in agents)
    lines = [header, "-" * len(header)]
    for task in tasks:
        found = [rewards.get((task, agent)) for agent in agents]
        lines.append(task.ljust(width) + "".join(" " * 8 if one is None else f"{one.value:8.0f}" for one in found))
    own = [one for one in played if not one.plan]
    count = len({one.title for one in own})
    means = [sum(one.reward.value for one in own if one.agent == agent) / max(count, 1) for agent in agents]
    lines += ["-" * len(header), f"mean of {count}".ljust(width) + "".join(f"{mean:8.2f}" for mean in means)]
    for one in played:
        if one.agent == "gold" and one.reward.value != 1.0:
            lines.append(f"\n{one.title}, gold:")
            lines.extend(f"  {reason.text}" for reason in one.reward.reasons)
    return "\n".join(lines)
