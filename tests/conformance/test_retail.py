"""specs/retail.afs against tau2-bench: the same answers, the same errors, the same states.

For every gold action of its tasks, and for random calls of every tool that go on in one state, so that calls meet what
others have done. The exceptions are named in `retail.py`, and there are no others.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import pytest

from tests.conformance.drawing import Calls
from tests.conformance.referee import Tau2, find_tau2, gold
from tests.conformance.retail import Retail, is_excused

MIXED_UP_ITEMS = {"20", "21", "36", "37", "100"}
"""Tasks in which tau2 writes price and options of the last item that is modified to all of them; in no others."""
RAISING = {"package": {"actions": 23, "tasks": 18}, "sources": {"actions": 18, "tasks": 15}}
"""Gold actions that fail, by whose code and tasks they are."""
RUNS = int(os.environ.get("FORGEC_CONFORMANCE_RUNS", "40"))
CALLS = 50
"""Of each tool in a run: 2,000 in forty runs."""


@pytest.fixture(scope="module")
def retail(tau2: Tau2) -> Retail:
    return Retail(tau2)


def tasks() -> list[dict[str, Any]]:
    found = find_tau2()
    return found.tasks("retail") if found is not None else []


@pytest.mark.parametrize("task", tasks(), ids=lambda task: str(task["id"]))
def test_a_gold_plan(task: dict[str, Any], retail: Retail) -> None:
    game = retail.game(mixed_up_items=task["id"] in MIXED_UP_ITEMS)
    for call in gold(task):
        verdict = game.call(*call)
        assert verdict.agrees, verdict
    theirs, ours = game.states()
    assert theirs == ours


def test_the_mixed_up_items_are_no_idle_excuse(retail: Retail) -> None:
    named = [task for task in tasks() if task["id"] in MIXED_UP_ITEMS]
    assert len(named) == len(MIXED_UP_ITEMS)
    for task in named:
        game = retail.game(mixed_up_items=False)
        assert not all(game.call(*call).agrees for call in gold(task)), task["id"]


def test_gold_actions_that_raise(retail: Retail) -> None:
    """They fail in both with the same texts, as the gold plans show: forgec would have told when it compiled them."""
    failed: Counter[str] = Counter()
    for task in tasks():
        episode = retail.ours.reset("tau2")
        for tool, arguments in gold(task):
            failed[task["id"]] += not retail.ours.call(episode, tool, **arguments).ok
            episode.ended = False
    assert len(tasks()) == 114
    whose = "sources" if "TAU2_SOURCE" in os.environ else "package"
    assert {"actions": failed.total(), "tasks": sum(map(bool, failed.values()))} == RAISING[whose]


@pytest.mark.parametrize("run", range(RUNS))
def test_random_calls(run: int, retail: Retail) -> None:
    calls, game = Calls(retail.state, run), retail.game(mixed_up_items=True)
    tools = list(retail.tools) * CALLS
    calls.chance.shuffle(tools)
    for tool in tools:
        verdict = game.call(tool, calls.arguments(tool))
        assert verdict.agrees or is_excused(verdict), verdict
    theirs, ours = game.states()
    assert theirs == ours


def test_every_tool_is_drawn_well_and_badly(retail: Retail) -> None:
    """What is drawn is worth comparing."""
    calls, ours = Calls(retail.state, 0), retail.ours
    assert set(retail.tools) <= set(calls.tools) == set(ours.tools)
    episode, seen = ours.reset("tau2"), set()
    for tool in calls.tools:
        for _ in range(200):
            seen.add((tool, ours.call(episode, tool, **calls.arguments(tool)).ok))
            episode.ended = False
    never_fail = {"list_all_product_types", "transfer_to_human_agents"}
    assert seen == {(tool, ok) for tool in calls.tools for ok in (True, False) if ok or tool not in never_fail}
