"""specs/retail.afs against tau2-bench: every gold action of its tasks gives the same answer and leaves the same state.

The exceptions are named here, and there are no others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from forgec_runtime import Environment
from tests.conformance.referee import find_tau2, judged, retail_of, retail_over, retail_tasks, state_of

TAU2 = find_tau2()
pytestmark = pytest.mark.skipif(TAU2 is None, reason="tau2-bench is not installed, and TAU2_PATH names no copy of it")

MIXED_UP_ITEMS = {"20", "21", "36", "37", "100"}
"""Tasks in which tau2 writes price and options of the last item that is modified to all of them."""
RAISING = {"actions": 23, "tasks": 18}
"""Gold actions that fail, with the tasks of the package itself."""


@pytest.fixture(scope="module")
def referee() -> Any:
    assert TAU2 is not None
    return retail_of(TAU2)


@pytest.fixture(scope="module")
def ours() -> Environment:
    assert TAU2 is not None
    return retail_over(TAU2)


def tasks() -> list[dict[str, Any]]:
    return retail_tasks(TAU2) if TAU2 is not None else []


def gold(task: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for action in (task.get("evaluation_criteria") or {}).get("actions") or ():
        yield action["name"], action["arguments"]


@pytest.mark.parametrize("task", tasks(), ids=lambda task: str(task["id"]))
def test_a_gold_plan(task: dict[str, Any], referee: Any, ours: Environment) -> None:
    theirs, episode = referee.get_environment(), ours.reset("tau2")
    differing = set()
    for tool, arguments in gold(task):
        verdict = judged(theirs, ours, episode, tool, arguments)
        if not verdict.agrees:
            assert task["id"] in MIXED_UP_ITEMS, verdict
            differing.add(tool)
    if task["id"] in MIXED_UP_ITEMS:
        assert differing <= {"modify_pending_order_items", "get_order_details"}
        assert "modify_pending_order_items" in differing
        return
    state = state_of(theirs)
    episode.ended = False  # for the judge, who looks at it afterwards
    for table, reader, key in (
        ("orders", "get_order_details", "order_id"), ("users", "get_user_details", "user_id"),
        ("products", "get_product_details", "product_id"),
    ):  # fmt: skip
        changed = {row[0] if isinstance(row, tuple) else row for row in _changed(episode, table)}
        for name in sorted(changed):
            assert judged(theirs, ours, episode, reader, {key: name}).agrees, (table, name)
        assert {name for name, row in state[table].items() if row != _first(referee)[table][name]} <= changed


def _changed(episode: Any, table: str) -> Iterator[Any]:
    """The keys of rows that the episode changed, in a table or in those nested in it."""
    for name, rows in (episode.overlay or {}).items():
        if name == table or name.startswith(f"{table}_"):
            yield from rows


_STATE: dict[str, Any] = {}


def _first(referee: Any) -> dict[str, Any]:
    if not _STATE:
        _STATE.update(state_of(referee.get_environment()))
    return _STATE


def test_gold_actions_that_raise(referee: Any, ours: Environment) -> None:
    """They fail in both, with the same texts: forgec would have told when it compiled them."""
    failed: Counter[str] = Counter()
    for task in tasks():
        theirs, episode = referee.get_environment(), ours.reset("tau2")
        for tool, arguments in gold(task):
            verdict = judged(theirs, ours, episode, tool, arguments)
            failed[task["id"]] += verdict.ours[0] == "error"
    assert {"actions": failed.total(), "tasks": sum(1 for count in failed.values() if count)} == RAISING
