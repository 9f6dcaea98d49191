"""The shipped library, compiled: its tasks, its tests, and what a step costs DuckDB."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forgec.model.spec import Spec
from forgec.pipeline import check
from forgec.testing import run_test
from forgec_runtime import GoldAgent, NoopAgent, RandomAgent, load_environment

ROOT = Path(__file__).parent.parent
ENVIRONMENT = load_environment(ROOT / "generated" / "library")


def _spec() -> Spec:
    spec = check(ROOT / "specs" / "library.afs").spec
    assert spec is not None
    return spec


SPEC = _spec()

CALLS: dict[str, dict[str, Any]] = {
    "find_member": {"email": "joan.moreno@example.org"},
    "find_by_name": {"name": "Moreno"},
    "change_email": {"member_id": "M001", "email": "joan@example.org"},
    "search_books": {"words": "le guin"},
    "list_loans": {"member_id": "M001"},
    "lend_book": {"member_id": "M004", "book_id": "B103"},
    "renew_loan": {"loan_id": "L0001"},
    "return_book": {"loan_id": "L0001"},
    "report_lost": {"loan_id": "L0001"},
    "reserve_book": {"member_id": "M004", "book_id": "B103"},
    "cancel_reservation": {"member_id": "M001", "book_id": "B101"},
    "pay_fines": {"member_id": "M002", "amount": 1.5},
}


def test_the_calls_below_are_of_every_tool() -> None:
    assert set(CALLS) == set(ENVIRONMENT.tools)


@pytest.mark.parametrize("tool", sorted(CALLS))
def test_a_step_of_a_thousand_calls_asks_duckdb_as_often_as_a_step_of_one(tool: str) -> None:
    asked = []
    for size in (1, 1000):
        episodes = [ENVIRONMENT.reset("main_library") for _ in range(size)]
        before = ENVIRONMENT.executions
        results = ENVIRONMENT.step([(episode, tool, CALLS[tool]) for episode in episodes])
        asked.append(ENVIRONMENT.executions - before)
        assert len({result.text for result in results}) == 1
        assert results[0].kind in ("ok", "refused")
    assert asked[0] == asked[1]


@pytest.mark.parametrize("test", SPEC.tests, ids=lambda test: test.name)
def test_compiled_tools_and_the_reference_do_what_the_spec_tests_say(test: Any) -> None:
    assert run_test(SPEC, ENVIRONMENT, test).findings == ()


@pytest.mark.parametrize("name", ENVIRONMENT.tasks)
def test_gold_is_paid_and_doing_nothing_or_anything_is_not(name: str) -> None:
    task = ENVIRONMENT.tasks[name]
    paid = []
    for agent in (GoldAgent(), NoopAgent(), RandomAgent(seed=3, calls=25)):
        episode = ENVIRONMENT.reset(name)
        agent.play(ENVIRONMENT, episode, task)
        reward = ENVIRONMENT.reward(episode, task)
        assert bool(reward.reasons) == (reward.value == 0.0)
        paid.append(reward.value)
    assert paid == [1.0, 0.0, 0.0]
