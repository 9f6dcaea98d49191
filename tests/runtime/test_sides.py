"""Two sides: what the agent calls, what the user calls, and that neither can call for the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from forgec_runtime import Environment, Workers, load_environment

CASES = Path(__file__).parents[1] / "cases"
OVEN = CASES / "sides" / "generated" / "oven"
GRID = CASES / "syncs" / "generated" / "grid"


@pytest.fixture(scope="module")
def env() -> Environment:
    return load_environment(OVEN)


def test_each_side_has_its_tools(env: Environment) -> None:
    assert list(env.tools) == ["note", "close"]
    assert list(env.user_tools) == ["look", "turn", "put"]
    assert {env.tool(name).side for name in ("look", "turn", "put")} == {"user"}


def test_an_agent_knows_nothing_of_the_tools_of_the_user(env: Environment) -> None:
    episode = env.reset("morning")
    result = env.call(episode, "turn", mode="bake")
    assert (result.kind, result.text) == ("invalid", "There is no tool 'turn'. Tools: note, close")
    assert episode.changes() == {}


def test_a_user_knows_nothing_of_the_tools_of_the_agent(env: Environment) -> None:
    result = env.call(env.reset("morning"), "note", "user", what="rye")
    assert (result.kind, result.text) == ("invalid", "There is no tool 'note'. Tools: look, turn, put")


def test_calls_of_both_sides_may_be_one_step(env: Environment) -> None:
    episode = env.reset("morning")
    calls = [(episode, "note", {"what": "rye"}), (episode, "turn", {"mode": "grill"})]
    assert [result.ok for result in env.step(calls, by=None)] == [True, True]
    assert list(episode.changes()) == ["orders", "oven"]


def test_what_a_sync_writes_belongs_to_the_call() -> None:
    env = load_environment(GRID)
    episode = env.reset("evening")
    before = episode.state()
    env.call(episode, "switch", "user", lamp="attic")
    changed = {name: set(rows) for name, rows in episode.changes().items()}
    assert changed == {"contracts": {"K1"}, "house": {()}, "lamps": {"attic"}}
    held = episode.state()
    assert env.call(episode, "switch", "user", lamp="door").text == "At most two lamps burn"
    assert episode.state() == held != before


def test_workers_know_the_sides() -> None:
    with Workers(OVEN, 1) as env:
        episode = env.reset("morning")
        assert not env.call(episode, "turn", mode="bake").ok
        assert env.call(episode, "turn", "user", mode="bake").text == '"bake at 180"'


def test_the_row_of_a_single_is_named_without_a_key(env: Environment) -> None:
    task = env.tasks["rye_bread"]
    episode = env.reset(task.name)
    env.call(episode, "turn", "user", mode="bake", degrees=200)
    reasons = [reason.text for reason in env.reward(episode, task).reasons]
    assert "oven: degrees is 200, should be 220" in reasons


def test_an_episode_with_a_changed_single_is_restored(env: Environment) -> None:
    episode = env.reset("morning")
    env.call(episode, "turn", "user", mode="bake")
    again = env.restore(episode.snapshot())
    assert again.state() == episode.state()
    assert again.digest() == episode.digest() != env.reset("morning").digest()
