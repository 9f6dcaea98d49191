"""Answers that are kept: the same as without, for less."""

from __future__ import annotations

from pathlib import Path

import pytest

from forgec_runtime import Environment, Episode, Query, answers, load_environment
from forgec_runtime.call import Call

LIBRARY = Path(__file__).parents[2] / "generated" / "library"


def played(env: Environment) -> list[str]:
    """What two episodes are told that go different ways, each call made in both, and the states they end in."""
    one, other = env.reset("main_library"), env.reset("main_library")
    joan = env.call(one, "find_member", email="joan.moreno@example.org").value["member_id"]
    told = []

    def call(episode: Episode, tool: str, **arguments: object) -> None:
        told.append(env.call(episode, tool, **arguments).text)

    for _ in range(2):
        for episode in (one, other):
            call(episode, "list_loans", member_id=joan)
            call(episode, "search_books", words="the")
        call(one, "lend_book", member_id=joan, book_id="B101")
        call(other, "lend_book", member_id=joan, book_id="B103")
    for episode in (one, other):
        call(episode, "list_loans", member_id=joan)
    return [*told, one.digest(), other.digest()]


def test_nothing_is_told_otherwise_and_less_is_asked() -> None:
    plain, keeping = load_environment(LIBRARY), load_environment(LIBRARY)
    keeping.keep_answers()
    assert played(plain) == played(keeping)
    assert keeping.executions < plain.executions
    before = keeping.executions
    assert played(plain) == played(keeping)
    assert keeping.executions == before


def test_a_call_goes_on_with_what_is_kept() -> None:
    env = load_environment(LIBRARY)
    begun: list[None] = []
    env.keep_answers()
    count = Query("SELECT COUNT(*) AS n FROM {loans} AS l", ("loans",), (), ("n",), "")

    def look(call: Call) -> None:
        begun.append(None)
        assert call.value(count) == call.value(count)

    env.perform(env.reset("main_library"), look)
    assert len(begun) == 2  # the second time, it has what it waited for
    env.perform(env.reset("main_library"), look)
    assert len(begun) == 3


def test_they_are_forgotten_when_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    keeping, plain = load_environment(LIBRARY), load_environment(LIBRARY)
    keeping.keep_answers()
    wanted = played(plain)
    monkeypatch.setattr(answers, "MAX_ROWS", 3)
    monkeypatch.setattr(answers, "MAX_NUMBERED", 2)
    assert played(keeping) == wanted == played(keeping)


@pytest.mark.parametrize(("one", "other"), [(1, True), ("1", 1), (0.0, -0.0), (None, "None"), ([1], [True])])
def test_values_of_two_kinds_are_two(one: object, other: object) -> None:
    query, asked = Query("select 1", (), (("v", "integer"),), ("a",), ""), []

    def ask(base: object, query: Query, asks: list[object]) -> list[list[dict[str, object]]]:
        asked.extend(asks)
        return [[{"a": len(asked)}] for _ in asks]

    kept = answers.Answers()
    for value in (one, other, one):
        kept.of(None, query, [([value], {})], ask)  # type: ignore[arg-type]
    assert len(asked) == 2
