"""A run: rounds of drafts until there are as many tasks as are wanted, kept as they come."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from forgec.certifying.collecting import seldom_collected
from forgec.tasking.choosing import Choosing
from forgec.tasking.keeping import Unfinished
from forgec.tasking.making import Made, Maker, Planned, measured
from forgec.tasking.measuring import LEVELS, Measured

ROUND, LEAST = 2048, 16
"""How many drafts a round has at most, and at least. What is exercised by their tasks is known to the next round."""
SPARE, MOST = 256, 16
"""How many drafts the first round has more than tasks are wanted, and a later one for each that is missing, at most."""
POOR = 100
"""A round is poor in which not even one of so many drafts came to a task that was kept."""
PATIENCE, IDLE = 2, 5
"""After so many poor rounds in a row other levels will do, and then a run gives up."""


@dataclass
class Outcome:
    """What a run came to: the lines, and its report."""

    lines: Iterable[str]
    report: dict[str, Any]


@dataclass
class _Tally:
    """What the rounds of a run came to so far."""

    tasks: int = 0
    drafts: int = 0
    chosen: int = 0
    size: int = 0
    """How many drafts the last round had, and how many of them were kept."""
    kept: int = 0
    poor: int = 0
    """How many rounds in a row were poor, and what they came to."""
    last: Counter[str] = field(default_factory=Counter)
    scores: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    mutants: Counter[str] = field(default_factory=Counter)

    def add(self, done: Mapping[str, Any]) -> None:
        kept = len(done["lines"])
        self.tasks, self.drafts, self.chosen = (
            self.tasks + kept,
            self.drafts + done["drafts"],
            self.chosen + done["made"],
        )
        self.size, self.kept = done["drafts"], kept
        poor = kept * POOR < done["drafts"]
        self.poor = self.poor + 1 if poor else 0
        self.last = self.last + Counter(drafts=done["drafts"], kept=kept) if poor else Counter()
        self.scores.update(done["scores"])
        self.kinds.update(done["kinds"])
        self.mutants.update(done["mutants"])

    def next_size(self, missing: int) -> int:
        """How many drafts the next round has: as many as come to what is missing if they do as those of the last one.
        The first has more, so that there is something to choose from: later ones know what is seldom exercised.
        """
        if not self.drafts:
            return min(3 * missing, missing + SPARE, ROUND)
        each = min((self.size + 1) / (self.kept + 1), MOST)
        return min(int(each * missing) + LEAST, ROUND)


def run(maker: Maker, choosing: Choosing, unfinished: Unfinished, told: Callable[[int], None]) -> Outcome:
    """Make tasks until there are enough, or no more are found; goes on where an earlier run of the same kind was cut
    short.

    `told` hears how many there are. Raises `OSError` where the work cannot be kept.
    """
    tally = _Tally()
    for done in unfinished.rounds():
        _again(maker, choosing, done)
        tally.add(done)
    while not choosing.full and tally.poor < IDLE:
        size = tally.next_size(choosing.count - tally.tasks)
        with seldom_collected():
            new = _round(maker, choosing, tally.drafts, size, lambda kept: told(tally.tasks + kept))
        tally.add(new)
        choosing.relaxed = choosing.relaxed or tally.poor >= PATIENCE
        unfinished.add({**new, **_state(maker, choosing)})
        told(tally.tasks)
    return Outcome(unfinished.lines(), _report(maker, choosing, tally))


def _round(maker: Maker, choosing: Choosing, first: int, size: int, told: Callable[[int], None]) -> dict[str, Any]:
    """What so many drafts come to: of all plans some are chosen, and only these are compiled and certified."""
    planned: list[tuple[Planned, Measured]] = []
    for one in maker.round(first, size, _levels(choosing)):
        hard = measured(maker.ground, one)
        if choosing.keeps(one.line, hard.level):
            planned.append((one, hard))
    chosen: list[tuple[Made, Measured]] = []
    for (one, hard), made in zip(planned, maker.made([one for one, _ in planned]), strict=True):
        if made is None or made.line is not one.line:
            choosing.drop(one.line, hard.level)
        if made is not None and (made.line is one.line or choosing.keeps(made.line, hard.level)):
            chosen.append((made, hard))
    sound: set[str] = set()
    for made in maker.certified([made for made, _ in chosen]):
        sound.add(made.task.name)
        told(len(sound))
    new: dict[str, Any] = {"lines": [], "drafts": size, "made": len(chosen)}
    scores, kinds, mutants = Counter[str](), Counter[str](), Counter[str]()
    for made, hard in chosen:
        if made.task.name not in sound:
            choosing.drop(made.line, hard.level)
            continue
        maker.count(made)
        split = choosing.split(made.line)
        tags = [*made.line["tags"], hard.level, *([split] if split else [])]
        new["lines"].append(json.dumps({**made.line, "tags": tags}, ensure_ascii=False))
        scores[f"{int(hard.score // 4) * 4:02}"] += 1
        kinds.update(made.plan.kinds)
        kinds.update(["drawn by the seed"] * bool(made.plan.drawn) + ["more rows"] * bool(made.draft.change))
        mutants.update(_perturbed(made))
    return {**new, "scores": scores, "kinds": kinds, "mutants": mutants}


def _report(maker: Maker, choosing: Choosing, tally: _Tally) -> dict[str, Any]:
    report: dict[str, Any] = {
        "tasks": tally.tasks,
        "wanted": choosing.count,
        "drafts": tally.drafts,
        "chosen": tally.chosen,
        "certified": tally.tasks,
        "acceptance": round(tally.tasks / tally.chosen, 3) if tally.chosen else 0.0,
        "not certified": _shown(maker.lost),
        "left out": _sorted(choosing.left),
        "levels": {level: choosing.levels[level] for level in LEVELS},
        "difficulty": dict(sorted(tally.scores.items())),
        "reasoning": _sorted(tally.kinds),
        "coverage": maker.coverage.report(),
        "mutants": dict(sorted(tally.mutants.items())),
    }
    if choosing.known.texts:
        like = sum(number for why, number in choosing.left.items() if why.startswith("like a task that was given"))
        report["contamination"] = {"given": len(choosing.known.texts), "like": like, "pairs": choosing.known.pairs}
    if not choosing.full:
        report["exhausted"] = {
            "drafts": tally.last["drafts"],
            "tasks": tally.last["kept"],
            "missing": choosing.missing(),
        }
    return report


def _perturbed(made: Made) -> Iterator[str]:
    """What became of each perturbed plan of a task, by kind."""
    for kind, kills in made.verdict.kills.items() if made.verdict is not None else ():
        for what, number in asdict(kills).items():
            yield from [f"{kind}: {what}"] * number


def _levels(choosing: Choosing) -> Mapping[str, float]:
    wanted = choosing.wanted()
    return wanted if any(wanted.values()) else dict.fromkeys(LEVELS, 1.0)


def _state(maker: Maker, choosing: Choosing) -> dict[str, Any]:
    """What the next round depends on, and the report."""
    coverage = maker.coverage
    edges = [[*edge, number] for edge, number in coverage.edges.items()]
    return {
        "coverage": [coverage.tools, coverage.refused, coverage.tried, edges],
        "lost": maker.lost,
        "left out": choosing.left,
        "pairs": choosing.known.pairs,
        "relaxed": choosing.relaxed,
    }  # fmt: skip


def _again(maker: Maker, choosing: Choosing, done: Mapping[str, Any]) -> None:
    """As it was after a round."""
    coverage = maker.coverage
    tools, refused, tried, edges = done["coverage"]
    coverage.tools, coverage.refused, coverage.tried = Counter(tools), Counter(refused), Counter(tried)
    coverage.edges = Counter({(a, b, table): n for a, b, table, n in edges})
    maker.lost = Counter(done["lost"])
    choosing.left, choosing.relaxed = Counter(done["left out"]), done["relaxed"]
    choosing.known.pairs = done["pairs"]
    for text in done["lines"]:
        line = json.loads(text)
        choosing.count_one(line, next(level for level in LEVELS if level in line["tags"]))


def _shown(lost: Counter[str]) -> dict[str, int]:
    """The reasons, without their particulars."""
    found: Counter[str] = Counter()
    for reason, number in lost.items():
        found[reason.partition(":")[0]] += number
    return _sorted(found)


def _sorted(found: Counter[str]) -> dict[str, int]:
    """The most first; the order does not depend on what came first."""
    return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))
