"""Random calls of every retail tool, in both: the same answers, the same errors, the same states.

A run goes on in one state, so that calls meet what others have done. The exceptions are named here, and there are no
others.
"""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Mapping
from typing import Any

import pytest

from forgec_runtime import Environment, Episode
from tests.conformance.drawing import Calls
from tests.conformance.referee import Verdict, find_tau2, judged, retail_of, retail_over, state_of

TAU2 = find_tau2()
pytestmark = pytest.mark.skipif(TAU2 is None, reason="tau2-bench is not installed, and TAU2_PATH names no copy of it")

RUNS = int(os.environ.get("FORGEC_CONFORMANCE_RUNS", "40"))
CALLS = 50
"""Of each tool in a run: 2,000 in forty runs."""
READERS = {"orders": ("get_order_details", "order_id"), "users": ("get_user_details", "user_id")}
"""What gives a document that calls may change; products stay as they are."""
PYTHON_ONLY = re.compile(r"//|\*\*")
"""Operators that no documentation of `calculate` names, and that Python's own evaluator computes."""


@pytest.fixture(scope="module")
def referee() -> Any:
    assert TAU2 is not None
    return retail_of(TAU2)


@pytest.fixture(scope="module")
def state(referee: Any) -> dict[str, Any]:
    return state_of(referee.get_environment())


@pytest.fixture(scope="module")
def ours() -> Environment:
    assert TAU2 is not None
    return retail_over(TAU2)


class MixedUpItems:
    """What tau2 makes of orders in which several items are modified: all get price and options of the last one."""

    def __init__(self, products: Mapping[str, Any]) -> None:
        self.variants = {key: variant for product in products.values() for key, variant in product["variants"].items()}
        self.items: dict[str, list[dict[str, Any]]] = {}

    def note(self, order: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
        """`order` is as it was before the items were modified."""
        items = copy.deepcopy(order["items"])
        last = self.variants[arguments["new_item_ids"][-1]] if arguments["new_item_ids"] else {}
        for old, new in zip(arguments["item_ids"], arguments["new_item_ids"], strict=True):
            item = next(item for item in items if item["item_id"] == old)
            item.update(item_id=new, price=last["price"], options=last["options"])
        self.items[order["order_id"]] = items

    def seen(self, answer: Any) -> Any:
        """An answer of ours as tau2 would give it."""
        if isinstance(answer, dict) and answer.get("order_id") in self.items:
            return {**answer, "items": self.items[answer["order_id"]]}
        return answer


def is_excused(verdict: Verdict) -> bool:
    """Arguments that tau2 hands to Python's evaluator unchecked: it computes what it can, and else tells of Python."""
    if verdict.tool != "calculate":
        return False
    kinds = verdict.theirs[0], verdict.ours[0]
    if kinds == ("ok", "error"):
        return PYTHON_ONLY.search(verdict.arguments["expression"]) is not None
    return kinds == ("error", "error") or (kinds == ("error", "ok") and "(<string>, line 1)" in verdict.theirs[1])


@pytest.mark.parametrize("run", range(RUNS))
def test_random_calls(run: int, referee: Any, ours: Environment, state: dict[str, Any]) -> None:
    calls, mixed = Calls(state, run), MixedUpItems(state["products"])
    theirs, episode = referee.get_environment(), ours.reset("tau2")
    tools = list(calls.tools) * CALLS
    calls.chance.shuffle(tools)
    for tool in tools:
        arguments = calls.arguments(tool)
        several = tool == "modify_pending_order_items" and len(arguments["item_ids"]) > 1
        before = document(ours, episode, "orders", arguments["order_id"]) if several else None
        verdict = judged(theirs, ours, episode, tool, arguments)
        episode.ended = False  # one tool ends ours, and tau2's go on
        if before is not None and verdict.ours[0] == "ok":
            mixed.note(before, arguments)
        seen = verdict.ours[0], mixed.seen(verdict.ours[1])
        assert verdict.theirs == seen or is_excused(verdict), verdict
    final = state_of(theirs)
    assert final["products"] == state["products"]
    for table in READERS:
        found = {key: mixed.seen(document(ours, episode, table, key)) for key in changed(episode, table)}
        assert final[table] == {**state[table], **found}


def document(ours: Environment, episode: Episode, table: str, key: str) -> Any:
    """What our episode has under a key; None where nothing is."""
    tool, parameter = READERS[table]
    result = ours.call(episode, tool, **{parameter: key})
    return json.loads(result.text) if result.ok else None


def changed(episode: Episode, table: str) -> set[str]:
    """The documents of which the episode changed a row, of their own or nested in them."""
    rows = {name: keys for name, keys in (episode.overlay or {}).items() if f"{name}_".startswith(f"{table}_")}
    return {key[0] if isinstance(key, tuple) else key for keys in rows.values() for key in keys}


def test_every_tool_succeeds_and_fails(ours: Environment, state: dict[str, Any]) -> None:
    """What is drawn is worth comparing."""
    calls, episode = Calls(state, 0), ours.reset("tau2")
    seen = set()
    for tool in calls.tools:
        for _ in range(200):
            seen.add((tool, ours.call(episode, tool, **calls.arguments(tool)).ok))
            episode.ended = False
    never_fail = {"list_all_product_types", "transfer_to_human_agents"}
    assert seen == {(tool, ok) for tool in calls.tools for ok in (True, False) if ok or tool not in never_fail}
