"""Gold, reward and the built-in agents, on a small hand-made environment."""

import dataclasses
import os
import subprocess
import sys
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from forgec_runtime.agents import AGENTS, RandomAgent
from forgec_runtime.environment import Environment
from forgec_runtime.episode import Episode
from forgec_runtime.loading import load_environment
from forgec_runtime.plan import GoldError, follow, gold_run, play_gold
from forgec_runtime.results import json_able
from forgec_runtime.reward import Reward, reward, state_differences
from forgec_runtime.tasks import Computed, Expectation, Fact, Literal, Plan, Reason, Ref, Saying, Step, Task, TaskError
from tests.runtime.desk import LENT, MOST, RETURN, SETTLE, SHELF, make_desk

LIBRARY = Path(__file__).parents[2] / "generated" / "library"
SPOKEN = ("It was 222; you paid $4.50.", "Two (2) books are out.")


@pytest.fixture
def env(tmp_path: Path) -> Environment:
    return make_desk(tmp_path)


def played(env: Environment, *calls: tuple[str, dict[str, Any]], say: tuple[str, ...] = SPOKEN) -> Episode:
    episode = env.reset("front_desk")
    for tool, arguments in calls:
        (result,) = env.step([(episode, tool, arguments)])
        assert result.ok, result.text
    episode.messages.extend(say)
    return episode


def texts(verdict: Reward) -> list[str]:
    return [str(reason) for reason in verdict.reasons]


PAY = ("pay_fines", {"member_id": "M1", "amount": 4.5})
LEND = ("lend_book", {"member_id": "M1", "isbn": "222"})


def test_gold_fills_the_arguments_from_earlier_results(env: Environment) -> None:
    run = play_gold(env, SETTLE)
    assert [(call.node, call.arguments) for call in run.calls] == [
        ("who", {"email": "mia@example.org"}),
        ("acct", {"member_id": "M1"}),
        ("left", {"member_id": "M1", "amount": 4.5}),
        ("shelf", {}),
        ("loan", {"member_id": "M1", "isbn": "222"}),
    ]
    assert run.values["pick"] == "222" and run.values["left"] == 0
    assert run.answers == ("222", "4.50", "2")


def test_gold_is_played_once(env: Environment) -> None:
    assert gold_run(env, SETTLE) is gold_run(env, SETTLE)
    assert gold_run(env, SETTLE) is not gold_run(env, dataclasses.replace(SETTLE))


def test_another_legal_order_leads_to_the_same_state(env: Environment) -> None:
    run = play_gold(env, SETTLE, order=("shelf", "who", "pick", "acct", "left", "loan"))
    assert state_differences(run.episode, gold_run(env, SETTLE).episode) == []
    with pytest.raises(TaskError, match="'loan' cannot come at this place"):
        play_gold(env, SETTLE, order=("shelf", "who", "pick", "loan", "acct", "left"))


def test_gold_that_fails_names_the_node(env: Environment) -> None:
    task = dataclasses.replace(RETURN, plans=(Plan((Step("done", "return_book", {"loan_id": Literal("L7")}),)),))
    with pytest.raises(GoldError) as error:
        play_gold(env, task)
    assert str(error.value) == 'bring_back: done = return_book({"loan_id": "L7"}) failed: Unknown loan_id: L7'


@pytest.mark.parametrize(
    ("says", "message"),
    [
        (Saying("who", Literal([])), "an empty list cannot be said"),
        (Saying("who", Ref("acct")), "only values and lists of values can be said"),
        (Saying("who", Ref("acct", "name")), "acct has no 'name'"),
    ],
)
def test_gold_that_cannot_be_said(env: Environment, says: Saying, message: str) -> None:
    with pytest.raises(GoldError, match=message):
        play_gold(env, dataclasses.replace(SETTLE, says=(says,)))


def test_the_right_thing_in_another_way(env: Environment) -> None:
    assert reward(env, played(env, PAY, LEND), SETTLE) == Reward(1.0)


def test_other_engine_made_keys_and_unscored_columns(env: Environment) -> None:
    detour = ("lend_book", {"member_id": "M2", "isbn": "222"})
    back = ("return_book", {"loan_id": "L0002"})
    note = ("note", {"loan_id": "L0001", "at": "2025-03-02T10:00:00"})
    assert reward(env, played(env, PAY, detour, LEND, back, note), SETTLE) == Reward(1.0)


def test_every_reason_is_given_in_order(env: Environment) -> None:
    wrong = ("lend_book", {"member_id": "M1", "isbn": "111"})
    verdict = reward(env, played(env, wrong, say=("You paid 4.50",)), SETTLE)
    assert verdict.value == 0.0
    assert texts(verdict) == [
        "members M1: status is suspended, should be active; fines is 4.50, should be 0.00",
        "books 111: copies is 0, should be 1",
        "books 222: copies is 3, should be 2",
        "loans L0002: isbn is 111, should be 222",
        "expected: exists (select 1 from loans where isbn = $pick)",
        "not said: the user is told which book it was (222)",
        "not said: the user is told how many books are out (2)",
        "rule broken: no_lending_with_fines",
    ]
    assert [reason.kind for reason in verdict.reasons] == ["state"] * 4 + ["expect", "says", "says", "rule"]
    assert verdict.reasons[0].difference is not None and verdict.reasons[0].difference.key == "M1"


def test_a_broken_rule_alone_is_enough(env: Environment) -> None:
    verdict = reward(env, played(env, LEND, PAY), SETTLE)
    assert verdict == Reward(0.0, verdict.reasons) and texts(verdict) == ["rule broken: no_lending_with_fines"]


def test_saying_nothing(env: Environment) -> None:
    verdict = reward(env, played(env, PAY, LEND, say=()), SETTLE)
    assert [reason.kind for reason in verdict.reasons] == ["says"] * 3


def test_missing_and_deleted_rows(env: Environment) -> None:
    verdict = reward(env, played(env, ("return_book", {"loan_id": "L0001"}), PAY), SETTLE)
    assert "loans: a row is missing: {member_id: M1, isbn: 222, due: 2025-03-22}" in texts(verdict)
    assert "loans: a row is missing: {loan_id: L0001, member_id: M2, isbn: 111, due: 2025-03-05}" in texts(verdict)
    (_, extra) = texts(reward(env, env.reset("front_desk"), RETURN))
    assert extra == "loans: one row too many: {loan_id: L0001, member_id: M2, isbn: 111, due: 2025-03-05}"


def test_a_long_list_is_cut(env: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    lots = [("lend_book", {"member_id": "M2", "isbn": "222"})] * 3
    task = dataclasses.replace(RETURN, plans=(Plan(),))
    monkeypatch.setattr("forgec_runtime.reward.MAX_REASONS", 2)
    verdict = reward(env, played(env, *lots), task)
    assert len(verdict.reasons) == 3 and texts(verdict)[-1] == "and 2 more differences of the state"


def test_an_expectation_that_cannot_be_computed_does_not_hold(env: Environment) -> None:
    many = Computed(SHELF, kind="row")
    verdict = reward(env, played(env), dataclasses.replace(RETURN, plans=(Plan(),), expect=(Expectation("one", many),)))
    assert texts(verdict) == ["expected: one"]


def test_many_episodes_are_judged_at_once() -> None:
    env = load_environment(LIBRARY)
    tasks = list(env.tasks.values())
    asked = [(env.reset(task.name, seed), task) for task in tasks for seed in range(3)]
    for episode, task in asked[::2]:
        episode.messages.extend(follow(env, episode, task).answers)
    one_by_one = [texts(reward(env, episode, task)) for episode, task in asked]
    before = env.executions
    assert [texts(found) for found in env.rewards(asked)] == one_by_one
    assert env.executions - before == sum(len(task.expect) for task in tasks)
    assert [] in one_by_one
    assert any("expected:" in text for found in one_by_one for text in found)
    assert env.rewards([]) == []


def test_an_episode_of_another_world(env: Environment) -> None:
    with pytest.raises(ValueError, match="plays in elsewhere"):
        reward(env, env.reset("front_desk"), dataclasses.replace(SETTLE, world="elsewhere"))


# -- tasks -----------------------------------------------------------------------------------------------------------


def task(**parts: Any) -> Task:
    plans = (Plan(parts.pop("plan", ())),)
    return Task(name="x", world="front_desk", plans=plans, **parts)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"facts": (Fact("a", 1),), "plan": (Step("a", "list_books"),)}, "two facts or nodes are named 'a'"),
        ({"plan": (Step("a", "t", {"x": Ref("b", "c")}),)}, r"a reads \$b.c, which is neither"),
        ({"plan": (Step("a", "t", after=("b",)),)}, "a comes after 'b', which is no node"),
        ({"plan": (Step("a", "t", {"x": Ref("b")}), Step("b", "t", after=("a",)))}, "a cycle among a, b"),
        ({"expect": (Expectation("e", Computed(LENT, (Ref("pick"),))),)}, r"expect e reads \$pick"),
        ({"says": (Saying("s", Ref("pick")),)}, r"says s reads \$pick"),
    ],
)
def test_tasks_without_sense(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(TaskError, match=message):
        task(**parts)


@pytest.mark.parametrize("value", [Computed(SHELF, kind="row"), Computed(SHELF, kind="rows"), Literal(None)])
def test_sayings_without_sense(value: Any) -> None:
    with pytest.raises(TaskError):
        Saying("s", value)


def test_the_plan_follows_its_edges_then_the_declaration() -> None:
    plan = (
        Step("d", "t", {"x": Ref("b")}),
        Step("c", "t"),
        Reason("b", Computed(MOST, (Ref("c"),))),
        Step("a", "t", after=("d",)),
    )
    assert [node.name for node in task(plan=plan).plan.order()] == ["c", "b", "d", "a"]


@pytest.mark.parametrize(
    ("value", "json"),
    [
        (Decimal("4.50"), 4.5),
        (Decimal("4.00"), 4),
        (Decimal("12345678901234567.89"), "12345678901234567.89"),
        (datetime(2025, 3, 1, 9), "2025-03-01T09:00:00"),
        ([{"a": Decimal("0.1")}], [{"a": 0.1}]),
        (None, None),
    ],
)
def test_arguments_as_agents_write_them(value: Any, json: Any) -> None:
    assert json_able(value) == json and type(json_able(value)) is type(json)


# -- agents ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["settle_and_borrow", "bring_back"])
def test_gold_is_right_and_doing_nothing_is_not(env: Environment, name: str) -> None:
    verdicts = {}
    for agent in ("gold", "noop"):
        episode = env.reset("front_desk")
        AGENTS[agent]().play(env, episode, env.tasks[name])
        verdicts[agent] = reward(env, episode, env.tasks[name])
    assert verdicts["gold"] == Reward(1.0)
    assert verdicts["noop"].value == 0.0


def random_state(env: Environment, seed: int) -> str:
    episode = env.reset("front_desk")
    RandomAgent(seed, calls=30).play(env, episode, SETTLE)
    return repr(episode.state())


def test_the_random_agent_is_seeded_and_acts(env: Environment) -> None:
    states = [random_state(env, seed) for seed in range(5)]
    assert states == [random_state(env, seed) for seed in range(5)]
    assert len(set(states)) > 1


def test_the_random_agent_does_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from tests.runtime.desk import make_desk;"
        "from tests.runtime.test_reward import random_state; print(random_state(make_desk(Path(sys.argv[1])), 3))"
    )
    path = os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1 and "M1" in outputs.pop()
