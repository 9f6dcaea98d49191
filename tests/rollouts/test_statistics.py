"""The statistics of runs, against other ways to compute the same."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from statistics import fmean

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from forgec.commands import forgec
from forgec.dialogue import Message
from forgec.rollouts import statistics
from forgec.rollouts.agents.built_in import GoldPlayer
from forgec.rollouts.store import read
from forgec.rollouts.summary import Summary, groups_of, text
from forgec.rollouts.trajectory import Trajectory, UserVerdict
from tests.rollouts.playing import GENERATED, environment, play, written

OUTCOMES = st.lists(st.booleans(), min_size=1, max_size=6)


@settings(deadline=None)
@given(OUTCOMES, st.data())
def test_passes_are_what_all_ways_to_draw_give(outcomes: list[bool], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(outcomes)))
    draws = list(itertools.combinations(outcomes, k))
    successes, trials = sum(outcomes), len(outcomes)
    assert statistics.pass_at(successes, trials, k) == pytest.approx(fmean(map(any, draws)))
    assert statistics.pass_all(successes, trials, k) == pytest.approx(fmean(map(all, draws)))


def test_pass_at_is_unbiased() -> None:
    chance, k = random.Random(3), 2
    found = [statistics.pass_at(sum(chance.random() < 0.3 for _ in range(5)), 5, k) for _ in range(20_000)]
    assert fmean(found) == pytest.approx(1 - 0.7**k, abs=0.01)


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [(0, 10, 0.0, 0.27753), (10, 10, 0.72247, 1.0), (5, 10, 0.23659, 0.76341), (81, 263, 0.25528, 0.36621)],
)  # published values of the score interval
def test_wilson(successes: int, trials: int, low: float, high: float) -> None:
    assert statistics.wilson(successes / trials, trials) == pytest.approx((low, high), abs=2e-4)


def test_trials_that_say_the_same_make_no_interval_narrower() -> None:
    once = [[1.0], [0.0], [1.0], [1.0]]
    assert statistics.interval([rewards * 8 for rewards in once]) == statistics.interval(once)
    mixed = [[1.0, 0.0] * 4] * 4
    low, high = statistics.interval(mixed)
    assert (low, high) == statistics.interval([[1.0, 0.0, 0.0, 1.0] * 2] * 4)
    assert high - low < 0.6


def test_the_size_of_the_sample_is_that_of_independent_episodes_of_the_same_variance() -> None:
    # means 1, 0, 1/2, 1/2: their variance is 1/6, that of their mean 1/24, and an episode's is 1/4
    assert statistics.interval([[1.0, 1.0], [0.0, 0.0], [1.0, 0.0], [1.0, 0.0]]) == statistics.wilson(0.5, 6)


def test_calls_of_users_that_fail_are_not_the_agents() -> None:
    (one,) = play(environment(), GoldPlayer, ["either_of_two"])
    found = Summary()
    for side, kind in (("user", "refused"), ("agent", "invalid"), ("agent", "ok")):
        failed = Message.model_validate({"role": "tool", "content": "", "by": side, "kind": kind})
        found.add(one.model_copy(update={"messages": (failed,)}))
    assert found.errors == {"invalid": 1}


def test_episodes_whose_users_erred_count_in_no_mean() -> None:
    env = environment()
    played = play(env, GoldPlayer, ["either_of_two", "a_late_book"], trials=3)
    found = Summary()
    for one in played:
        first = one.task == "either_of_two"
        erred = UserVerdict(mask=first and one.trial == 0, kind="withheld" if first else None, source="rules")
        found.add(one.model_copy(update={"reward": float(one.trial == 2 or not first), "user_verdict": erred}))
    assert sorted(found.by_task.values()) == [[0.0, 1.0], [1.0, 1.0, 1.0]]
    assert found.mean == pytest.approx((0.5 + 1) / 2)
    assert [(k, at, every) for k, at, every in found.passes()] == [(1, 0.75, 0.75), (2, 1.0, 0.5)]
    told = found.json()
    assert (told["episodes"], told["masked"], told["tasks"]) == (6, 1, 2)
    assert {one["mean"] for one in told["groups"]} <= {0.5, 0.75, 1.0}
    assert "left out of the means, since the user erred: 1 of 6" in text(found)
    for one in played:
        found.add(one.model_copy(update={"user_verdict": UserVerdict(mask=True, kind="early", source="rules")}))
    assert (found.json()["masked"], found.json()["mean"]) == (6, None)
    assert text(found) == "left out of the means, since the user erred: 6 of 6"


@pytest.mark.parametrize(("better", "worse", "p"), [(0, 0, 1.0), (5, 0, 0.0625), (3, 3, 1.0), (9, 1, 0.021484375)])
def test_sign_test(better: int, worse: int, p: float) -> None:
    assert statistics.sign_test(better, worse) == statistics.sign_test(worse, better) == p


@settings(deadline=None)
@given(st.lists(st.tuples(OUTCOMES, OUTCOMES), min_size=1, max_size=6))
def test_sign_flips_are_all_flips(pairs: list[tuple[list[bool], list[bool]]]) -> None:
    rewards = [([float(one) for one in first], [float(one) for one in second]) for first, second in pairs]
    differences = [fmean(second) - fmean(first) for first, second in rewards]
    seen = abs(sum(differences))
    flips = itertools.product((1, -1), repeat=len(differences))
    sums = [abs(sum(sign * one for sign, one in zip(signs, differences, strict=True))) for signs in flips]
    expected = fmean(one >= seen - 1e-9 for one in sums)
    assert statistics.flip_test(rewards) == pytest.approx(expected)


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=12))
def test_with_single_trials_the_flip_test_is_mcnemars(pairs: list[tuple[bool, bool]]) -> None:
    better = sum(second > first for first, second in pairs)
    worse = sum(second < first for first, second in pairs)
    flip = statistics.flip_test([([float(first)], [float(second)]) for first, second in pairs])
    assert flip == pytest.approx(statistics.sign_test(better, worse))


def test_a_flip_test_that_is_too_large_is_not_made() -> None:
    pairs = [([0.0] * 97, [1.0] * 89), ([0.0] * 83, [1.0] * 79)] * 400
    assert statistics.flip_test(pairs) is None


def test_the_bootstrap_covers_what_it_promises() -> None:
    chance, inside = random.Random(5), 0
    for _ in range(12):
        differences = [chance.choice((-1.0, 0.0, 0.0, 1.0, 1.0)) for _ in range(60)]
        interval = statistics.bootstrap(differences)
        assert interval is not None
        inside += interval[0] <= 0.2 <= interval[1]
    assert inside >= 9


def test_the_bootstrap_of_many_is_as_wide_as_its_level_says() -> None:
    found = statistics.bootstrap([0.0, 1.0] * 200)
    assert found == pytest.approx((0.5 - 1.96 * 0.025, 0.5 + 1.96 * 0.025), abs=0.004)


def test_the_bootstrap_of_few_is_that_of_all_their_samples() -> None:
    differences = [-1.0, 0.0, 0.5, 1.0, 1.0]
    means = sorted(fmean(drawn) for drawn in itertools.product(differences, repeat=5))
    exact = means[int(0.025 * len(means))], means[int(0.975 * len(means))]
    assert statistics.bootstrap(differences) == pytest.approx(exact, abs=0.11)  # a step of the means
    assert statistics.bootstrap([1.0]) is statistics.bootstrap([0.0] * 12) is None


# -- the command --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Gold in all tasks of the library but some, before, and in all, after."""
    folder = tmp_path_factory.mktemp("runs")
    after, before = folder / "after.jsonl", folder / "before.jsonl"
    arguments = ["run", str(GENERATED / "library"), "--agent", "gold", "--user", "scripted", "--out", str(after),
                 "--tasks", ",".join(written(environment()))]  # fmt: skip
    assert CliRunner().invoke(forgec, arguments).exit_code == 0
    rewards = [one.model_copy(update={"reward": float(i % 2)}) for i, one in enumerate(read(after))]
    before.write_bytes(b"".join(one.line() for one in rewards))
    return before, after


def test_compare_tells_what_changed(runs: tuple[Path, Path]) -> None:
    result = CliRunner().invoke(forgec, ["compare", *map(str, runs)])
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("12 tasks in both: mean reward 0.500 before, 1.000 after\ndifference +0.500")
    assert "6 better, 0 worse, 6 the same: p = 0.0312 by the exact McNemar test" in result.stdout
    told = json.loads(CliRunner().invoke(forgec, ["compare", *map(str, runs), "--json"]).stdout)
    assert (told["difference"], len(told["changed"])) == (0.5, 6)
    assert 0.1 < told["interval"]["low"] < 0.5 < told["interval"]["high"] < 0.9
    assert [test["p"] for test in told["tests"]] == [0.03125, 0.03125]
    gains = {one.task: 1 - one.reward for one in read(runs[0])}
    found = {one["group"]: (one["tasks"], one["difference"]) for one in told["groups"]}
    tasks = [one.task for one in read(runs[0]) if "calls: 4" in groups_of(one)]
    assert found["calls: 4"] == (len(tasks), fmean(gains[task] for task in tasks))


def test_one_task_tells_nothing_of_others(runs: tuple[Path, Path], tmp_path: Path) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    for path, source in ((one, runs[0]), (two, runs[1])):
        path.write_bytes(next(read(source)).line())
    result = CliRunner().invoke(forgec, ["compare", str(one), str(two)])
    assert result.stdout.startswith("1 task in both")
    assert "difference +1.000 (no interval: all tasks differ by the same)\n" in result.stdout
    assert "p = 1.0000" in result.stdout
    told = json.loads(CliRunner().invoke(forgec, ["compare", str(one), str(runs[1]), "--json"]).stdout)
    assert (told["interval"], len(told["only_after"])) == (None, 11)


def test_compare_is_the_same_each_time(runs: tuple[Path, Path]) -> None:
    first, again = (CliRunner().invoke(forgec, ["compare", *map(str, runs), "--json"]).stdout for _ in range(2))
    assert first == again


def test_what_cannot_be_compared_is_told(runs: tuple[Path, Path], tmp_path: Path) -> None:
    def other(**changes: object) -> str:
        path = tmp_path / "other.jsonl"
        found: list[Trajectory] = list(read(runs[0]))
        path.write_bytes(b"".join(one.model_copy(update=changes).line() for one in found))
        result = CliRunner().invoke(forgec, ["compare", str(runs[0]), str(path)])
        assert (result.exit_code, result.stdout) == (2, "")
        return result.stderr

    assert "have no task in common" in other(environment="elsewhere")
    (hashes,) = {one.hashes for one in read(runs[0]) if one.task == "settle_the_overdue"}
    assert hashes is not None
    assert "its world and task is not the same" in other(hashes=hashes.model_copy(update={"world": "w", "task": "t"}))
    missing = CliRunner().invoke(forgec, ["compare", str(runs[0]), "none.jsonl"])
    assert (missing.exit_code, missing.stderr) == (2, "error: there is no file none.jsonl\n")
