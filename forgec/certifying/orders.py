"""Whether it matters in which order a plan is played, where the plan does not say."""

from __future__ import annotations

import random
from collections.abc import Sequence

from forgec.certifying.graph import Order
from forgec.certifying.replay import Run, play
from forgec.certifying.trial import Trial, strict
from forgec.certifying.verdict import Outcome
from forgec_runtime import Environment
from forgec_runtime.reward import same_state, state_differences

LOOKED_AT = 200
"""So many orders of a plan are looked at one by one; of more, some are drawn."""
DRAWN = 6


def orders(env: Environment, cases: Sequence[Sequence[Trial]]) -> list[Outcome]:
    """All orders of a plan, or some that are drawn of many, end in one state and have the same things said.

    What only looks commutes with what only looks: of orders that differ in nothing else, one is played.
    """
    groups = [[(trial, gold, *_orders(trial, gold)) for trial in case for gold in trial.golds] for case in cases]
    played = [
        [[strict(trial, gold.graph, order) for order in found] for trial, gold, found, _ in case] for case in groups
    ]
    play(env, [run for case in played for runs in case for run in runs])
    outcomes = []
    for case, of_case in zip(groups, played, strict=True):
        difference = ""
        for (trial, gold, _, _), runs in zip(case, of_case, strict=True):
            difference = difference or next((trial.where + text for run in runs if (text := _other(gold, run))), "")
        number = max(len(found) for _, _, found, _ in case) + 1
        evidence = f"{number} drawn of many" if any(many for *_, many in case) else f"all that differ: {number}"
        hint = "say with `after` what has to come first" if difference else ""
        outcomes.append(Outcome("orders", not difference, difference or evidence, hint))
    return outcomes


def _orders(trial: Trial, gold: Run) -> tuple[list[Order], bool]:
    """The orders to play beside the usual one, and whether there are more."""
    graph = gold.graph
    writes = gold.writes()
    if not writes:  # whatever only looks may be looked at in any order
        return [], False
    found = graph.orders(LOOKED_AT + 1)
    many = len(found) > LOOKED_AT
    if many:
        chance = random.Random(f"orders of {trial.task.name}")
        found = [graph.leaning(writes, late=True), graph.leaning(writes, late=False)]
        found += [graph.drawn(chance) for _ in range(DRAWN)]
    usual = tuple(node.name for node in graph.nodes)
    different: dict[tuple[frozenset[str], ...], Order] = {_likeness(usual, writes, graph.looking): usual}
    for order in found:
        different.setdefault(_likeness(order, writes, graph.looking), order)
    others = [order for order in different.values() if order is not usual]
    return others[:DRAWN], many or len(others) > DRAWN


def _likeness(order: Order, writes: Sequence[str], looking: frozenset[str]) -> tuple[frozenset[str], ...]:
    """The same for orders that can only end alike: what comes before each write, of all that sees the state."""
    places = {name: place for place, name in enumerate(order)}
    return tuple(frozenset(name for name in looking if places[name] < places[write]) for write in writes)


def _other(gold: Run, run: Run) -> str:
    """What is otherwise than in the usual order."""
    order = ", ".join(node.name for node in run.nodes)
    if not run.sound:
        return f"in the order {order}: {run.error}"
    if not same_state(run.episode, gold.episode):
        return f"in the order {order}: {state_differences(run.episode, gold.episode)[0].text}"
    if run.sayings != gold.sayings:
        return f"in the order {order} something else is said: {', '.join(run.answers)}"
    return ""
