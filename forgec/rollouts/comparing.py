"""Two runs over the same tasks: what changed, and whether that may be chance."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import fmean
from typing import Any, TypeAlias

from forgec.diagnostics import counted
from forgec.rollouts import statistics
from forgec.rollouts.summary import Summary

TaskKey: TypeAlias = tuple[str, str, int]
"""Environment, task, seed."""

MAX_TOLD = 20
"""How many tasks that changed are told of one by one."""


@dataclass(frozen=True)
class Pair:
    """The rewards of one task's trials, before and after."""

    task: TaskKey
    before: tuple[float, ...]
    after: tuple[float, ...]

    @property
    def difference(self) -> float:
        return fmean(self.after) - fmean(self.before)


@dataclass(frozen=True)
class Comparison:
    """What two runs have in common, pair by pair, and the tasks that one of them lacks."""

    pairs: tuple[Pair, ...]
    only_before: tuple[TaskKey, ...]
    only_after: tuple[TaskKey, ...]
    groups: tuple[tuple[str, int, float], ...]
    """What tasks have in common, how many have it, and their mean difference."""

    @property
    def before(self) -> float:
        return fmean(fmean(pair.before) for pair in self.pairs)

    @property
    def after(self) -> float:
        return fmean(fmean(pair.after) for pair in self.pairs)

    @property
    def difference(self) -> float:
        return fmean(pair.difference for pair in self.pairs)

    @property
    def interval(self) -> tuple[float, float] | None:
        """By a paired bootstrap over tasks; None where all tasks differ by the same."""
        return statistics.bootstrap([pair.difference for pair in self.pairs])

    @property
    def signs(self) -> Counter[str]:
        """How many tasks are better, worse, and the same."""
        return Counter(
            "better" if pair.difference > 0 else "worse" if pair.difference < 0 else "same" for pair in self.pairs
        )

    @property
    def sign_p(self) -> float:
        return statistics.sign_test(self.signs["better"], self.signs["worse"])

    @property
    def flip_p(self) -> float | None:
        return statistics.flip_test([(pair.before, pair.after) for pair in self.pairs])

    @property
    def single(self) -> bool:
        """Whether every task was played once on both sides."""
        return all(len(pair.before) == len(pair.after) == 1 for pair in self.pairs)

    def json(self) -> dict[str, Any]:
        interval = self.interval
        return {
            "tasks": len(self.pairs), "before": self.before, "after": self.after, "difference": self.difference,
            "interval": None if interval is None else {
                "level": statistics.LEVEL, "method": "paired bootstrap over tasks, percentiles", "low": interval[0],
                "high": interval[1], "resamples": statistics.RESAMPLES, "seed": statistics.SEED,
            },
            "better": self.signs["better"], "worse": self.signs["worse"], "same": self.signs["same"],
            "tests": [
                {"name": "McNemar, exact" if self.single else "sign test over tasks, exact", "p": self.sign_p},
                {"name": "sign flips of paired differences, exact", "p": self.flip_p},
            ],
            "changed": [
                {"environment": pair.task[0], "task": pair.task[1], "seed": pair.task[2],
                 "before": fmean(pair.before), "after": fmean(pair.after)}
                for pair in self.pairs if pair.difference
            ],
            "groups": [{"group": name, "tasks": count, "difference": mean} for name, count, mean in self.groups],
            "only_before": [list(task) for task in self.only_before],
            "only_after": [list(task) for task in self.only_after],
        }  # fmt: skip

    def text(self) -> str:
        signs, flip, sure = self.signs, self.flip_p, "no interval: all tasks differ by the same"
        if (interval := self.interval) is not None:
            sure = (
                f"{statistics.LEVEL:.0%} interval {interval[0]:+.3f} to {interval[1]:+.3f}, paired bootstrap over "
                f"tasks, {statistics.RESAMPLES:,} resamples"
            )
        name = "exact McNemar test" if self.single else "exact sign test over tasks"
        lines = [
            f"{counted(len(self.pairs), 'task')} in both: mean reward {self.before:.3f} before, {self.after:.3f} after",
            f"difference {self.difference:+.3f} ({sure})",
            f"{signs['better']:,} better, {signs['worse']:,} worse, {signs['same']:,} the same: p = {self.sign_p:.4f} "
            f"by the {name}",
        ]
        if not self.single:
            told = "too many tasks for" if flip is None else f"p = {flip:.4f} by"
            lines.append(f"{told} the exact sign-flip test of the mean difference")
        changed = sorted(
            (pair for pair in self.pairs if pair.difference), key=lambda pair: (pair.difference, pair.task)
        )
        if changed:
            lines.append("")
        for pair in changed[:MAX_TOLD]:
            environment, task, seed = pair.task
            place = f"{environment}/{task}" + (f", seed {seed}" if seed else "")
            lines.append(f"{pair.difference:+.3f}  {fmean(pair.before):.3f} -> {fmean(pair.after):.3f}  {place}")
        if len(changed) > MAX_TOLD:
            lines.append(f"and {len(changed) - MAX_TOLD:,} more; --json has them all")
        groups = [group for group in self.groups if group[2]]
        if groups:
            width = max(len(name) for name, _, _ in groups)
            lines += ["", f"{'group'.ljust(width)}   tasks  difference"]
            lines += [f"{name.ljust(width)}  {count:6,}  {mean:+10.3f}" for name, count, mean in groups]
        for side, missing in (("before", self.only_before), ("after", self.only_after)):
            if missing:
                lines += ["", f"{counted(len(missing), 'task')} played {side} only: not compared"]
        return "\n".join(lines)


def compared(before: Summary, after: Summary) -> Comparison | None:
    """The comparison of two runs; None where they have no task in common."""
    first, second = before.by_task, after.by_task
    common = [task for task in first if task in second]
    if not common:
        return None
    pairs = {task: Pair(task, tuple(first[task]), tuple(second[task])) for task in common}
    groups = []
    for name, members in sorted(before.groups.items()):
        inside = [pairs[task] for task in common if task in members]
        if 0 < len(inside) < len(common):
            groups.append((name, len(inside), fmean(pair.difference for pair in inside)))
    return Comparison(
        tuple(pairs.values()), tuple(task for task in first if task not in second),
        tuple(task for task in second if task not in first), tuple(groups),
    )  # fmt: skip
