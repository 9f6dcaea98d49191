"""What a run came to, in words, for the end of `forgec train`."""

from __future__ import annotations

from collections.abc import Iterator

from forgec.training.curves import Point, Run

PHASES = {"imitation": "imitated", "reinforcement": "reinforced", "control": "control"}


def told(run: Run) -> str:
    """Success before and after by environment and split, and where the time went."""
    return "\n".join([*_success(run), *_times(run), *_scope(run)])


def _success(run: Run) -> Iterator[str]:
    yield f"{'success':<32}" + "".join(f"{words:<24}" for words in PHASES.values()).rstrip()
    for name in run.environments:
        for split in ("held_out", "unseen"):
            points = [run.evaluations(phase, name, split)[-1:] for phase in PHASES]
            if any(points):
                words = f"{name}, {split.replace('_', ' ')}"
                yield (f"{words:<32}" + "".join(f"{_point(*one):<24}" for one in points)).rstrip()


def _point(point: Point | None = None) -> str:
    if point is None:
        return ""
    low, high = point.interval
    return f"{point.success:4.0%} ({low:.0%} to {high:.0%})"


def _times(run: Run) -> Iterator[str]:
    lines = list(run.steps("reinforcement"))
    if not lines:
        return
    split = {name: sum(line["times"][name] for line in lines) for name in ("environment", "decode", "update")}
    total = sum(split.values()) or 1.0
    episodes = sum(one["episodes"] for line in lines for one in line["environments"].values())
    drawn = sum(line["tokens"] for line in lines)
    shares = ", ".join(f"{name} {seconds / total:.0%}" for name, seconds in split.items())
    yield f"reinforcement: {len(lines)} steps, {total:.0f} CPU seconds: {shares}"
    yield f"               {episodes} episodes, in each {drawn / max(episodes, 1):.0f} tokens written by the policy"


def _scope(run: Run) -> Iterator[str]:
    known = " and ".join(run.environments)
    yield f"This small policy knows {known}, and there the errands that it was trained on: nothing else."
