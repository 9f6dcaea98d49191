"""What a run came to: rewards by task and trial, why episodes ended, what went wrong, what it cost."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from forgec.diagnostics import counted
from forgec.diagnostics.cells import clean
from forgec.rollouts import statistics
from forgec.rollouts.run import Failure
from forgec.rollouts.trajectory import Key, Spent, Trajectory

MAX_FAILURES = 10
"""How many failed episodes are told of one by one."""


@dataclass(frozen=True)
class Unfinished:
    """What was spent on episodes that have no trajectory: they failed, or the run stopped before their end."""

    requests: int = 0
    cost: float = 0.0


NOTHING = Unfinished()


@dataclass
class Summary:
    """The trajectories of a run as far as a summary needs them: nothing of their messages."""

    rewards: dict[Key, float] = field(default_factory=dict)
    groups: dict[str, set[tuple[str, str, int]]] = field(default_factory=lambda: defaultdict(set))
    """Tasks by what they have in common: a tag, a feature with its value, what the lock says of them."""
    ends: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    """Calls that failed, by kind."""
    reasons: Counter[str] = field(default_factory=Counter)
    """Episodes that were not paid, by ground."""
    masked: set[Key] = field(default_factory=set)
    """Episodes whose users erred: they are counted, and left out of all means."""
    verdicts: Counter[str] = field(default_factory=Counter)
    """Episodes by what was found of their users."""
    turns: int = 0
    calls: int = 0
    seconds: float = 0.0
    spent: dict[tuple[str, str], Spent] = field(default_factory=dict)
    """By side and model."""

    def add(self, one: Trajectory) -> None:
        task = one.key[:3]
        self.rewards[one.key] = one.reward
        for group in groups_of(one):
            self.groups[group].add(task)
        self.ends[one.end] += 1
        for message in one.messages:
            if message.role == "tool" and message.by == "agent" and message.kind not in ("ok", None):
                self.errors[str(message.kind)] += 1
        self.reasons.update({reason.kind for reason in one.reasons})
        if one.user_verdict is not None:
            mask = one.user_verdict.mask
            self.verdicts[
                "undecided" if mask is None else f"erred: {one.user_verdict.kind}" if mask else "as told"
            ] += 1
            if mask:
                self.masked.add(one.key)
        self.turns += one.turns
        self.calls += one.calls
        self.seconds += one.times.total
        for side, spent in one.usage.items():
            place = (side, spent.model)
            self.spent[place] = _sum(self.spent[place], spent) if place in self.spent else spent

    @property
    def by_task(self) -> dict[tuple[str, str, int], list[float]]:
        """The rewards of each task's trials, but for those that are masked."""
        found: dict[tuple[str, str, int], list[float]] = defaultdict(list)
        for key in sorted(self.rewards.keys() - self.masked):
            found[key[:3]].append(self.rewards[key])
        return found

    @property
    def mean(self) -> float:
        """Over tasks, of the means of their trials."""
        tasks = self.by_task
        return fmean(map(fmean, tasks.values())) if tasks else 0.0

    def passes(self) -> list[tuple[int, float, float]]:
        """For each k up to the trials that all tasks have: k, pass@k and pass^k."""
        tasks = list(self.by_task.values())
        most = min(map(len, tasks), default=0)
        found = []
        for k in range(1, most + 1):
            counts = [(sum(reward == 1.0 for reward in rewards), len(rewards)) for rewards in tasks]
            at = fmean(statistics.pass_at(*count, k) for count in counts)
            every = fmean(statistics.pass_all(*count, k) for count in counts)
            found.append((k, at, every))
        return found

    def unfinished(self, requests: int, cost: float) -> Unfinished:
        """What of all that was spent has gone into no trajectory."""
        told = self.spent.values()
        left = cost - sum(spent.cost or 0.0 for spent in told)
        return Unfinished(requests - sum(spent.requests for spent in told), left if left > 1e-9 else 0.0)

    def json(
        self, failures: Sequence[Failure] = (), stopped: str = "", unfinished: Unfinished = NOTHING
    ) -> dict[str, Any]:
        """The summary as data."""
        tasks = self.by_task
        low, high = statistics.interval(list(tasks.values())) if tasks else (0.0, 1.0)
        return {
            "episodes": len(self.rewards),
            "masked": len(self.masked),
            "tasks": len(tasks),
            "mean": self.mean if tasks else None,
            "interval": {
                "level": statistics.LEVEL, "method": "Wilson score over tasks",
                "low": low, "high": high,
            } if tasks else None,
            "passes": [{"k": k, "pass_at_k": at, "pass_all_k": every} for k, at, every in self.passes()],
            "groups": [
                {"group": group, "tasks": len(members), "mean": mean} for group, members, mean in self.breakdown()
            ],
            "ends": dict(sorted(self.ends.items())),
            "unpaid_by_ground": dict(sorted(self.reasons.items())),
            "failed_calls": dict(sorted(self.errors.items())),
            "user_verdicts": dict(sorted(self.verdicts.items())),
            "turns": self.turns,
            "calls": self.calls,
            "usage": [{"side": side, **spent.model_dump()} for (side, _), spent in sorted(self.spent.items())],
            "unfinished": {"requests": unfinished.requests, "cost": unfinished.cost},
            "failures": [
                {"environment": one.key[0], "task": one.key[1], "seed": one.key[2], "trial": one.key[3],
                 "kind": one.kind, "text": one.text}
                for one in failures
            ],
            "stopped": stopped or None,
        }  # fmt: skip

    def breakdown(self) -> list[tuple[str, set[tuple[str, str, int]], float]]:
        """Groups of tasks with their mean rewards; those that hold all tasks tell nothing, and are left out."""
        tasks = self.by_task
        return [
            (group, members, fmean(fmean(tasks[task]) for task in members))
            for group, members in sorted((group, all_of & tasks.keys()) for group, all_of in self.groups.items())
            if 0 < len(members) < len(tasks)
        ]


def groups_of(one: Trajectory) -> list[str]:
    """The groups that the task of a trajectory belongs to."""
    features = one.features
    counted = [f"{name}: {features[name]}" for name in ("calls", "reasons", "requests") if name in features]
    tools = features.get("tools")
    called = [f"tool: {tool}" for tool in tools] if isinstance(tools, list | tuple) else []
    certified = [f"lock: {one.certified}"] if one.certified else []
    return [f"environment: {one.environment}", *(f"tag: {tag}" for tag in one.tags), *certified, *counted, *called]


def summarised(trajectories: Iterable[Trajectory]) -> Summary:
    summary = Summary()
    for one in trajectories:
        summary.add(one)
    return summary


def text(
    summary: Summary, failures: Sequence[Failure] = (), stopped: str = "", unfinished: Unfinished = NOTHING
) -> str:
    """The summary for people; what endpoints and agents wrote in it is made harmless to a terminal."""
    tasks = summary.by_task
    lines: list[str] = []
    if tasks:
        low, high = statistics.interval(list(tasks.values()))
        played = f"{counted(len(summary.rewards), 'episode')} of {counted(len(tasks), 'task')}"
        lines.append(
            f"{played}: mean reward {summary.mean:.3f} "
            f"({statistics.LEVEL:.0%} interval {low:.3f} to {high:.3f}, Wilson score over tasks)"
        )
        passes = summary.passes()
        if len(passes) > 1:
            lines += ["", "   k   pass@k   pass^k"]
            lines += [f"{k:4}   {at:6.3f}   {every:6.3f}" for k, at, every in passes]
        groups = summary.breakdown()
        if groups:
            width = max(len(group) for group, _, _ in groups)
            lines += ["", f"{'group'.ljust(width)}   tasks    mean"]
            lines += [f"{group.ljust(width)}  {len(members):6,}  {mean:6.3f}" for group, members, mean in groups]
        lines += ["", _counted("ended by", summary.ends)]
        lines += [_counted(title, counts) for title, counts in (
            ("not paid for", summary.reasons), ("calls that failed", summary.errors),
            ("users", summary.verdicts)) if counts]  # fmt: skip
        lines.append(f"{summary.turns:,} turns of the agent, {summary.calls:,} calls")
    if summary.masked:
        masked, of = len(summary.masked), len(summary.rewards)
        lines.append(f"left out of the means, since the user erred: {masked:,} of {of:,}")
    lines += [_spent(side, spent) for (side, _), spent in sorted(summary.spent.items())]
    if unfinished.requests:
        cost = f", cost {unfinished.cost:.4f}" if unfinished.cost else ""
        lines.append(f"on episodes that were not finished: {counted(unfinished.requests, 'request')}{cost}")
    if failures:
        kinds = Counter(one.kind for one in failures)
        lines += ["", _counted(f"{counted(len(failures), 'episode')} could not be finished", kinds)]
        for one in failures[:MAX_FAILURES]:
            environment, task, seed, trial = one.key
            lines.append(f"  {environment}/{task}, seed {seed}, trial {trial}: {one.text}")
        if len(failures) > MAX_FAILURES:
            lines.append(f"  and {len(failures) - MAX_FAILURES:,} more")
    if stopped:
        lines += ["", f"stopped: {stopped}"]
    return "\n".join(map(clean, lines))


def _counted(title: str, counts: Mapping[str, int]) -> str:
    return f"{title}: " + ", ".join(f"{kind} {count:,}" for kind, count in sorted(counts.items()))


def _spent(side: str, spent: Spent) -> str:
    cost = "" if spent.cost is None else f", cost {spent.cost:.4f}"
    failed = _counted(", failed and sent again", spent.failures) if spent.failures else ""
    guessed = f", {spent.estimated_answers:,} of them guessed" if spent.estimated_answers else ""
    return (
        f"{side} {spent.model}: {spent.answers:,} answers{guessed}, {spent.prompt_tokens:,} tokens in "
        f"({spent.cached_tokens:,} cached), {spent.completion_tokens:,} out{cost}{failed}"
    )


def _sum(first: Spent, second: Spent) -> Spent:
    total: dict[str, Any] = {"model": first.model}
    for name, one in first.model_dump(exclude={"model"}).items():
        other = getattr(second, name)
        if isinstance(one, dict):
            total[name] = dict(Counter(one) + Counter(other))
        elif one is None or other is None:
            total[name] = other if one is None else one
        else:
            total[name] = one + other
    return Spent(**total)
