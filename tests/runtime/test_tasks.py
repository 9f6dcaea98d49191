"""Tasks that begin differently, ask for several things, accept several ends and forbid calls."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from forgec.pipeline import check
from forgec.reference import ReferenceEpisode
from forgec.reference.tasks import ReferenceTask
from forgec_runtime import Environment, GoldAgent, LoadError, SnapshotError, TaskError, Workers, load_environment
from forgec_runtime.plan import gold_run
from tests.differential.bench import compiled as compiled_to
from tests.shipped import ENVIRONMENTS

ROOT = Path(__file__).parent.parent.parent
CASE = ROOT / "tests" / "cases" / "tasks_that_begin_differently"
SHOP = CASE / "generated" / "shop"
SEEDS = range(6)
KITCHEN = ROOT / "tests" / "differential" / "kitchen_sink.afs"
CASES = [CASE / "spec.afs", CASE.parent / "tasks_with_everything" / "spec.afs", CASE.parent / "bulk_tasks" / "spec.afs"]


@pytest.fixture(scope="module")
def env() -> Environment:
    return load_environment(SHOP)


def test_a_seed_draws_the_same_in_every_environment(env: Environment) -> None:
    other = load_environment(SHOP)
    for seed in SEEDS:
        one, two = env.reset("cancel_any", seed), other.reset("cancel_any", seed)
        assert one.briefing == two.briefing
        assert one.digest() == two.digest()
        assert one.snapshot() == two.snapshot()
    assert len({env.reset("cancel_any", seed).briefing.intent for seed in SEEDS}) == 3


def test_the_user_is_told_what_was_drawn(env: Environment) -> None:
    told = env.reset("cancel_any", 2).briefing
    assert told.intent == "You want order W002 (of 20.00) cancelled, Bo."
    assert [(one.name, one.text, one.after) for one in told.requests] == [
        ("cancel", "Cancel it", ()),
        ("settle", "Pay Bo's fines", ("cancel",)),
    ]
    assert [(one.name, one.value, one.doc) for one in told.facts] == [
        ("number", "W002", "your order, one of Bo"),
        ("half", 10.0, ""),
    ]


def test_episodes_begin_with_the_change_and_apart_from_each_other(env: Environment) -> None:
    one, two = env.reset("cancel_any", 2), env.reset("cancel_any", 2)
    assert [row["fines"] for row in one.state()["members"]] == [2.5, 55, 0]
    assert [row["order_id"] for row in one.state()["orders"]][4:] == ["W005", "W006", "W007"]
    assert env.call(one, "reorder", order_id="W001").text.startswith('{"order_id":"W008"')
    assert env.call(two, "reorder", order_id="W001").text.startswith('{"order_id":"W008"')
    assert len(env.reset("cancel_any", 2).state()["orders"]) == 7


@pytest.mark.parametrize("plan", [0, 1])
@pytest.mark.parametrize("seed", SEEDS)
def test_every_plan_is_paid(env: Environment, seed: int, plan: int) -> None:
    task = env.tasks["cancel_any"]
    episode = env.reset("cancel_any", seed)
    assert env.reward(episode, task).value == 0
    GoldAgent(plan).play(env, episode, task)
    assert env.reward(episode, task).value == 1
    assert env.reward(env.restore(episode.snapshot()), task).value == 1


def test_the_reasons_are_those_of_the_nearest_plan(env: Environment) -> None:
    task = env.tasks["cancel_any"]
    episode = env.reset("cancel_any", 2)
    env.call(episode, "cancel_order", order_id="W002")
    assert [str(reason) for reason in env.reward(episode, task).reasons] == ["not said: what is left (55.00)"]


def test_what_was_skipped_is_null(env: Environment) -> None:
    task = env.tasks["cancel_any"]
    run = gold_run(env, task, seed=0)  # Cy owes 25, and the plan pays from 26 on
    assert (run.values["left"], run.values["rest"], run.values["said"]) == (None, 25, 25)
    assert [call.node for call in run.calls] == ["acct", "done"]


def test_forbidden_calls_are_held_against_the_agent_if_they_succeed(env: Environment) -> None:
    task = env.tasks["cancel_any"]
    episode = env.reset("cancel_any", 2)
    GoldAgent().play(env, episode, task)
    env.call(episode, "reorder", order_id="W999")
    env.call(episode, "cancel_order", order_id="W003")
    assert env.reward(episode, task).value == 1
    fork = episode.fork()
    env.call(fork, "cancel_order", order_id=str(gold_run(env, task, 2).values["other"]))
    env.call(fork, "reorder", order_id="W001")
    for one in (fork, env.restore(fork.snapshot())):
        reasons = [reason.text for reason in env.reward(one, task).reasons if reason.kind == "never"]
        assert reasons == ["never to be called: cancel_order(order_id: $other)", "never to be called: reorder"]
    assert env.reward(episode, task).value == 1


def test_an_episode_of_the_world_is_none_of_the_task(env: Environment) -> None:
    with pytest.raises(ValueError, match="did not begin with the task"):
        env.reward(env.reset("small"), env.tasks["cancel_any"])


def test_a_snapshot_names_its_seed(env: Environment) -> None:
    episode = env.reset("cancel_any", 3)
    again = env.restore(episode.snapshot())
    assert (again.seed, again.briefing) == (3, episode.briefing)
    with pytest.raises(SnapshotError):
        env.restore(episode.snapshot().replace(b'"seed":3', b'"seed":4'))


def test_workers_know_them(env: Environment) -> None:
    with Workers(SHOP, 2) as pool:
        episodes = [pool.reset("cancel_any", seed) for seed in SEEDS]
        assert [one.briefing for one in episodes] == [env.reset("cancel_any", seed).briefing for seed in SEEDS]
        assert pool.restore(episodes[2].snapshot()).briefing == episodes[2].fork().briefing
        assert [one.value for one in pool.rewards((one, pool.tasks["cancel_any"]) for one in episodes)] == [0] * 6


def test_a_task_that_cannot_begin_says_so(tmp_path: Path) -> None:
    text = (SHOP / "tasks.jsonl").read_text(encoding="utf-8")
    folder = tmp_path / "shop"
    shutil.copytree(SHOP, folder)
    (folder / "tasks.jsonl").write_text(text.replace("= 'pending'", "= 'cancelled'"), encoding="utf-8")
    broken = load_environment(folder)
    with pytest.raises(TaskError, match="with the seed 7 there is no row to draw for the sample order"):
        broken.reset("cancel_any", 7)
    with Workers(folder, 1) as pool, pytest.raises(TaskError, match="there is no row to draw"):
        pool.reset("cancel_any")
    (folder / "tasks.jsonl").write_text("{}\n", encoding="utf-8")
    with pytest.raises(LoadError):
        load_environment(folder).reset("cancel_any")


@pytest.mark.parametrize("path", [*CASES, KITCHEN, *ENVIRONMENTS], ids=lambda path: path.parent.name + "-" + path.stem)
def test_the_reference_executor_plays_plans_to_the_same_end(path: Path, tmp_path: Path) -> None:
    spec = check(path).spec
    assert spec is not None
    if path == KITCHEN:
        compiled_to(spec, tmp_path)
    folder = tmp_path if path == KITCHEN else (path.parent if path in CASES else ROOT) / "generated"
    env = load_environment(folder / spec.name)
    for task in spec.tasks.values():
        for seed in range(3 if task.samples else 1):
            for number, plan in enumerate(task.plans):
                reference = ReferenceTask(task, ReferenceEpisode(spec, task.world), seed)
                reference.draw()
                reference.change()
                compiled = env.reset(task.name, seed)
                assert compiled.briefing.intent == ("" if task.intent is None else reference.told(task.intent))
                assert compiled.state() == reference.episode.state()
                reference.play(plan)
                run = gold_run(env, env.tasks[task.name], seed, number)
                assert run.episode.state() == reference.episode.state()
                assert list(run.sayings) == reference.says()
