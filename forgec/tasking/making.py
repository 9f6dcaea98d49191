"""Tasks, made and proved: drafts walk, their calls are merged to plans, plans are filled in and played."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from forgec.certifying import FreshProcess, Verdict, certify
from forgec.certifying.computing import twin_of
from forgec.diagnostics import Report
from forgec.tasking.coverage import KINDS, Coverage, Edge, Kind
from forgec.tasking.distracting import distract
from forgec.tasking.drafts import Draft
from forgec.tasking.filling import fill, line
from forgec.tasking.ground import Ground
from forgec.tasking.growing import Growing, Unreachable
from forgec.tasking.looks import Looks, Waits
from forgec.tasking.measuring import Measured
from forgec.tasking.merging import Merging
from forgec.tasking.plans import Plan
from forgec.tasking.proposing import Rows
from forgec.tasking.reading import Reader
from forgec.tasking.sampling import drawn
from forgec.tasking.walks import attempt, walk
from forgec.tasking.words import Words
from forgec_runtime.tasks import Task

WALKING, CERTIFYING = 2048, 1024
"""How many drafts walk together, and how many tasks are certified together: more take less time each, and more memory.
What is made does not depend on it.
"""

SURE = 2
"""So many tasks that exercise the same are wanted before others: one of them may turn out to be none."""

SIZES: Mapping[str, tuple[tuple[int, ...], ...]] = {
    "easy": ((0, 1, 1, 1), (0, 0, 1), (0,)),
    "medium": ((0, 1, 2, 2), (0, 1, 2), (0, 0, 1)),
    "hard": ((2, 3, 3, 4), (1, 1, 2), (0, 1, 1)),
}
"""For each level: how many calls that write, that only look, and that are refused, one of these each."""


@dataclass
class Planned:
    """A draft with its plan, as a line that nobody has compiled yet."""

    draft: Draft
    plan: Plan
    edges: list[Edge]
    line: dict[str, Any]


@dataclass
class Made(Planned):
    task: Task
    verdict: Verdict | None = None


@dataclass
class Maker:
    """Makes tasks of one spec; the same seed makes the same ones."""

    ground: Ground
    seed: int
    worlds: list[str]
    process: FreshProcess
    coverage: Coverage = field(init=False)
    lost: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.ground.env.keep_answers(twin_of)
        self.coverage = Coverage(self.ground)
        self.rows = Rows(self.ground)
        self.looks = Looks(self.ground)
        self.words = Words(self.ground.spec, self.ground.people.table)
        self.reader = Reader(self.ground.spec)

    def round(self, first: int, size: int, levels: Mapping[str, float]) -> list[Planned]:
        """What so many drafts come to, the `first` of them with this number; `levels` says how much of each difficulty
        is wanted. No draft knows of the others.
        """
        found: list[Planned] = []
        tried: Counter[str] = Counter()
        for start in range(first, first + size, WALKING):
            drafts = [self._draft(number, levels) for number in range(start, min(start + WALKING, first + size))]
            walk(self.ground, self.rows, drafts, self.coverage)
            distract(self.ground, self.rows, drafts)
            found += self._filled(self._sound(drafts))
            for draft in drafts:
                tried.update(draft.tried)
        self.coverage.tried.update(tried)
        return self.new_first(found)

    def new_first(self, found: Sequence[Planned]) -> list[Planned]:
        """Those first that exercise what hardly any task does, as far as they are needed for that: tools before
        refusals, and these before edges.
        """
        first: list[Planned] = []
        rest = [(one, set(_exercised(one))) for one in found]
        seen = Counter[tuple[Kind, Any]]()
        for times, kind in product(range(SURE), KINDS):
            later = []
            for one, exercised in rest:
                mine = [what for what in exercised if what[0] == kind]
                if any(self.coverage.times(*what) + seen[what] <= times for what in mine):
                    first.append(one)
                    seen.update(exercised)
                else:
                    later.append((one, exercised))
            rest = later
        return [*first, *(one for one, _ in rest)]

    def _sound(self, drafts: list[Draft]) -> list[Draft]:
        """Those in which something is done, and nothing that is refused is allowed in the end."""
        vain = [
            (draft, move, draft.episode.fork()) for draft in drafts for move in draft.moves if move.guard is not None
        ]
        results = attempt(self.ground, ((fork, move.proposal) for _, move, fork in vain))
        lost = {
            draft.number
            for (draft, _, fork), result in zip(vain, results, strict=True)
            if result.ok and fork.broken_rules == draft.episode.broken_rules
        }
        for draft in drafts:
            if draft.number in lost:
                self._drop("what was refused is allowed in the end")
            elif not draft.moves:
                self._drop("nothing to do")
        return [draft for draft in drafts if draft.number not in lost and draft.moves]

    def _filled(self, drafts: list[Draft]) -> list[Planned]:
        """The drafts with their plans: again and again, until all lookups that they wait for are made."""
        begun = {draft.number: draft.chance.getstate() for draft in drafts}
        plans: dict[int, tuple[Plan, Growing] | None] = {}
        while len(plans) < len(drafts):
            for draft in drafts:
                if draft.number in plans:
                    continue
                draft.chance.setstate(begun[draft.number])
                growing = Growing(self.ground, self.rows, self.looks, self.words, draft, self.coverage)
                try:
                    plans[draft.number] = (fill(self.ground, self.words, draft, Merging(growing)), growing)
                except Waits:
                    continue
                except Unreachable as error:
                    self._drop(f"an argument cannot be come by: {error}")
                    plans[draft.number] = None
            self.looks.make()
        self.looks.forget()
        whole = [(draft, *found) for draft in drafts if (found := plans[draft.number]) is not None]
        planned = (self._planned(draft, plan, growing.edges) for draft, plan, growing in whole)
        return [one for one in planned if one is not None]

    def made(self, found: Sequence[Planned]) -> list[Made | None]:
        """What is planned, compiled to tasks that are still to be certified; some have values that are drawn for each
        seed, which makes another line of them. None for those that do not compile.
        """
        read = [self._read(one) for one in found]
        whole = [one for one in read if one is not None]
        plans = iter(drawn(self.ground, self.rows, [(one.draft, one.plan, one.task) for one in whole]))
        return [None if one is None else self._drawn(one, next(plans)) for one in read]

    def _drawn(self, made: Made, plan: Plan | None) -> Made:
        """A task with the plan that has values which are drawn, if there is one."""
        planned = self._planned(made.draft, plan, made.edges) if plan is not None else None
        return made if planned is None else self._read(planned) or made

    def _draft(self, number: int, levels: Mapping[str, float]) -> Draft:
        chance = random.Random(f"{self.seed}/{number}")
        world = chance.choice(self.worlds)
        episode = self.ground.env.reset(world)
        (level,) = chance.choices(list(levels), list(levels.values()))
        writes, looks, refusals = (chance.choice(choices) for choices in SIZES[level])
        looks = looks or int(not writes)
        return Draft(number, chance, world, None, episode, episode, writes, looks, refusals)

    def _planned(self, draft: Draft, plan: Plan, edges: list[Edge]) -> Planned | None:
        sides = {self.ground.spec.tools[node.tool].side for node in plan.nodes if node.tool}
        if not plan.requests or "agent" not in sides:
            self._drop("nothing is left of it")
            return None
        data = line(self.ground, draft, plan, "task")
        data["name"] = f"{_about(self.ground, plan)}_{_hash(data)}"
        return Planned(draft, plan, edges, data)

    def _read(self, planned: Planned) -> Made | None:
        read = self.reader.read(json.dumps(planned.line, ensure_ascii=False))
        if isinstance(read, Report):
            found = read.diagnostics[0]
            self._drop(f"does not compile: {found.code} {found.message}")
            return None
        return Made(planned.draft, planned.plan, planned.edges, planned.line, read)

    def certified(self, tasks: Sequence[Made]) -> Iterator[Made]:
        """Those of some tasks that are certified."""
        for start in range(0, len(tasks), CERTIFYING):
            batch = tasks[start : start + CERTIFYING]
            verdicts = certify(self.ground.env, [made.task for made in batch], self.process)
            for made, verdict in zip(batch, verdicts, strict=True):
                if verdict.certified:
                    made.verdict = verdict
                    yield made
                else:
                    self._drop(f"{verdict.failed[0].check}: {verdict.failed[0].evidence}")

    def count(self, made: Made) -> None:
        """A task is kept: what it exercises is covered."""
        for kind, what in _exercised(made):
            self.coverage.count(kind, what)

    def _drop(self, reason: str) -> None:
        self.lost[reason] += 1


def _exercised(made: Planned) -> Iterator[tuple[Kind, Any]]:
    """Each call and refusal, and the edges that led to them."""
    yield from (("tool", node.tool) for node in made.plan.nodes if node.tool)
    yield from (("refusal", move.guard.name) for move in made.draft.moves if move.guard is not None)
    yield from (("edge", edge) for edge in dict.fromkeys(made.edges))


def measured(ground: Ground, made: Planned) -> Measured:
    """What makes a task hard."""
    plan = made.plan
    calls = [node for node in plan.nodes if node.tool]
    rules = {guard.rule for node in calls for guard in ground.guards[node.tool] if guard.rule}
    return Measured(
        calls=len(calls),
        depth=plan.depth,
        reasoning=len(plan.nodes) - len(calls),
        distractors=plan.distractors,
        branching=sum(bool(node.when) for node in plan.nodes),
        facts=len(plan.facts),
        rules=len(rules),
        refusals=plan.kinds.count("refusal"),
    )


def _about(ground: Ground, plan: Plan) -> str:
    """The call that writes last, or what is asked."""
    tools = [node.tool for node in plan.nodes if node.tool]
    writing = [tool for tool in tools if ground.writes[tool]]
    return writing[-1][:40] if writing else f"ask_{tools[-1]}"[:40]


def _hash(data: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:8]
