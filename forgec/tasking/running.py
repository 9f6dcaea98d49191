"""A run: batches of tasks until there are as many as are wanted, kept as they come."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from forgec.tasking.choosing import Choosing
from forgec.tasking.keeping import Unfinished
from forgec.tasking.making import BATCH, Made, Maker, measured
from forgec.tasking.measuring import LEVELS, Measured

LEAST = 16
"""How many drafts a batch has at least."""
PATIENCE, IDLE = 3, 8
"""After so many batches in a row that add nothing other levels will do, and then a run gives up."""


@dataclass
class Outcome:
    """What a run came to: the lines, and its report."""

    lines: list[str] = field(default_factory=list)
    report: dict[str, Any] = field(default_factory=dict)


def run(maker: Maker, choosing: Choosing, unfinished: Unfinished, told: Callable[[int], None]) -> Outcome:
    """Make tasks until there are enough; goes on where an earlier run of the same kind was cut short.

    `told` hears how many there are. Raises `OSError` where the work cannot be kept.
    """
    outcome = Outcome()
    done = list(unfinished.batches())
    for batch in done:
        _again(maker, choosing, batch)
        outcome.lines += batch["lines"]
    unfinished.begin(done)
    number, idle = len(done), 0
    drafts, made = sum(batch["drafts"] for batch in done), sum(batch["made"] for batch in done)
    histogram: Counter[str] = Counter(score for batch in done for score in batch["scores"])
    kinds: Counter[str] = Counter(kind for batch in done for kind in batch["kinds"])
    mutants: Counter[str] = Counter()
    for batch in done:
        mutants.update(batch["mutants"])
    while not choosing.full and idle < IDLE:
        size = min(BATCH, 2 * (choosing.count - len(outcome.lines)) + LEAST)
        chosen: dict[str, Measured] = {}
        tried = []
        for one in maker.batch(number, size, _levels(choosing)):
            hard = measured(maker.ground, one)
            if choosing.keeps(one.line, hard.level):
                chosen[one.task.name] = hard
                tried.append(one)
        sound = {one.task.name: one for one in maker.certified(tried)}
        new: dict[str, Any] = {"lines": [], "scores": [], "kinds": [], "drafts": size, "made": len(tried)}
        perturbed: Counter[str] = Counter()
        for one in tried:
            hard = chosen[one.task.name]
            if one.task.name not in sound:
                choosing.drop(one.line, hard.level)
                continue
            maker.count(one)
            split = choosing.split(one.line)
            tags = [*one.line["tags"], hard.level, *([split] if split else [])]
            new["lines"].append(json.dumps({**one.line, "tags": tags}, ensure_ascii=False))
            new["scores"].append(f"{int(hard.score // 4) * 4:02}")
            new["kinds"] += one.plan.kinds
            new["kinds"] += ["drawn by the seed"] * bool(one.plan.drawn) + ["more rows"] * bool(one.draft.change)
            perturbed.update(_perturbed(sound[one.task.name]))
        idle = 0 if new["lines"] else idle + 1
        choosing.relaxed = choosing.relaxed or idle >= PATIENCE
        outcome.lines += new["lines"]
        new["mutants"] = perturbed
        mutants.update(perturbed)
        histogram.update(new["scores"])
        kinds.update(new["kinds"])
        drafts, made, number = drafts + size, made + len(tried), number + 1
        unfinished.add({**new, **_state(maker, choosing)})
        told(len(outcome.lines))
    outcome.report = {
        "tasks": len(outcome.lines),
        "wanted": choosing.count,
        "drafts": drafts,
        "chosen": made,
        "certified": len(outcome.lines),
        "acceptance": round(len(outcome.lines) / made, 3) if made else 0.0,
        "not certified": _shown(maker.lost),
        "left out": dict(choosing.left.most_common()),
        "levels": {level: choosing.levels[level] for level in LEVELS},
        "difficulty": dict(sorted(histogram.items())),
        "reasoning": dict(kinds.most_common()),
        "coverage": maker.coverage.report(),
        "mutants": dict(sorted(mutants.items())),
    }
    if choosing.known.texts:
        like = sum(number for why, number in choosing.left.items() if why.startswith("like a task that was given"))
        pairs = choosing.known.pairs
        outcome.report["contamination"] = {"given": len(choosing.known.texts), "like": like, "pairs": pairs}
    return outcome


def _perturbed(made: Made) -> Iterator[str]:
    """What became of each perturbed plan of a task, by kind."""
    for kind, kills in made.verdict.kills.items() if made.verdict is not None else ():
        for what, number in (("refused", kills.refused), ("unpaid", kills.unpaid), ("paid", kills.paid)):
            yield from [f"{kind}: {what}"] * number


def _levels(choosing: Choosing) -> Mapping[str, float]:
    wanted = choosing.wanted()
    return wanted if any(wanted.values()) else dict.fromkeys(LEVELS, 1.0)


def _state(maker: Maker, choosing: Choosing) -> dict[str, Any]:
    """What the next batch depends on, and the report."""
    coverage = maker.coverage
    edges = [[*edge, number] for edge, number in coverage.edges.items()]
    return {
        "coverage": [coverage.tools, coverage.refused, coverage.tried, edges],
        "lost": maker.lost,
        "left out": choosing.left,
        "pairs": choosing.known.pairs,
        "relaxed": choosing.relaxed,
    }  # fmt: skip


def _again(maker: Maker, choosing: Choosing, batch: Mapping[str, Any]) -> None:
    """As it was after a batch."""
    coverage = maker.coverage
    tools, refused, tried, edges = batch["coverage"]
    coverage.tools, coverage.refused, coverage.tried = Counter(tools), Counter(refused), Counter(tried)
    coverage.edges = Counter({(a, b, table): n for a, b, table, n in edges})
    maker.lost = Counter(batch["lost"])
    choosing.left, choosing.relaxed = Counter(batch["left out"]), batch["relaxed"]
    choosing.known.pairs = batch["pairs"]
    for text in batch["lines"]:
        line = json.loads(text)
        choosing.count_one(line, next(level for level in LEVELS if level in line["tags"]))


def _shown(lost: Counter[str]) -> dict[str, int]:
    """The reasons, without their particulars."""
    found: Counter[str] = Counter()
    for reason, number in lost.items():
        found[reason.partition(":")[0]] += number
    return dict(found.most_common())
