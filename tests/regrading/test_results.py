"""Results in tau2-bench's form, written for this test, played again and judged by ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from forgec.commands import forgec
from forgec.rollouts.store import read
from forgec.rollouts.trajectory import Trajectory

SPECS = Path(__file__).parents[2] / "specs"
HELLO = {"role": "assistant", "content": "Hi! How can I help you today?", "tool_calls": None}
PLEASE = {"role": "user", "content": "Please have a call put on my list.", "tool_calls": None}
THANKS = {"role": "user", "content": "Thanks! ###STOP###"}
MADE = {"task_id": "task_4", "title": "Call", "description": None, "status": "pending"}


def call(tool: str, id: str, by: str = "assistant", **arguments: Any) -> dict[str, Any]:
    called = {"id": id, "name": tool, "arguments": arguments, "requestor": by}
    return {"role": by, "content": None, "tool_calls": [called], "cost": 0.0}


def result(id: str, content: Any, by: str = "assistant", *, error: bool = False) -> dict[str, Any]:
    text = content if isinstance(content, str) else json.dumps(content)
    return {"role": "tool", "id": id, "content": text, "requestor": by, "error": error}


def said(text: str, **rest: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **rest}


MAKES = [call("create_task", "c1", user_id="ben", title="Call"), result("c1", MADE)]
DONE = said("It is task_4.", raw_data={"message": {"reasoning_content": "That is it."}})


def paid(reward: float, db: bool | None = True, **parts: float) -> dict[str, Any]:
    check = None if db is None else {"db_match": db, "db_reward": float(db)}
    return {
        "reward": reward, "db_check": check, "reward_basis": ["DB", *parts],
        "reward_breakdown": {"DB": float(bool(db)), **parts},
    }  # fmt: skip


def episode(task: str, trial: int | None, reward: Any, *messages: dict[str, Any], ended: str = "user_stop") -> Any:
    return {
        "id": f"{task}-{trial}", "task_id": task, "trial": trial, "termination_reason": ended, "reward_info": reward,
        "messages": list(messages),
    }  # fmt: skip


def task(id: str, *actions: tuple[str, dict[str, Any]], **criteria: Any) -> dict[str, Any]:
    made = [{"action_id": f"{i}", "name": name, "arguments": given} for i, (name, given) in enumerate(actions)]
    return {
        "id": id, "user_scenario": {"instructions": "You are ben, and want a call put on your list."},
        "evaluation_criteria": {"actions": made, **criteria},
    }  # fmt: skip


MAKE = ("create_task", {"user_id": "ben", "title": "Call"})
TASKS = [
    task("make it", MAKE, communicate_info=["task_4"]),
    task("7", MAKE, nl_assertions=["It is polite."]),
    {**task("later", ("update_task_status", {"task_id": "task_4", "status": "completed"})),
     "initial_state": {"message_history": [HELLO, PLEASE, *MAKES]}},
    {**task("idle"), "evaluation_criteria": {"actions": None}},
    task("read", ("dismiss_notification", {"notification_id": "n1"})),
]  # fmt: skip
TRANSFER = {"role": "user", "content": "###TRANSFER###"}


def results(*episodes: dict[str, Any]) -> dict[str, Any]:
    side = {"implementation": "llm_agent", "llm": "gpt-x", "llm_args": {}}
    info = {"agent_info": side, "user_info": {**side, "llm": None}, "environment_info": {"domain_name": "mock"}}
    return {"timestamp": "2025-01-01", "info": info, "tasks": TASKS, "simulations": list(episodes)}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The mock domain with the tasks above, which are taken from the file of results."""
    folder = tmp_path_factory.mktemp("mock")
    (folder / "mock.afs").write_bytes((SPECS / "mock.afs").read_bytes())
    (folder / "results.json").write_text(json.dumps(results()))
    given = ["--domain", "mock", "--spec", folder / "mock.afs", "--world", "office", "--tasks", folder / "results.json"]
    made = run("import", "tau2", *given, "--out", folder / "mock.tasks.jsonl")
    assert made.exit_code == 0, made.output
    compiled = run("compile", folder / "mock.afs", "--out", folder)
    assert compiled.exit_code == 0, compiled.output
    return folder / "mock"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(forgec, [*map(str, arguments)])


def regraded(environment: Path, tmp_path: Path, *episodes: Any, code: int = 0) -> tuple[Any, dict[Any, Trajectory]]:
    """The report, and the trajectories by task and trial."""
    (tmp_path / "results.json").write_text(json.dumps(results(*episodes)))
    out = tmp_path / "out.jsonl"
    done = run("import", "tau2-results", tmp_path / "results.json", environment, "--out", out, "--json", "--force")
    assert done.exit_code == code, done.output
    return json.loads(done.stdout), {(one.task, one.trial): one for one in read(out)}


def test_what_was_said_and_done_is_said_and_done_again(environment: Path, tmp_path: Path) -> None:
    report, played = regraded(
        environment, tmp_path, episode("make it", 0, paid(1.0), HELLO, PLEASE, *MAKES, DONE, THANKS)
    )
    assert report["episodes"] == report["agree"] == 1 and report["states"] == {"judged": 1, "agree": 1}
    assert not report["answered_otherwise"]
    one = played["tau2_make_it", 0]
    assert (one.reward, one.end, one.agent, one.model) == (1.0, "satisfied", "recorded:gpt-x", "gpt-x")
    assert one.user == "recorded:llm_agent"
    assert [(message.role, message.content) for message in one.messages[1:]] == [
        ("user", "Please have a call put on my list."), ("assistant", ""),
        ("tool", json.dumps(MADE, separators=(",", ":"))), ("assistant", "It is task_4."), ("user", "Thanks!"),
    ]  # fmt: skip
    assert one.messages[-2].reasoning == "That is it."


def test_why_rewards_differ(environment: Path, tmp_path: Path) -> None:
    beside = {**MAKES[0], "content": "It will be task_4."}
    report, played = regraded(
        environment, tmp_path,
        episode("7", 0, paid(0.0, NL_ASSERTION=0.0), PLEASE, *MAKES, DONE, THANKS),
        episode("7", 1, paid(0.0, None), PLEASE, *MAKES, DONE, ended="max_steps"),
        episode("make it", 0, {**paid(1.0, COMMUNICATE=1.0), "communicate_checks": [{"info": "task_4", "met": True}]},
                PLEASE, beside, MAKES[1], said("Done."), THANKS),
        episode("make it", 1, paid(1.0), PLEASE, *MAKES, said("Done."), THANKS),
        episode("make it", 2, paid(1.0), PLEASE, DONE, THANKS),
        episode("make it", 3, paid(0.0, COMMUNICATE=0.0), PLEASE, *MAKES, DONE, THANKS),
        episode("7", 2, paid(0.0), PLEASE, *MAKES, DONE, THANKS),
        code=1,
    )  # fmt: skip
    causes = {(one["task"], one["trial"]): one["causes"] for one in report["differing"]}
    assert causes == {
        ("7", 0): ["an assertion that a model judged was not met"],
        ("7", 1): ["tau2-bench pays nothing for an episode that ends so: max_steps"],
        ("make it", 0): ["what has to be said was written beside a call, where no user hears it"],
        ("make it", 1): ["what has to be said is no part of the reward in tau2-bench"],
        ("make it", 2): ["the states are judged otherwise"],
        ("make it", 3): ["what was said has it in another form, which tau2-bench does not read"],
        ("7", 2): ["not explained"],
    }
    cut_short = played["tau2_7", 1]
    assert (cut_short.end, cut_short.reward, cut_short.messages[-2].content) == ("gave_up", 1.0, "It is task_4.")


def test_a_call_that_is_answered_otherwise_is_told(environment: Path, tmp_path: Path) -> None:
    fails = [call("update_task_status", "c0", task_id="task_9", status="pending"),
             result("c0", "Error: Task task_9 not found", error=True)]  # fmt: skip
    other = [MAKES[0], result("c1", {**MADE, "task_id": "task_5"})]
    report, _ = regraded(environment, tmp_path, episode("make it", 0, paid(1.0), PLEASE, *fails, *other, DONE, THANKS))
    (told,) = report["answered_otherwise"]
    assert (told["number"], told["tool"], report["agree"]) == (2, "create_task", 1)
    assert "task_5" in told["theirs"] and "task_4" in told["ours"]


def test_the_history_of_a_task_is_not_played_twice(environment: Path, tmp_path: Path) -> None:
    ends = [call("update_task_status", "c2", task_id="task_4", status="completed"),
            result("c2", {**MADE, "status": "completed"})]  # fmt: skip
    report, played = regraded(
        environment, tmp_path, episode("later", None, paid(1.0), HELLO, PLEASE, *MAKES, PLEASE, *ends, DONE, THANKS)
    )
    assert report["agree"] == 1 and not report["answered_otherwise"]
    assert [message.role for message in played["tau2_later", 0].messages] == [
        "system", "user", "assistant", "tool", "assistant", "user"
    ]  # fmt: skip


def test_users_use_their_tools_again(environment: Path, tmp_path: Path) -> None:
    own = [call("dismiss_notification", "u1", "user", notification_id="n1"),
           result("u1", "Notification n1 dismissed", "user")]  # fmt: skip
    human = [call("transfer_to_human_agents", "c3", summary="Read."), result("c3", "Transfer successful")]
    report, played = regraded(
        environment, tmp_path,
        episode("read", 0, paid(1.0), HELLO, PLEASE, said("Dismiss n1, please."), *own, THANKS),
        episode("read", 1, paid(1.0), HELLO, PLEASE, said("Dismiss n1, please."), *own, PLEASE, *human, said("Bye."),
                TRANSFER),
    )  # fmt: skip
    assert report["agree"] == 2 and not report["answered_otherwise"], report
    assert [played["tau2_read", trial].end for trial in (0, 1)] == ["satisfied", "tool"]


def test_what_is_not_played_is_told(environment: Path, tmp_path: Path) -> None:
    voice = {**episode("7", 0, paid(1.0)), "messages": None}
    report, played = regraded(environment, tmp_path, voice, episode("8", 3, paid(1.0), PLEASE),
                              episode("7", 1, None, PLEASE, THANKS), code=1)  # fmt: skip
    assert not played and not report["episodes"]
    assert [one["why"] for one in report["left_out"]] == [
        "it has no messages", "the environment has no such task", "it has no reward"
    ]  # fmt: skip
    (tmp_path / "results.json").write_text(
        json.dumps(results(*(episode("8", i, paid(1.0), PLEASE) for i in range(12))))
    )
    told = run("import", "tau2-results", tmp_path / "results.json", environment).stdout
    assert "the environment has no such task: 8, trial 0; 8, trial 1;" in told and "; and 2 more\n" in told
    assert "`forgec import tau2 --tasks`" in told


def test_an_episode_of_other_tasks_than_those_of_its_file_is_not_judged(environment: Path, tmp_path: Path) -> None:
    def checked(*gold: tuple[str, dict[str, Any]]) -> dict[str, Any]:
        checks = [{"action": {"name": name, "arguments": given}, "action_match": True} for name, given in gold]
        return {**paid(1.0), "action_checks": checks}

    report, _ = regraded(
        environment, tmp_path,
        episode("7", 0, checked(MAKE), PLEASE, *MAKES, DONE, THANKS),
        episode("7", 1, checked(("create_task", {"user_id": "ada", "title": "Call"})), PLEASE, *MAKES, DONE, THANKS),
        code=1,
    )  # fmt: skip
    assert (report["episodes"], report["agree"]) == (1, 1)
    assert report["left_out"] == [
        {"task": "7", "trial": 1, "why": "the gold calls that it was judged by are not those of its task"}
    ]


def test_where_tau2_bench_has_no_state_to_compare_with_it_takes_any_for_right(
    environment: Path, tmp_path: Path
) -> None:
    report, _ = regraded(environment, tmp_path, episode("idle", 0, paid(1.0), PLEASE, *MAKES, DONE, THANKS))
    assert report["states"] == {"judged": 0, "agree": 0}
    assert list(report["causes"]) == [
        "tau2-bench takes any state for right where a task has neither gold calls nor assertions"
    ]


def test_a_folder_with_an_episode_a_file(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "run" / "simulations").mkdir(parents=True)
    (tmp_path / "run" / "results.json").write_text(json.dumps(results() | {"simulations": []}))
    one = {**episode("7", 0, paid(1.0), PLEASE, *MAKES, DONE, THANKS), "task_id": 7}
    (tmp_path / "run" / "simulations" / "a.json").write_text(json.dumps(one))
    done = run("import", "tau2-results", tmp_path / "run", environment)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith(
        "1 episode played again; the rewards agree in 1\nmean reward 1.000 in tau2-bench, 1.000"
    )


def test_trajectories_are_explained_and_played_again(environment: Path, tmp_path: Path) -> None:
    regraded(environment, tmp_path, episode("make it", 0, paid(0.0, False), HELLO, PLEASE, DONE, THANKS))
    out, again = tmp_path / "out.jsonl", tmp_path / "again.jsonl"
    explained = run("explain", out, "--env", environment)
    assert explained.exit_code == 0 and "create_task" in explained.stdout, explained.output
    sides = ["--agent", f"replay:{out}", "--user", f"replay:{out}"]
    played = run("run", environment, *sides, "--task", "tau2_make_it", "--out", again)
    assert played.exit_code == 0, played.output
    (first,), (second,) = read(out), read(again)
    assert (first.messages, first.digest, first.reward) == (second.messages, second.digest, second.reward)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "is no JSON that can be read"),
        ("[" * 100_000, "is no JSON that can be read"),
        ("[]", "holds no results of tau2-bench: at `the top`"),
        ('{"simulations": [{"task_id": []}]}', "at `simulations[0].task_id`"),
        ('{"tasks": []}', "has no `simulations`"),
        (None, "cannot be read: No such file or directory"),
    ],
)
def test_files_that_hold_no_results(environment: Path, tmp_path: Path, text: str | None, told: str) -> None:
    if text is not None:
        (tmp_path / "results.json").write_text(text)
    done = run("import", "tau2-results", tmp_path / "results.json", environment)
    assert done.exit_code == 2 and told in done.stderr, done.output
    assert not done.stdout


def test_a_file_that_is_there_is_kept(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "out.jsonl").write_text("mine")
    done = run("import", "tau2-results", tmp_path / "none", environment, "--out", tmp_path / "out.jsonl")
    assert done.exit_code == 2 and "--force" in done.stderr
    assert (tmp_path / "out.jsonl").read_text() == "mine"
