"""What an episode costs in memory, and that nothing stays of one that is over."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forgec_runtime import Environment, Episode
from tests.runtime.library_fixture import make_library

MANY = 500
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("lend_book", {"member_id": "M2", "isbn": "B3"}),
    ("pay_fines", {"member_id": "M2", "amount": 1}),
    ("return_book", {"loan_id": "L0001"}),
    ("hold", {"member_id": "M1", "isbn": "B2"}),
]


@pytest.fixture
def env(tmp_path: Path) -> Environment:
    return make_library(tmp_path)


@pytest.fixture(autouse=True)
def traced() -> Iterator[None]:
    """Allocations are counted, and hypothesis or an earlier test has no part in them."""
    gc.collect()
    tracemalloc.start()
    yield
    tracemalloc.stop()


def grown(make: Any) -> tuple[Any, float]:
    """What `make` gives, and how many bytes it holds."""
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    made = make()
    gc.collect()
    return made, tracemalloc.get_traced_memory()[0] - before


def play(env: Environment, episodes: list[Episode]) -> None:
    for tool, arguments in CALLS:
        assert all(result.ok for result in env.step([(episode, tool, arguments) for episode in episodes]))


def test_an_idle_episode_takes_half_a_kilobyte_at_most(env: Environment) -> None:
    env.reset("front_desk")
    _, size = grown(lambda: [env.reset("front_desk") for _ in range(MANY)])
    assert size / MANY <= 512


def test_an_episode_with_six_changed_rows_takes_five_kilobytes_at_most(env: Environment) -> None:
    def make() -> list[Episode]:
        episodes = [env.reset("front_desk") for _ in range(MANY)]
        play(env, episodes)
        return episodes

    make()  # whatever is made once
    episodes, size = grown(make)
    assert sum(len(rows) for rows in episodes[0].changes().values()) == 6
    assert size / MANY <= 5 * 1024


def test_an_episode_without_references_is_gone(env: Environment) -> None:
    gc.disable()  # there are no cycles that a collection would have to find
    try:
        episode = env.reset("front_desk")
        play(env, [episode])
        fork, restored = episode.fork(), env.restore(episode.snapshot())
        fork.messages.append("Done.")
        watched = [weakref.ref(one) for one in (episode, fork, restored)]
        del episode, fork, restored
        assert [one() for one in watched] == [None, None, None]
    finally:
        gc.enable()


def test_nothing_grows_with_episodes_that_are_over(env: Environment) -> None:
    def play_on(rounds: int) -> None:
        for _ in range(rounds):
            episodes = [env.reset("front_desk") for _ in range(20)]
            play(env, episodes)
            for episode in episodes:
                episode.digest()
                env.restore(episode.snapshot())
                env.call(episode, "no_such_tool")
                env.call(episode, "pay_fines", member_id="nobody", amount=1)

    play_on(10)
    _, first = grown(lambda: play_on(10))
    _, later = grown(lambda: play_on(40))
    assert later < 20_000, (first, later)  # 800 episodes, each of some kilobytes
