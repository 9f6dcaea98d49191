"""Whether a plan picks one of several that are as good, and the others are not paid.

A node that takes the first rows of an order is asked for one row more. If that one comes right behind by all that the
author orders by, an agent may take it just as well: the plan is played with it, and has to be paid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from forgec.certifying.replay import Run, play
from forgec.certifying.shapes import shaped
from forgec.certifying.sql_text import Picked, picked
from forgec.certifying.trial import Trial
from forgec.certifying.verdict import Outcome
from forgec_runtime import Computed, Environment, Query, Reason
from forgec_runtime.results import json_able


@dataclass
class _Pick:
    """A node that picks, and the place of its trial in the batch."""

    place: int
    trial: Trial
    gold: Run
    node: Reason
    value: Computed
    picked: Picked


def ties(env: Environment, cases: Sequence[Sequence[Trial]]) -> list[Outcome]:
    """For each task: what is as good as what a plan picks is paid, too."""
    picks = [pick for place, case in enumerate(cases) for trial in case for pick in _picks(place, trial)]
    runs = [(pick, row, _instead(pick, row)) for pick, row in zip(picks, _seconds(env, picks), strict=True) if row]
    play(env, [run for _, _, run in runs])
    looked = [0] * len(cases)
    for pick in picks:
        looked[pick.place] += 1
    outcomes = [
        Outcome("ties", True, f"{number} picked, none of equals" if number else "nothing picked") for number in looked
    ]
    for pick, row, run in runs:
        known = outcomes[pick.place]
        if not known.passed:
            continue
        shown = ", ".join(str(json_able(row[name])) for name in pick.value.query.columns)
        if pick.trial.paid_as(run.episode, run.answers):
            outcomes[pick.place] = Outcome("ties", True, f"{pick.node.name}: {shown} is as good, and paid, too")
        else:
            text = f"{pick.trial.where}{pick.node.name}: {shown} is as good as what is picked, and not paid"
            hint = "let the user say which of them, change the world, or accept the other by a plan of its own"
            outcomes[pick.place] = Outcome("ties", False, text, hint)
    return outcomes


def _picks(place: int, trial: Trial) -> list[_Pick]:
    found = []
    for gold in trial.golds:
        for node in gold.graph.nodes:
            if not isinstance(node, Reason) or not isinstance(node.value, Computed) or node.value.query.tables:
                continue
            of_text = picked(shaped(node.value.query).query.text)
            if of_text is not None and gold.values.get(node.name) is not None:
                found.append(_Pick(place, trial, gold, node, node.value, of_text))
    return found


def _seconds(env: Environment, picks: Sequence[_Pick]) -> list[dict[str, Any] | None]:
    """For each node, the first row that it did not take, where that is as good as the last that it took."""
    groups: dict[Query, list[tuple[int, list[Any]]]] = {}
    for i, pick in enumerate(picks):
        query, constants = shaped(pick.value.query)
        inputs = [ref.read(pick.gold.values) for ref in pick.value.inputs]
        groups.setdefault(_one_more(query, pick.picked), []).append((i, [*inputs, *constants]))
    found: list[dict[str, Any] | None] = [None] * len(picks)
    for query, group in groups.items():
        answers = env.evaluate_all(query, [(picks[i].gold.episode, values) for i, values in group], "rows")
        for (i, _), rows in zip(group, answers, strict=True):
            limit, keys = picks[i].picked.limit, picks[i].picked.keys
            if not isinstance(rows, Exception) and len(rows) > limit > 0:
                last, more = rows[limit - 1], rows[limit]
                found[i] = more if all(last[key] == more[key] for key in keys) else None
    return found


@lru_cache(maxsize=4096)
def _one_more(query: Query, found: Picked) -> Query:
    text = query.text[: query.text.rindex("LIMIT")] + f"LIMIT {found.limit + 1}"
    return Query(text, query.tables, query.values, found.columns, found.order)


def _instead(pick: _Pick, row: dict[str, Any]) -> Run:
    """The plan, played on with the other row."""
    name, columns = pick.node.name, pick.value.query.columns
    own = {column: row[column] for column in columns}
    value: Any = row[columns[0]] if pick.value.kind == "value" else own
    if pick.value.kind == "rows":
        value = [*pick.gold.values[name][:-1], own]
    rest = pick.gold.graph.after(name)
    later = {node.name for node in rest}
    known = {one: held for one, held in pick.gold.values.items() if one not in later} | {name: value}
    following = next((node.name for node in rest if node.name in pick.gold.before), None)
    episode = pick.gold.episode if following is None else pick.gold.before[following]
    return Run(episode.fork(), pick.trial.task, pick.gold.graph, known, rest)
