"""Episodes hold what they changed, and nothing else; engine-made keys are counted per episode."""

import sys
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from forgec_runtime import Column, Environment, Table
from forgec_runtime import types as t
from tests.runtime.library_fixture import make_library
from tests.runtime.library_schema import LOANS


@pytest.fixture
def env(tmp_path: Path) -> Environment:
    return make_library(tmp_path)


def test_a_fresh_episode_is_the_world(env: Environment) -> None:
    episode = env.reset("front_desk")
    assert episode.world == "front_desk"
    assert episode.task is None
    assert episode.changes() == {}
    state = episode.state()
    assert list(state) == ["members", "books", "loans", "holds"]
    assert [row["loan_id"] for row in state["loans"]] == ["L0001", "L0003", "L0007"]
    assert state["holds"] == [{"member_id": "M2", "isbn": "B1", "place": 1}]


def test_the_changes_are_the_changed_rows(env: Environment) -> None:
    episode = env.reset("front_desk")
    assert env.call(episode, "lend_book", member_id="M1", isbn="B3").ok
    assert env.call(episode, "remove_loan", loan_id="L0003").ok
    assert episode.changes() == {
        "books": {"B3": {"isbn": "B3", "title": "Book 3", "copies": 2}},
        "loans": {
            "L0008": {
                "loan_id": "L0008",
                "member_id": "M1",
                "isbn": "B3",
                "due": datetime(2025, 3, 22).date(),
                "returned": False,
                "noted_at": datetime(2025, 3, 1, 9),
            },
            "L0003": None,
        },
    }
    assert [row["loan_id"] for row in episode.state()["loans"]] == ["L0001", "L0007", "L0008"]


def test_rows_that_are_as_they_were_are_no_changes(env: Environment) -> None:
    episode = env.reset("front_desk")
    assert env.call(episode, "swap_emails", one="M1", other="M2").ok
    assert set(episode.changes()["members"]) == {"M1", "M2"}
    assert env.call(episode, "swap_emails", one="M1", other="M2").ok
    assert env.call(episode, "lend_book", member_id="M1", isbn="B3").ok
    assert env.call(episode, "remove_loan", loan_id="L0008").ok
    # the book that was lent is a change; the loan came and went, the addresses are where they were
    assert list(episode.changes()) == ["books"]


def test_the_world_stays_as_it_is(env: Environment) -> None:
    before = env.reset("front_desk").state()
    used = env.reset("front_desk")
    env.call(used, "pay_fines", member_id="M2", amount=1)
    env.call(used, "remove_loan", loan_id="L0001")
    assert env.reset("front_desk").state() == before
    assert before["members"][1]["fines"] == Decimal("4.50")


# -- keys that the engine makes --------------------------------------------------------------------------------------


def made(env: Environment, episode: Any, isbn: str = "B5") -> Any:
    result = env.call(episode, "lend_book", member_id="M1", isbn=isbn)
    return result.value["loan_id"] if result.ok else result.text


def test_the_next_key_follows_the_highest_of_the_world(env: Environment) -> None:
    one, other = env.reset("front_desk"), env.reset("front_desk")
    assert made(env, one) == "L0008"
    assert made(env, other) == "L0008"


def test_a_call_that_fails_uses_up_no_key(env: Environment) -> None:
    episode = env.reset("front_desk")
    assert made(env, episode, "B1") == "A member holds a title at most once"
    assert made(env, episode) == "L0008"


def test_a_key_is_not_made_twice_even_when_its_row_is_gone(env: Environment) -> None:
    episode = env.reset("front_desk")
    assert made(env, episode) == "L0008"
    assert env.call(episode, "remove_loan", loan_id="L0008").ok
    assert made(env, episode) == "L0009"


def test_several_keys_of_one_call(env: Environment) -> None:
    episode = env.reset("front_desk")
    # the queries in between make the call run several times; each time it counts anew
    assert env.call(episode, "lend_two", member_id="M3", first="B5", second="B6").value == [0, 1, 2]
    assert list(episode.changes()["loans"]) == ["L0008", "L0009"]
    assert made(env, episode, "B7") == "L0010"


@pytest.mark.parametrize(
    ("pattern", "key", "number"),
    [
        ("L{0000}", "L0012", 12),
        ("L{0000}", "L12345", 12345),
        ("L{0000}", "L012", None),
        ("L{0000}", "l0012", None),
        ("L{0000}", "L0012x", None),
        ("L{0000}", "L-012", None),
        ("L{0000}", "L\u0661\u0662\u0663\u0664", None),
        ("#{00}-x", "#07-x", 7),
        ("#{00}-x", "#-x", None),
        ("0{0}0", "00", None),
        ("0{0}0", "050", 5),
        ("L{0}", "L" + "9" * 30, None),
    ],
)
def test_which_keys_look_as_if_the_engine_had_made_them(pattern: str, key: str, number: int | None) -> None:
    table: Table[Any] = Table("x", columns=(Column("id", t.Text()),), key=("id",), serial=pattern)
    assert table.serial_number(key) == number
    if number is not None:
        assert table.serial_key(number) == key


def test_a_key_grows_beyond_its_zeros() -> None:
    assert [LOANS.serial_key(number) for number in (1, 9999, 10000)] == ["L0001", "L9999", "L10000"]


# -- cost ------------------------------------------------------------------------------------------------------------


def test_an_idle_episode_is_small(env: Environment) -> None:
    episode = env.reset("front_desk")
    assert not hasattr(episode, "__dict__")
    assert sys.getsizeof(episode) <= 136


def test_what_the_agent_said_is_kept_on_demand(env: Environment) -> None:
    episode, other = env.reset("front_desk"), env.reset("front_desk")
    episode.messages.append("Done.")
    assert episode.messages == ["Done."]
    assert other.messages == []
    assert other.broken_rules == []


# -- copies ----------------------------------------------------------------------------------------------------------


def test_a_fork_is_as_the_episode_was_and_goes_its_own_way(env: Environment) -> None:
    episode = env.reset("front_desk")
    assert made(env, episode) == "L0008"
    episode.messages.append("Lent.")
    episode.broken_rules.append("five_at_a_time")
    before = episode.state()

    fork = episode.fork()
    assert (fork.world, fork.task, fork.base) == (episode.world, episode.task, episode.base)
    assert fork.state() == before
    assert env.call(fork, "remove_loan", loan_id="L0008").ok
    assert made(env, fork, "B6") == "L0009"
    fork.messages.append("Gone.")
    fork.broken_rules.append("one_more")

    assert episode.state() == before
    assert (episode.messages, episode.broken_rules) == (["Lent."], ["five_at_a_time"])
    assert (fork.messages, fork.broken_rules) == (["Lent.", "Gone."], ["five_at_a_time", "one_more"])
    assert env.call(episode, "remove_loan", loan_id="L0008").ok
    assert made(env, episode, "B7") == "L0009"  # keys are counted apart, too


def test_a_fork_of_a_fresh_episode_holds_nothing(env: Environment) -> None:
    fork = env.reset("front_desk").fork()
    assert (fork.overlay, fork.counters) == (None, None)
    assert (fork.messages, fork.broken_rules, fork.changes()) == ([], [], {})
