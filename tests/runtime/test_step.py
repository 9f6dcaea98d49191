"""Steps: many calls at once behave as each would alone, and cost as many executions as one."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from forgec_runtime import FAULT_TEXT, Call, Environment, Fault, Query, Result, Tool
from forgec_runtime import types as t
from tests.runtime.library_fixture import make_library, tool
from tests.runtime.library_schema import LOANS, MEMBERS


@pytest.fixture
def env(tmp_path: Path) -> Environment:
    return make_library(tmp_path)


def test_a_call_gives_its_value_as_json_and_as_python(env: Environment) -> None:
    result = env.call(env.reset("front_desk"), "member_account", member_id="M2")
    assert result.ok
    assert result.kind == "ok"
    assert result.value["fines"] == Decimal("4.50")
    assert result.text == (
        '{"member_id":"M2","name":"Ola Nor","email":"ola@example.org",'
        '"address":{"street":"1 Elm St","city":null},"status":"active","fines":4.50}'
    )


def test_results_come_in_the_order_of_the_calls(env: Environment) -> None:
    one, other = env.reset("front_desk"), env.reset("front_desk")
    results = env.step(
        [
            (one, "find_member", {"email": "OLA@example.org"}),
            (other, "member_account", {"member_id": "M9"}),
            (one, "pay_fines", '{"member_id": "M2", "amount": 1.5}'),
            (other, "find_member", {"email": "nobody@example.org"}),
        ]
    )
    assert [(result.kind, result.text) for result in results] == [
        ("ok", '"M2"'),
        ("refused", "Unknown member_id: M9"),
        ("ok", "3.00"),
        ("ok", "null"),
    ]


def test_an_empty_step_is_a_step(env: Environment) -> None:
    assert env.step([]) == []


def test_a_call_that_fails_changes_nothing(env: Environment) -> None:
    episode = env.reset("front_desk")
    # the book is lent before the second insert is refused
    result = env.call(episode, "lend_two", member_id="M1", first="B5", second="B0")
    assert (result.kind, result.text) == ("refused", "books: copies must satisfy copies >= 0")
    assert episode.changes() == {}


def test_calls_of_one_episode_run_in_order_and_see_each_other(env: Environment) -> None:
    episode = env.reset("front_desk")
    calls = [(episode, "lend_book", {"member_id": "M2", "isbn": isbn}) for isbn in ("B3", "B4", "B5", "B6")]
    results = env.step([*calls, (episode, "return_book", {"loan_id": "L0009"}), calls[3]])
    assert [result.value["loan_id"] if result.ok else result.text for result in results[:4]] == [
        "L0008",
        "L0009",
        "L0010",
        "A member may hold three books at a time",
    ]
    assert results[4].text == "null"
    assert results[5].value["loan_id"] == "L0011"


def test_a_call_sees_no_other_episode(env: Environment) -> None:
    one, other = env.reset("front_desk"), env.reset("front_desk")
    env.call(one, "pay_fines", member_id="M2", amount=4)
    assert env.call(one, "member_account", member_id="M2").value["fines"] == Decimal("0.50")
    assert env.call(other, "member_account", member_id="M2").value["fines"] == Decimal("4.50")
    assert other.changes() == {}


@pytest.mark.parametrize("name", ["find_member", "lend_book", "list_loans"])
def test_executions_do_not_depend_on_the_number_of_calls(env: Environment, name: str) -> None:
    arguments: dict[str, dict[str, Any]] = {
        "find_member": {"email": "mia@example.org"},
        "lend_book": {"member_id": "M1", "isbn": "B5"},
        "list_loans": {"member_id": "M1"},
    }

    def executions(calls: int) -> int:
        before = env.executions
        results = env.step([(env.reset("front_desk"), name, arguments[name]) for _ in range(calls)])
        assert all(result.ok for result in results)
        return env.executions - before

    assert executions(1) == executions(1_000) > 0


def test_what_is_in_memory_needs_no_execution(env: Environment) -> None:
    env.call(env.reset("front_desk"), "pay_fines", member_id="M2", amount=1)
    assert env.call(env.reset("front_desk"), "add_member", member_id="M4", email="new@example.org").ok  # unique
    assert env.executions == 0


def test_different_tools_share_an_execution_of_the_same_query(env: Environment) -> None:
    def counted(call: Call, member_id: str) -> int:
        return len(call.rows(SHARED, member_id))

    def counted_otherwise(call: Call, member_id: str) -> int:
        return -len(call.rows(SHARED, member_id))

    both = (tool(counted, member_id=t.Text()), tool(counted_otherwise, member_id=t.Text()))
    env.tools.update({one.name: one for one in both})
    calls = [(env.reset("front_desk"), one.name, {"member_id": who}) for who in ("M1", "M2") for one in both]
    assert [result.value for result in env.step(calls)] == [2, -2, 1, -1]
    assert env.executions == 1


SHARED = Query(
    "select l.loan_id from {loans} as l where l.member_id = call.member_id",
    tables=("loans",),
    values=(("member_id", "VARCHAR"),),
    columns=("loan_id",),
    order="q.loan_id",
)


# -- faults ----------------------------------------------------------------------------------------------------------

BY_ZERO = Query(
    "select (1000 // call.n)::utinyint as n", tables=(), values=(("n", "BIGINT"),), columns=("n",), order=""
)
TWO_ROWS = Query("select unnest([1, 2]) as n", tables=(), values=(), columns=("n",), order="q.n")


def rename(call: Call) -> None:
    member = call.find(MEMBERS, "M1")
    assert member is not None
    call.update(MEMBERS, member, {"name": "changed"})


def engine_fault(call: Call, n: int) -> Any:
    """Overflows below 4."""
    rename(call)
    return call.value(BY_ZERO, n)


def python_fault(call: Call, n: int) -> Any:
    """Divides by zero for 0."""
    rename(call)
    return 10 // n


def declared_fault(call: Call, n: int) -> Any:
    raise Fault(f"no {n}")


def two_rows(call: Call) -> Any:
    return call.row(TWO_ROWS)


def two_values(call: Call) -> Any:
    return call.value(TWO_ROWS)


def unwritable(call: Call) -> Any:
    """A value that JSON cannot hold; the writes before it must not stay."""
    loan = call.find(LOANS, "L0001")
    assert loan is not None
    call.delete(LOANS, loan)
    return object()


def too_large_for_json(call: Call) -> int:
    return 2**64


def _faulty(tmp_path: Path) -> Environment:
    by_number = [tool(function, n=t.Integer()) for function in (engine_fault, python_fault, declared_fault)]
    without: list[Tool] = [tool(function) for function in (two_rows, two_values, unwritable, too_large_for_json)]
    return make_library(tmp_path, extra=(*by_number, *without))


@pytest.mark.parametrize("name", ["engine_fault", "python_fault"])
def test_a_fault_is_the_calls_own(tmp_path: Path, name: str) -> None:
    env = _faulty(tmp_path)
    episodes = [env.reset("front_desk") for _ in range(4)]
    numbers = [10, 0, 20, 0] if name == "python_fault" else [10, 1, 20, 2]
    results = env.step([(e, name, {"n": n}) for e, n in zip(episodes, numbers, strict=True)])
    assert [result.kind for result in results] == ["ok", "fault", "ok", "fault"]
    assert [result.text for result in results if not result.ok] == [FAULT_TEXT, FAULT_TEXT]
    assert all(result.detail for result in results if not result.ok)
    assert [bool(episode.changes()) for episode in episodes] == [True, False, True, False]


def test_the_next_call_of_the_episode_follows_a_fault(tmp_path: Path) -> None:
    env = _faulty(tmp_path)
    one, other = env.reset("front_desk"), env.reset("front_desk")
    calls: list[Any] = [(e, "engine_fault", {"n": n}) for n in (1, 10) for e in (one, other)]
    assert [result.kind for result in env.step(calls)] == ["fault", "fault", "ok", "ok"]


def test_the_detail_is_for_developers_alone(tmp_path: Path) -> None:
    env = _faulty(tmp_path)
    result = env.call(env.reset("front_desk"), "declared_fault", n=3)
    assert (result.kind, result.text, result.detail) == ("fault", FAULT_TEXT, "no 3")


@pytest.mark.parametrize("name", ["two_rows", "two_values"])
def test_more_rows_than_one_are_a_fault(tmp_path: Path, name: str) -> None:
    env = _faulty(tmp_path)
    assert env.call(env.reset("front_desk"), name).kind == "fault"


@pytest.mark.parametrize("name", ["unwritable", "too_large_for_json"])
def test_a_value_that_json_cannot_hold_is_a_fault_and_leaves_nothing(tmp_path: Path, name: str) -> None:
    env = _faulty(tmp_path)
    episode, bystander = env.reset("front_desk"), env.reset("front_desk")
    results = env.step([(episode, name, {}), (bystander, "pay_fines", {"member_id": "M2", "amount": 1})])
    assert [result.kind for result in results] == ["fault", "ok"]
    assert episode.changes() == {}


# -- audited rules, determinism --------------------------------------------------------------------------------------


def test_an_audited_rule_is_noted_when_the_call_succeeds(env: Environment) -> None:
    episode = env.reset("front_desk")
    refused = env.call(episode, "lend_book", member_id="M2", isbn="B0")
    assert refused.text == "books: copies must satisfy copies >= 0"
    assert episode.broken_rules == []
    assert env.call(episode, "lend_book", member_id="M2", isbn="B5").ok
    assert episode.broken_rules == ["no_lending_with_fines"]


def test_together_or_one_by_one_makes_no_difference(env: Environment) -> None:
    script: list[tuple[str, dict[str, Any]]] = [
        ("lend_book", {"member_id": "M1", "isbn": "B3"}),
        ("lend_two", {"member_id": "M2", "first": "B4", "second": "B4"}),
        ("list_loans", {"member_id": "M1"}),
        ("remove_member", {"member_id": "M1"}),
        ("remove_member", {"member_id": "M3"}),
        ("lend_two", {"member_id": "M2", "first": "B4", "second": "B5"}),
        ("find_member", {"email": "sam@example.org"}),
        ("add_member", {"member_id": "M3", "email": "SAM@example.org"}),
        ("list_loans", {"member_id": "M2"}),
        ("find_member", {"email": "sam@example.org"}),
    ]
    alone = env.reset("front_desk")
    expected = [env.call(alone, name, **arguments) for name, arguments in script]
    together = [env.reset("front_desk") for _ in range(20)]
    results = env.step([(episode, name, arguments) for name, arguments in script for episode in together])

    def told(some: list[Result]) -> list[tuple[str, str]]:
        return [(result.kind, result.text) for result in some]

    for i, episode in enumerate(together):
        assert told(results[i :: len(together)]) == told(expected)
        assert episode.state() == alone.state()
        assert episode.changes() == alone.changes()
