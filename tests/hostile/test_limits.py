"""What an episode may hold, a call may send and a result may tell has an end, and says so."""

import json
from pathlib import Path

import pytest

from forgec_runtime import Environment, Episode, load_environment
from forgec_runtime.limits import MAX_ARGUMENTS, MAX_HELD, weight, weight_of
from tests.hostile.desk import HEAD, packed

FULL = "There is no room left: what an episode changes may have 4,000,000 characters in all"
SPEC = (
    HEAD
    + """
table logs { n integer key, text text, parts text[] default ([]) }
tool write(n integer, text text) { insert into logs (n, text) values ($n, $text); }
tool rewrite(n integer, text text) { update logs set text = $text where n = $n; }
tool forget(n integer) { delete from logs where n = $n; }
tool keep(n integer, parts text[]) { insert into logs (n, text, parts) values ($n, '', $parts); }
tool copy(by integer) { insert into logs (n, text, parts) select n + $by, text, parts from logs; }
tool read() returns logs[] { return select * from logs order by n; }
tool echo(text text) { fail "PLACE"; }
tool pairs() returns integer {
  let found[] = select a.n from logs a join logs b on b.n >= a.n or b.n < a.n;
  return (select count(*) from $found);
}
world w { accounts (id, owner) values ('A1', 'Ann'); }
task quiet on w { intent "x" plan { s = write(n: 1, text: 'x'); } never write(n: 0); }
"""
).replace("PLACE", "{$text}" * 40)
LONG = "x" * 60_000


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return packed(SPEC, tmp_path_factory.mktemp("limits"))


def held(episode: Episode) -> int:
    return sum(map(weight_of, (episode.overlay or {}).values()))


def test_an_episode_is_full_at_some_time_and_goes_on(env: Environment) -> None:
    episode = env.reset("w")
    results = [env.call(episode, "write", n=n, text=LONG) for n in range(100)]
    kept = MAX_HELD // (len(LONG) + 5)
    assert [result.kind for result in results] == ["ok"] * kept + ["refused"] * (100 - kept)
    assert results[-1].text == FULL
    assert len(episode.changes()["logs"]) == kept
    assert held(episode) <= MAX_HELD
    branch, again = episode.fork(), env.restore(episode.snapshot())
    for one in (episode, branch, again):
        assert env.call(one, "write", n=200, text=LONG).text == FULL
        assert env.call(one, "forget", n=0).ok
        assert env.call(one, "write", n=200, text=LONG).ok
    assert episode.digest() == branch.digest() == again.digest()


def test_what_is_written_over_counts_once(env: Environment) -> None:
    episode = env.reset("w")
    env.call(episode, "write", n=1, text="x")
    assert all(env.call(episode, "rewrite", n=1, text=LONG[i:]).ok for i in range(200))
    assert held(episode) < 2 * len(LONG)


def test_keys_that_are_gone_count(env: Environment) -> None:
    episode = env.reset("w")
    for n in range(3_000):
        env.step([(episode, "write", {"n": n, "text": "x"}), (episode, "forget", {"n": n})])
    assert held(episode) == 3_000


def test_rows_that_double_come_to_an_end_in_one_call_too(env: Environment) -> None:
    episode = env.reset("w")
    env.call(episode, "write", n=0, text=LONG)
    results = [env.call(episode, "copy", by=2**i) for i in range(12)]
    assert [result.kind for result in results] == ["ok"] * 6 + ["refused"] * 6
    assert len(episode.changes()["logs"]) == 64


def test_calls_that_are_noted_count(env: Environment) -> None:
    episode = env.reset("quiet")
    kinds = [env.call(episode, "write", n=n, text=LONG).kind for n in range(60)]
    assert kinds.count("ok") < MAX_HELD // (2 * len(LONG)) + 1


def test_arguments_have_an_end(env: Environment) -> None:
    large = "The arguments have more than 1,000,000 characters"
    episode = env.reset("w")
    for arguments in (" " * (MAX_ARGUMENTS + 1), b"x" * 10_000_000, json.dumps({"n": 1, "parts": ["x" * 9_000] * 200})):
        assert env.step([(episode, "keep", arguments)])[0].text == large
    assert env.call(episode, "keep", n=1, parts=["x" * 9_000] * 200).text == large
    assert env.call(episode, "keep", n=1, parts=["x" * 9_000] * 100).ok


def test_results_have_an_end(env: Environment) -> None:
    long = "The result would have more than 1,000,000 characters"
    episode = env.reset("w")
    for n in range(20):
        env.call(episode, "write", n=n, text=LONG)
    result = env.call(episode, "read")
    assert (result.kind, result.text) == ("refused", long)
    assert (env.call(episode, "echo", text=LONG).kind, env.call(episode, "echo", text=LONG).text) == ("refused", long)
    assert env.call(episode, "echo", text="x").text == "x" * 40


def test_answers_have_an_end(env: Environment) -> None:
    episodes = [env.reset("w") for _ in range(3)]
    for episode in episodes:
        env.call(episode, "write", n=0, text="x")
        for i in range(7):
            env.call(episode, "copy", by=2**i)
    assert [result.value for result in env.step([(one, "pairs", {}) for one in episodes])] == [128 * 128] * 3
    for i in range(7, 9):
        env.call(episodes[0], "copy", by=2**i)
    results = env.step([(one, "pairs", {}) for one in episodes])
    assert [result.kind for result in results] == ["fault", "ok", "ok"]
    assert results[0].detail == "too many rows"


def test_weights() -> None:
    assert [weight(value) for value in (None, 1, "", "abc", [], ["a", 1], {"a": "bc"}, (1, 2))] == [
        1, 1, 1, 4, 1, 4, 6, 3,
    ]  # fmt: skip


def test_shipped_environments_are_far_from_the_limits() -> None:
    env = load_environment(Path(__file__).parents[2] / "generated" / "library")
    episode = env.reset("keep_what_can_be_kept")
    env.call(episode, "pay_fines", member_id="M002", amount=1.25, method="card")
    assert 0 < held(episode) < 1_000
