"""Tasks whose values are drawn anew for each seed: the rows behind what the user knows are others.

Which ones will do is found by playing: each combination of rows is a task of its own, and is drawn from where its plan
goes through, is paid, and can be known, as with the rows that the plan was made for. So every guard holds for all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from forgec.certifying.closure import closure
from forgec.certifying.gold import judged
from forgec.certifying.idle import idle
from forgec.certifying.orders import orders
from forgec.certifying.ties import ties
from forgec.certifying.trial import Trial, try_out
from forgec.certifying.verdict import Outcome
from forgec.tasking.drafts import Draft
from forgec.tasking.ground import Ground
from forgec.tasking.parameters import value_at
from forgec.tasking.plans import Drawn, Fact, Plan, RowOf
from forgec.tasking.proposing import Rows
from forgec.tasking.reasoning import constant
from forgec.tasking.words import hole, label_of, quoted, value_text
from forgec_runtime import types as t
from forgec_runtime.tasks import Task

SHARE = 0.25
"""The part of drafts that are tried to be made tasks with a seed."""
TRIES, LEAST = 16, 3
"""How many combinations of rows are tried, and how many have to do."""
MOST = 2
"""So many rows of a task are drawn; others are always the same."""

Row = Mapping[str, Any]


@dataclass
class Trying:
    """A plan, the rows that others are drawn for, and the combinations that are tried."""

    draft: Draft
    plan: Plan
    places: list[RowOf]
    combinations: list[list[Row]]
    tasks: list[Task]


def drawn(ground: Ground, rows: Rows, made: Sequence[tuple[Draft, Plan, Task]]) -> list[Plan | None]:
    """For each plan with its task the plan with values that are drawn, or None where there are too few to draw from."""
    tried = [_trying(ground, rows, *one) if one[0].chance.random() < SHARE else None for one in made]
    trials = iter(try_out(ground.env, [(task, 0) for one in tried if one is not None for task in one.tasks]))
    played = [[next(trials) for _ in one.tasks] if one is not None else [] for one in tried]
    sound = iter(_sound(ground, [trial for one in played for trial in one]))
    found = [[next(sound) for _ in one] for one in played]
    return [None if one is None else _plan(ground, one, does) for one, does in zip(tried, found, strict=True)]


def _sound(ground: Ground, trials: Sequence[Trial]) -> list[bool]:
    """Whether each does what its plan is there for; only what passes the checks that play nothing is played again."""
    whole = [trial for trial in trials if trial.sound and all(one.passed for one in _seen(trial))]
    others = zip(orders(ground.env, [[one] for one in whole]), ties(ground.env, [[one] for one in whole]), strict=True)
    passed = {id(one) for one, (ordered, tied) in zip(whole, others, strict=True) if ordered.passed and tied.passed}
    return [id(trial) in passed for trial in trials]


def _seen(trial: Trial) -> Iterator[Outcome]:
    """What can be told from a plan that was played."""
    yield idle([trial])
    yield closure([trial])
    yield from judged([trial])


def _trying(ground: Ground, rows: Rows, draft: Draft, plan: Plan, task: Task) -> Trying | None:
    people = ground.people
    sides = {ground.spec.tools[node.tool].side for node in plan.nodes if node.tool}
    if draft.change or people.device is not None or "refusal" in plan.kinds or sides != {"agent"}:
        return None
    places = list(dict.fromkeys(fact.row for fact in plan.facts.values() if fact.row is not None))
    if any(fact.read for fact in plan.facts.values()):  # what only this one's rows tell
        places = [place for place in places if place.table != people.table]
    places = [place for place in places if isinstance(ground.spec.tables[place.table].key[0].type, t.Text)]
    others = [place for place in places if place.table != people.table]
    few = [place for place in places if place.table == people.table] + draft.chance.sample(others, len(others))
    places = [place for place in places if place in few[:MOST]]
    if not places or any(len(ground.spec.tables[place.table].key) > 1 for place in places):
        return None
    pools = [rows.of(draft.world, place.table) for place in places]
    own = [next(r for r in pool if str(_key(ground, place, r)) == place.key)
           for place, pool in zip(places, pools, strict=True)]  # fmt: skip
    found: dict[str, list[Row]] = {}
    for _ in range(TRIES):  # most rows as they are: of many others, one would be refused
        combination = [draft.chance.choice(pool) if draft.chance.random() < 0.6 else row
                       for pool, row in zip(pools, own, strict=True)]  # fmt: skip
        found.setdefault(repr([_key(ground, place, row) for place, row in zip(places, combination, strict=True)]),
                         combination)  # fmt: skip
    combinations, tasks = [], []
    for combination in found.values():
        values = _values(ground, plan, places, combination)
        if values is not None:
            facts = tuple(replace(fact, value=values.get(fact.name, fact.value)) for fact in task.facts)
            combinations.append(combination)
            tasks.append(replace(task, facts=facts))
    return Trying(draft, plan, places, combinations, tasks) if len(tasks) >= LEAST else None


def _key(ground: Ground, place: RowOf, row: Row) -> Any:
    return row[ground.spec.tables[place.table].key[0].name]


def _values(ground: Ground, plan: Plan, places: Sequence[RowOf], rows: Sequence[Row]) -> dict[str, Any] | None:
    """What the user knows with these rows; None if they are no people or things to speak of, or one is there twice."""
    keys = [(place.table, _key(ground, place, row)) for place, row in zip(places, rows, strict=True)]
    if len(set(keys)) < len(keys):
        return None
    chosen = dict(zip(places, rows, strict=True))
    found = {}
    for fact in plan.facts.values():
        if fact.row in chosen:
            value = value_at(chosen[fact.row], fact.path)
            if value in (None, "") or type(value) is not type(fact.value):
                return None
            found[fact.name] = value
        elif (who := _whose(ground, fact, places)) is not None:
            name = str(chosen[who]["name"])
            if re.fullmatch(r"[A-Za-z]+(?: [A-Za-z]+)+", name) is None:
                return None
            found[fact.name] = f"{name.lower().replace(' ', '.')}@{fact.value.partition('@')[2]}"
    return found


def _whose(ground: Ground, fact: Fact, places: Sequence[RowOf]) -> RowOf | None:
    """The person whose name a new address is made of."""
    who = next((place for place in places if place.table == ground.people.table), None)
    column = ground.spec.tables[who.table].column("name") if who is not None else None
    named = column is not None and isinstance(column.type, t.Text)
    is_address = isinstance(fact.value, str) and "@" in fact.value and fact.row is None
    return who if named and is_address else None


def _plan(ground: Ground, one: Trying, does: Sequence[bool]) -> Plan | None:
    """The plan over what is drawn."""
    found = [rows for rows, good in zip(one.combinations, does, strict=True) if good]
    plan, names = one.plan, dict[RowOf, str]()
    if len({repr(_values(ground, plan, one.places, rows)) for rows in found}) < LEAST:
        return None
    for place in one.places:
        is_person = place.table == ground.people.table
        wanted = "who" if is_person else f"any_{ground.spec.tables[place.table].title.rpartition('.')[2]}"
        names[place] = plan.name(wanted) if wanted not in names.values() else plan.name(f"{wanted}_{len(names)}")
    facts = {}
    for fact in plan.facts.values():
        given: Any = None
        if fact.row in names:
            given = {"$": ".".join((names[fact.row], *fact.path))}
        elif (who := _whose(ground, fact, one.places)) is not None:
            place = fact.value.partition("@")[2]
            given = {"sql": f"lower(replace(${names[who]}.name, ' ', '.')) || '@{place}'"}
        facts[fact.name] = replace(fact, given=given)
    asked = [fact for fact in facts.values() if fact.given is not None]
    return replace(
        plan,
        facts=facts,
        nodes=[replace(node, doc=_without(node.doc, asked)) for node in plan.nodes],
        requests=[replace(request, text=_with_places(request.text, asked)) for request in plan.requests],
        says=[(_without(doc, asked), value) for doc, value in plan.says],
        drawn=_samples(ground, one, names, found),
    )  # fmt: skip


def _samples(ground: Ground, one: Trying, names: Mapping[RowOf, str], found: Sequence[Sequence[Row]]) -> list[Drawn]:
    """What is drawn: the first row of those that will do, each further one of those that go with the rows before."""
    samples: list[Drawn] = []
    before: list[str] = []
    for i, place in enumerate(one.places):
        table = ground.spec.tables[place.table]
        key = table.key[0].name
        keys = [" ".join(str(_key(ground, p, r)) for p, r in zip(one.places[: i + 1], rows, strict=False))
                for rows in found]  # fmt: skip
        listed = ", ".join(constant(text) for text in sorted(set(keys)))
        what = " || ' ' || ".join([*(f"${name}" for name in before), key])
        samples.append(Drawn(names[place], f"from {table.title} where {what} in ({listed})", place.table))
        before.append(f"{names[place]}.{key}")
    return samples


def _with_places(text: str, facts: Sequence[Fact]) -> str:
    """A text with the places of facts instead of their values."""
    for fact in sorted(facts, key=lambda fact: -len(value_text(fact.value))):
        text = re.sub(rf"(?<![\w\x01]){re.escape(value_text(fact.value))}(?![\w\x02])", hole(fact.name), text)
    return text


def _without(text: str, facts: Sequence[Fact]) -> str:
    """A text about something that has another value each time."""
    for fact in facts:
        label = label_of(fact.path[-1]) if fact.path else "value"
        for said in (f" with the {label} {quoted(fact.value)}", f" {quoted(fact.value)}"):
            text = text.replace(said, f" with that {label}")
    return text
