"""Tasks played by the built-in agents alone, a column an agent: the quick look of `forgec run`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from forgec.certifying.lock import Certified, Stale, Status
from forgec.commands.locks import Locks, word
from forgec.commands.wanted import Wanted
from forgec_runtime import AGENTS, Agent, Environment, GoldAgent, RandomAgent, Reward, Task


@dataclass(frozen=True)
class Played:
    """One task played by one agent."""

    environment: str
    task: str
    agent: str
    reward: Reward
    hashes: dict[str, str] | None
    status: Status | None
    """What the lock says of the task."""
    plan: str = ""
    """The plan that a gold agent followed, where the task has others."""

    @property
    def title(self) -> str:
        return f"{self.environment}/{self.task}" + (f", plan {self.plan}" if self.plan else "")


def play_table(
    environments: Iterable[Environment], agents: Sequence[str], wanted: Wanted, seed: int, locks: Locks
) -> list[Played]:
    """Play the tasks by each agent, without a user. Raises `LoadError`, `GoldError`, `TaskError`."""
    return [
        played
        for environment in environments
        for task in wanted.of(environment)
        for agent in agents
        for played in _play(environment, task, agent, seed, locks.status(environment, task))
    ]


def _play(environment: Environment, name: str, agent: str, seed: int, status: Status | None) -> Iterator[Played]:
    """One task by one agent; the gold agent goes through all plans that the task accepts."""
    task = environment.tasks[name]
    players: list[tuple[str, Agent]] = [("", RandomAgent(seed) if agent == "random" else AGENTS[agent]())]
    if agent == "gold":
        players += [(plan.name, GoldAgent(number)) for number, plan in enumerate(task.plans) if number]
    hashes = _hashes(environment, task)
    for plan, player in players:
        episode = environment.reset(name, seed)
        player.play(environment, episode, task)
        yield Played(environment.name, name, agent, environment.reward(episode, task), hashes, status, plan)


def _hashes(environment: Environment, task: Task) -> dict[str, str] | None:
    """What identifies that which was played."""
    known = environment.hashes
    if known is None:
        return None
    return {
        "environment": known.environment, "grading": known.grading, "world": known.worlds[task.world],
        "task": known.tasks[task.name],
    }  # fmt: skip


def row(one: Played) -> dict[str, object]:
    """One task played, as data."""
    reasons = [{"kind": reason.kind, "text": reason.text} for reason in one.reward.reasons]
    return {
        "environment": one.environment, "task": one.task, "agent": one.agent, "reward": one.reward.value,
        "reasons": reasons, **({"plan": one.plan} if one.plan else {}), "hashes": one.hashes,
        "certified": word(one.status),
        **({"changed": list(one.status.changed)} if isinstance(one.status, Stale) else {}),
    }  # fmt: skip


def table(played: Sequence[Played], agents: Sequence[str]) -> str:
    """A line a task, a column an agent, and a word where a task is not certified; below, why rewards were not paid
    where the gold agent is concerned.
    """
    tasks = list(dict.fromkeys(one.title for one in played))
    rewards = {(one.title, one.agent): one.reward for one in played}
    width = max([len(task) for task in tasks] + [len("task"), len("mean of 00")])
    header = "task".ljust(width) + "".join(agent.rjust(8) for agent in agents)
    lines = [header, "-" * len(header)]
    standing = {one.title: one.status for one in played}
    for task in tasks:
        found = [rewards.get((task, agent)) for agent in agents]
        values = "".join(" " * 8 if one is None else f"{one.value:8.0f}" for one in found)
        how = standing[task]
        lines.append(task.ljust(width) + values + ("" if how is None or isinstance(how, Certified) else f"  {how}"))
    own = [one for one in played if not one.plan]
    count = len({one.title for one in own})
    means = [sum(one.reward.value for one in own if one.agent == agent) / max(count, 1) for agent in agents]
    lines += ["-" * len(header), f"mean of {count}".ljust(width) + "".join(f"{mean:8.2f}" for mean in means)]
    without = sorted({one.environment for one in played if one.status is None})
    if without:
        lines.append(f"not certified, for want of a lock: {', '.join(without)} (forgec certify writes one)")
    for one in played:
        if one.agent == "gold" and one.reward.value != 1.0:
            lines.append(f"\n{one.title}, gold:")
            lines.extend(f"  {reason.text}" for reason in one.reward.reasons)
    return "\n".join(lines)
