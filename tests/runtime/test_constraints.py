"""What must hold at the end of a call, in which order it is looked at, and what the agent reads."""

from pathlib import Path
from typing import Any

import pytest

from forgec_runtime import Environment, Result
from tests.runtime.library_fixture import make_library


@pytest.fixture
def env(tmp_path: Path) -> Environment:
    return make_library(tmp_path)


def run(env: Environment, name: str, **arguments: Any) -> Result:
    return env.call(env.reset("front_desk"), name, **arguments)


def test_a_unique_value_is_taken_by_another_row(env: Environment) -> None:
    result = run(env, "add_member", member_id="M4", email="mia@example.org")
    assert (result.kind, result.text) == ("refused", "members: email mia@example.org is already taken")


def test_a_unique_value_is_free_when_its_holder_changed(env: Environment) -> None:
    episode = env.reset("front_desk")
    assert env.call(episode, "change_emails", ids=["M1"], email="li@example.org").ok
    assert env.call(episode, "add_member", member_id="M4", email="mia@example.org").ok
    assert not env.call(episode, "add_member", member_id="M5", email="li@example.org").ok


def test_unique_values_may_change_places_within_a_call(env: Environment) -> None:
    assert run(env, "swap_emails", one="M1", other="M2").ok


def test_two_rows_of_one_call_cannot_take_the_same_value(env: Environment) -> None:
    result = run(env, "change_emails", ids=["M2", "M1"], email="new@example.org")
    assert result.text == "members: email new@example.org is already taken"


def test_a_row_does_not_clash_with_itself(env: Environment) -> None:
    assert run(env, "change_emails", ids=["M1"], email="mia@example.org").ok


def test_a_key_is_taken(env: Environment) -> None:
    assert run(env, "add_member", member_id="M1", email="x@example.org").text == "members: M1 already exists"


def test_a_composite_key_is_written_in_full(env: Environment) -> None:
    assert run(env, "hold", member_id="M2", isbn="B1").text == "holds: M2, B1 already exists"


def test_a_key_is_free_again_after_its_row_was_deleted(env: Environment) -> None:
    episode = env.reset("front_desk")
    assert env.call(episode, "remove_member", member_id="M3").ok
    assert env.call(episode, "add_member", member_id="M3", email="sam@example.org").ok
    assert env.call(episode, "add_member", member_id="M3", email="x@example.org").text == "members: M3 already exists"


@pytest.mark.parametrize(
    ("member_id", "isbn", "text"),
    [
        ("M9", "B1", "Unknown member_id: M9"),
        ("M1", "X", "Unknown isbn: X"),
        # columns in the order of their declaration
        ("M9", "X", "Unknown member_id: M9"),
    ],
)
def test_a_reference_leads_to_a_row(env: Environment, member_id: str, isbn: str, text: str) -> None:
    assert run(env, "hold", member_id=member_id, isbn=isbn).text == text


def test_a_reference_sees_rows_of_the_episode(env: Environment) -> None:
    episode = env.reset("front_desk")
    assert env.call(episode, "add_member", member_id="M9", email="x@example.org").ok
    assert env.call(episode, "hold", member_id="M9", isbn="B1").ok
    assert env.call(episode, "remove_member", member_id="M3").ok
    assert env.call(episode, "hold", member_id="M3", isbn="B1").text == "Unknown member_id: M3"


def test_a_row_that_is_referred_to_stays(env: Environment) -> None:
    # loans are declared before holds, and refer to M2, too
    assert run(env, "remove_member", member_id="M2").text == "members: M2 is still used by loans"
    assert run(env, "remove_member", member_id="M3").ok


def test_a_row_may_go_once_nothing_refers_to_it(env: Environment) -> None:
    episode = env.reset("front_desk")
    assert env.call(episode, "remove_loan", loan_id="L0003").ok
    assert env.call(episode, "remove_member", member_id="M2").text == "members: M2 is still used by holds"


def test_a_check_of_a_row_comes_when_it_is_written(env: Environment) -> None:
    text = "members: fines must satisfy fines >= 0"
    assert run(env, "pay_fines", member_id="M2", amount=5).text == text
    assert run(env, "pay_fines", member_id="M2", amount="4.50").text == "0.00"


def test_an_invariant_is_told_by_its_doc(env: Environment) -> None:
    result = run(env, "lend_book", member_id="M1", isbn="B1")
    assert (result.kind, result.text) == ("refused", "A member holds a title at most once")


def test_an_invariant_comes_last(env: Environment) -> None:
    # both loans break the invariant and refer to a member that does not exist
    assert run(env, "lend_two", member_id="M9", first="B5", second="B5").text == "Unknown member_id: M9"
    assert run(env, "lend_two", member_id="M2", first="B5", second="B5").text == "A member holds a title at most once"


def test_an_invariant_is_asked_when_a_table_it_reads_has_changed(env: Environment) -> None:
    episode = env.reset("front_desk")
    assert env.call(episode, "pay_fines", member_id="M2", amount=1).ok
    assert env.executions == 0
    assert env.call(episode, "return_book", loan_id="L0001").ok
    assert env.executions == 1


def test_of_many_calls_only_those_that_break_something_fail(env: Environment) -> None:
    isbns = [f"B{i}" for i in range(1, 6)]
    results = env.step([(env.reset("front_desk"), "lend_book", {"member_id": "M1", "isbn": isbn}) for isbn in isbns])
    assert [result.ok for result in results] == [False, False, True, True, True]
