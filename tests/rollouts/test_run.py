"""`forgec run` with a user: models that fail, runs that are killed, files that are gone on with, what is told."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator

from forgec.commands import forgec
from forgec.rollouts.agents.python_function import FunctionPlayer
from forgec.rollouts.limits import Limits
from forgec.rollouts.store import Store, StoreError, read
from forgec.rollouts.trajectory import Trajectory
from forgec_runtime import Environment
from tests.rollouts.playing import GENERATED, asking, client, environment, plain, play
from tests.rollouts.server import GoldBrain, called, completion, serving
from tests.test_alone import full_at

TASKS = ["settle_the_overdue", "keep_what_can_be_kept", "not_while_suspended", "the_other_joan"]
TROUBLES = ["429", "500", "503 Retry-After: 0", "drop", "cut", "truncated", "malformed", "no_choices"]


@pytest.fixture(scope="module")
def env() -> Environment:
    return environment()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(forgec, ["run", str(GENERATED / "library"), *map(str, arguments)])


def gold(*arguments: str | Path) -> Result:
    tasks = [part for task in TASKS for part in ("--task", task)]
    return invoke("--agent", "gold", "--user", "scripted", *tasks, *arguments)


def kept(path: str = "out.jsonl") -> list[dict[str, Any]]:
    return plain(sorted(read(Path(path)), key=lambda one: one.key))


# -- a model that plays -------------------------------------------------------------------------------------------


def test_an_endpoint_that_fails_three_times_in_ten_costs_time_and_not_results(env: Environment) -> None:
    brain, chance = GoldBrain(env, spoilt=["the_other_joan"]), random.Random(7)
    draws = [chance.choice(TROUBLES) if chance.random() < 0.3 else None for _ in range(10_000)]
    draws[10] = "hang 30"  # which takes seconds, and is looked at on its own in the tests of the client
    with serving(brain) as server:
        one = client(server.url)
        healthy = play(env, asking(one), client=one)
        asked = len(server.seen)
    with serving(brain, draws.__getitem__) as server:
        one = client(server.url)
        failing = play(env, asking(one), client=one)
        assert len(server.seen) > asked * 1.25
    assert plain(failing) == plain(healthy)
    assert [one.task for one in healthy if not one.reward] == ["the_other_joan"]


def test_thoughts_of_earlier_turns_are_kept_or_dropped(env: Environment) -> None:
    for keep in (True, False):
        with serving(GoldBrain(env)) as server:
            one = client(server.url)
            (trajectory,) = play(env, asking(one, reasoning=keep), TASKS[:1], client=one)
            last = [message for message in server.seen[-1]["messages"] if message["role"] == "assistant"]
        thoughts = [message.get("reasoning_content") for message in last]
        assert thoughts == [f"move {i}" if keep else None for i in range(len(last))]
        assert len(last) > 5
        assert next(message.reasoning for message in trajectory.messages if message.role == "assistant") == "move 0"


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "content"])
def test_thoughts_are_given_back_where_the_endpoint_had_them(env: Environment, field: str) -> None:
    gold = GoldBrain(env)

    def brain(body: dict[str, Any]) -> dict[str, Any]:
        answer = gold(body)
        assert isinstance(answer, dict)
        thought = answer.pop("reasoning_content")
        said = answer["content"] or ""
        return {**answer, field: f"<think>\n{thought}\n</think>\n\n{said}" if field == "content" else thought}

    with serving(brain) as server:
        one = client(server.url)
        (trajectory,) = play(env, asking(one), TASKS[:1], client=one)
        given = [message for message in server.seen[-1]["messages"] if message["role"] == "assistant"]
    said = [message for message in trajectory.messages if message.role == "assistant"]
    assert [message.reasoning for message in said] == [f"move {i}" for i in range(len(said))]
    for i, message in enumerate(given):
        thought = f"<think>\nmove {i}\n</think>\n\n{said[i].content}" if field == "content" else f"move {i}"
        assert message[field] == thought
        assert {"reasoning_content", "reasoning"} & message.keys() == {field} - {"content"}


def test_why_a_model_stopped_is_put_down(env: Environment) -> None:
    with serving(lambda body: completion("I was going to", "length")) as server:
        one = client(server.url)
        (trajectory,) = play(env, asking(one), TASKS[:1], client=one)
    assert {message.finish for message in trajectory.messages if message.role == "assistant"} == {"length"}


def test_thoughts_are_ablated_in_one_command(env: Environment) -> None:
    brain = GoldBrain(env)

    def forgetful(body: dict[str, Any]) -> dict[str, Any] | str:
        said = [message for message in body["messages"] if message["role"] == "assistant"]
        return brain(body) if all("reasoning_content" in message for message in said) else "I have lost the thread."

    with serving(forgetful) as server:
        options = ("--agent", "openai:small", "--base-url", server.url, "--tasks", ",".join(TASKS))
        result = invoke(*options, "--out", "out.jsonl", "--ablate-reasoning", "--json")
        assert invoke(*options, "--ablate-reasoning").exit_code == 2
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert (told["tasks"], told["before"], told["after"]) == (4, 0.0, 1.0)
    assert {one["settings"]["agent"]["reasoning"] for one in kept("out.dropped.jsonl")} == {"dropped"}
    assert {one["settings"]["agent"]["reasoning"] for one in kept()} == {"kept"}
    assert "is for an agent that is a model" in gold("--out", "x.jsonl", "--ablate-reasoning").stderr


def test_a_model_that_calls_amiss_reads_why_and_is_given_back_what_endpoints_take(env: Environment) -> None:
    wrong: list[dict[str, Any]] = [
        called("find_member", '{"email": '),
        called("find member!", "{}"),
        called("", "[]"),
        {"content": "", "tool_calls": [called("find_member", {})["tool_calls"][0]] * 300},
        {"content": "a" * 200_000},
        {"content": ""},
    ]

    def brain(body: dict[str, Any]) -> dict[str, Any] | str:
        said = sum(message["role"] == "assistant" for message in body["messages"])
        return wrong[said] if said < len(wrong) else "Done."

    with serving(brain) as server:
        one = client(server.url)
        (trajectory,) = play(env, asking(one), TASKS[:1], client=one)
        messages = server.seen[-1]["messages"]
    assert trajectory.end == "gave_up"
    given = [call for message in messages for call in message.get("tool_calls", ())]
    assert len(given) == 303
    assert all(json.loads(call["function"]["arguments"]) == {} for call in given)
    assert [call["function"]["name"] for call in given[:3]] == ["find_member", "find_member_", "unnamed"]
    answers = [message for message in messages if message["role"] == "tool"]
    assert [message["tool_call_id"] for message in answers] == [call["id"] for call in given]
    assert "not valid JSON" in answers[0]["content"]
    assert all(len(message["content"]) < 2_000 for message in messages[2:])


def test_a_model_whose_context_is_full_ends_its_episode(env: Environment) -> None:
    trouble = '400 body {"error": {"message": "too many tokens", "code": "context_length_exceeded"}}'
    with serving(GoldBrain(env), lambda number: trouble if number >= 3 else None) as server:
        one = client(server.url)
        (trajectory,) = play(env, asking(one), TASKS[:1], client=one)
    assert (trajectory.end, trajectory.turns, trajectory.reward) == ("context", 3, 0.0)


def test_a_model_that_has_read_and_written_enough_ends_its_episode(env: Environment) -> None:
    with serving(GoldBrain(env)) as server:
        one = client(server.url)
        (trajectory,) = play(env, asking(one), TASKS[:1], client=one, limits=Limits(tokens=300))
    assert (trajectory.end, trajectory.turns) == ("tokens", 3)  # of 110 tokens each


# -- the command --------------------------------------------------------------------------------------------------


def test_a_model_is_run_by_the_command(env: Environment) -> None:
    with serving(GoldBrain(env, spoilt=["the_other_joan"])) as server:
        result = invoke(
            "--agent", "openai:small", "--user", "scripted", "--base-url", server.url, "--out", "out.jsonl",
            "--tasks", ",".join(TASKS), "--trials", "2", "--price", "small=1,2", "--set", "temperature=0.5", "--json",
        )  # fmt: skip
        assert server.seen[0]["temperature"] == 0.5
    assert (result.exit_code, result.stderr) == (0, "")
    told = json.loads(result.stdout)
    assert (told["episodes"], told["tasks"], told["failures"], told["stopped"]) == (8, 4, [], None)
    assert told["mean"] == pytest.approx(3 / 4)
    assert [(one["k"], one["pass_at_k"]) for one in told["passes"]] == [
        (1, pytest.approx(3 / 4)),
        (2, pytest.approx(3 / 4)),
    ]
    (spent,) = told["usage"]
    assert spent["cost"] == pytest.approx((spent["prompt_tokens"] + 2 * spent["completion_tokens"]) / 1e6)
    first = next(read(Path("out.jsonl")))
    assert (first.agent, first.model, first.user) == ("openai:small", "small", "scripted")
    assert first.settings["agent"] == {"temperature": 0.5, "reasoning": "kept"}
    assert first.usage["agent"].answers == first.turns


def test_a_run_stops_at_its_budget_and_goes_on_with_more(env: Environment) -> None:
    with serving(GoldBrain(env)) as server:
        options = ("--agent", "openai:small", "--base-url", server.url, "--out", "out.jsonl", "--at-once", "2",
                   "--tasks", ",".join(TASKS))  # fmt: skip
        result = invoke(*options, "--max-calls", "19")
        assert result.exit_code == 1
        assert "stopped: the budget of 19 requests is used up" in result.stdout
        assert "episodes not played; --resume goes on with them" in result.stderr
        assert len(server.seen) == 19
        before = kept()
        finished = sum(one.usage["agent"].requests for one in read(Path("out.jsonl")))
        assert finished < 19
        assert f"on episodes that were not finished: {19 - finished} request" in result.stdout
        assert 0 < len(before) < 4
        assert invoke(*options, "--resume", "--max-calls", "19").exit_code == 1
        result = invoke(*options, "--resume")
    assert result.exit_code == 0
    assert result.stdout.startswith("4 episodes of 4 tasks: mean reward 1.000")
    assert all(one in kept() for one in before)


def test_a_user_is_judged_where_the_rules_leave_it_open(env: Environment) -> None:
    user = iter(["I would like a crime novel.", "I read a lot.", "Thanks. [DONE]"])

    def brain(body: dict[str, Any]) -> str:
        if body["model"] == "strict":
            return '{"kind": "withheld", "turn": 3, "evidence": "I read a lot."}'
        return next(user)

    options = ("--agent", "gold", "--user", "openai:small", "--task", "either_of_two", "--out", "out.jsonl", "--json")
    with serving(brain) as server:
        result = invoke(*options, "--base-url", server.url, "--judge", "openai:strict")
        assert invoke(*options, "--base-url", server.url, "--judge", "strict").exit_code == 2
    told = json.loads(result.stdout)
    (found,) = read(Path("out.jsonl"))
    assert found.user_verdict is not None
    assert (found.user_verdict.kind, found.user_verdict.source) == ("withheld", "openai:strict")
    assert (told["masked"], told["tasks"], told["mean"], told["interval"]) == (1, 0, None, None)
    assert [(one["side"], one["model"]) for one in told["usage"]] == [("judge", "strict"), ("user", "small")]
    assert found.settings["judge"] == {"model": "strict"}


def test_tasks_are_played_with_several_seeds() -> None:
    result = gold("--seeds", "3", "--seed", "5", "--trials", "2", "--out", "out.jsonl", "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert (told["episodes"], told["tasks"], len(told["passes"])) == (24, 12, 2)
    assert {(one["seed"], one["trial"]) for one in kept()} == {(seed, trial) for seed in (5, 6, 7) for trial in (0, 1)}
    assert gold("--seeds", "3", "--seed", "5", "--trials", "2", "--out", "out.jsonl", "--resume").exit_code == 0
    assert len(kept()) == 24


def test_a_terminal_obeys_nothing_that_an_endpoint_says() -> None:
    trouble = "400 body " + json.dumps({"error": {"message": "no: \x1b]0;mine\x07"}})
    with serving(lambda body: "", lambda number: trouble) as server:
        result = invoke("--agent", "openai:small", "--base-url", server.url, "--task", TASKS[0])
    assert "mine" in result.stdout
    assert not {"\x1b", "\x07"} & set(result.output)


def test_a_key_that_is_refused_stops_a_run_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody")
    with serving(lambda body: "", lambda number: "401") as server:
        result = invoke("--agent", "openai:small", "--base-url", server.url, "--at-once", "1")
        assert len(server.seen) == 1
    assert result.exit_code == 1
    assert "model `small`, key from OPENAI_API_KEY" in result.stdout
    assert "sk-of-nobody" not in result.output


def test_a_run_is_recorded_and_replayed_without_an_endpoint(env: Environment) -> None:
    with serving(GoldBrain(env)) as server:
        options = ("--agent", "openai:small", "--trials", "2", "--task", TASKS[0])
        assert invoke(*options, "--base-url", server.url, "--record", "t.jsonl", "--out", "a.jsonl").exit_code == 0
    result = invoke(*options, "--replay-from", "t.jsonl", "--out", "b.jsonl")
    assert result.exit_code == 0, result.output
    assert kept("a.jsonl") == kept("b.jsonl")


def test_trajectories_are_replayed() -> None:
    assert gold("--trials", "2", "--out", "a.jsonl").exit_code == 0
    sides = ("--agent", "replay:a.jsonl", "--user", "replay:a.jsonl")
    result = invoke(*sides, "--tasks", ",".join(TASKS), "--trials", "2", "--out", "b.jsonl")
    assert result.exit_code == 0, result.output

    def told(path: str) -> list[dict[str, Any]]:
        return [{name: one[name] for name in one if name not in ("agent", "user")} for one in kept(path)]

    assert told("a.jsonl") == told("b.jsonl")
    more = invoke(*sides, "--task", TASKS[0], "--trials", "3")  # of a third trial there is no record: the first one's
    assert more.stdout.startswith("3 episodes of 1 task: mean reward 1.000")
    assert "a.jsonl has no library/another_matilda" in invoke("--agent", "replay:a.jsonl").stdout


def test_a_python_function_plays(tmp_path: Path) -> None:
    (tmp_path / "my_agent.py").write_text(
        "async def act(messages, tools):\n"
        "    if messages[-1]['role'] == 'user':\n"
        "        return {'content': None, 'tool_calls': [{'function': {'name': 'find_member',"
        " 'arguments': {'email': 'lena.fischer@example.org'}}}]}\n"
        "    assert messages[-1]['content'].startswith('{')\n"
        "    return 'I have found you.'\n"
        "def wrong(messages, tools):\n"
        "    return 7\n"
        "def broken(messages, tools):\n"
        "    return 1 / 0\n"
        "def leaving(messages, tools):\n"
        "    raise SystemExit('no key')\n"
        "async def cancelled(messages, tools):\n"
        "    import asyncio\n"
        "    raise asyncio.CancelledError\n"
        "def deep(messages, tools):\n"
        "    arguments = {}\n"
        "    for _ in range(100_000):\n"
        "        arguments = {'a': arguments}\n"
        "    return {'tool_calls': [{'function': {'name': 'find_member', 'arguments': arguments}}]}\n"
    )
    result = invoke("--agent", "my_agent:act", "--task", TASKS[1], "--out", "out.jsonl")
    assert result.exit_code == 0, result.output
    (trajectory,) = read(Path("out.jsonl"))
    assert [message.role for message in trajectory.messages[:6]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]
    assert "gave a int, which is neither a text nor a message" in invoke("--agent", "my_agent:wrong").stdout
    for name, said in (
        ("broken", "the agent raised ZeroDivisionError"), ("leaving", "the agent raised SystemExit: no key"),
        ("cancelled", "the agent raised CancelledError"), ("deep", "the agent gave arguments that are no JSON"),
    ):  # fmt: skip
        assert said in invoke("--agent", f"my_agent:{name}", "--task", TASKS[1]).stdout


def test_a_python_function_may_do_with_the_tools_what_it_likes(env: Environment) -> None:
    seen: list[int] = []

    def act(messages: list[dict[str, Any]], tools: Any) -> str:
        seen.append(len(tools))
        tools[0]["function"]["name"] = tools.pop()["function"]["name"]
        return ""

    play(env, lambda part: FunctionPlayer(act), TASKS[:2], at_once=1)
    assert seen == [len(env.tools), len(env.tools) - 1, len(env.tools) - 2] * 2


def test_a_module_that_leaves_when_it_is_imported_is_told(tmp_path: Path) -> None:
    (tmp_path / "my_leaving_agent.py").write_text("import sys\nsys.exit('no key')\n")
    result = invoke("--agent", "my_leaving_agent:act")
    assert result.exit_code == 2
    assert "the module `my_leaving_agent` cannot be imported: SystemExit: no key" in result.stderr


def test_an_endpoint_that_has_to_be_asked_again_is_told_of_once(env: Environment) -> None:
    with serving(GoldBrain(env), lambda number: "500" if number in (0, 3) else None) as server:
        result = invoke("--agent", "openai:small", "--base-url", server.url, "--task", TASKS[0], "--retries", "2")
    assert result.exit_code == 0
    (line,) = result.stderr.splitlines()
    assert line.startswith("no answer yet: Error code: 500") and line.endswith(
        "asked again, 2 times at most (--retries)"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--agent", "golden"], "there is no agent `golden`; there are gold, noop"),
        (["--agent", "nowhere:act"], "there is no module `nowhere`"),
        (["--agent", "json:act"], "the module `json` has no `act`"),
        (["--agent", "json:__name__"], "`json:__name__` is no function"),
        (["--user", "nobody"], "there is no user `nobody`; there are scripted"),
        (["--agent", "replay:none.jsonl"], "there is no file none.jsonl"),
        (["--agent", "gold", "--agent", "noop", "--user", "scripted"], "one agent at a time"),
        (["--resume"], "name it with --out"),
        (["--agent", "openai:small"], "OPENAI_API_KEY has no key"),
        (["--agent", "openai:small", "--base-url", "http://x", "--max-cost", "1"], "needs the price of small"),
        (["--agent", "openai:small", "--price", "small=1"], "`small=1` is no price"),
        (["--agent", "openai:small", "--prices", "none.json"], "none.json cannot be read"),
        (["--agent", "openai:small", "--set", "temperature"], "`temperature` is no setting"),
        (["--agent", "openai:small", "--set", 'stop="\\ud800"'], "`stop` cannot be sent as JSON"),
        (["--agent", "openai:small", "--set", "temperature=NaN"], "`temperature` cannot be sent as JSON"),
        (["--record", "a", "--replay-from", "b"], "not both"),
        (["--agent", "openai:small", "--base-url", "http://x", "--record", "a", "--out", "a"], "is writing a"),
        (["--user", "scripted", "--out", "."], "is a directory"),
        (["--user", "scripted", "--out", "/dev/null"], "/dev/null cannot be written: Not a regular file"),
        (["--agent", "openai:small", "--replay-from", "none"], "there is no file none"),
        (["--user", "scripted", "--task", "setle_the_overdue"], "did you mean `settle_the_overdue`?"),
        (["--user", "scripted", "--out", "no/folder/out.jsonl"], "cannot be written: No such file or directory"),
        (["--user", "scripted", "--max-turns", "0"], "0 is not in the range"),
    ],
)  # fmt: skip
def test_mistakes_are_told(arguments: list[str], said: str) -> None:
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr


def test_tasks_are_chosen_by_pattern_and_by_tag() -> None:
    assert invoke("--user", "scripted", "--tasks", "keep_*,tag:fines").stdout.startswith("2 episodes of 2 tasks")
    assert "no task `tag:nothing`" in invoke("--user", "scripted", "--tasks", "tag:nothing").stderr


def test_the_schema_is_that_of_the_lines() -> None:
    schema = json.loads(CliRunner().invoke(forgec, ["run", "--schema"]).stdout)
    assert gold("--out", "out.jsonl").exit_code == 0
    validator = Draft202012Validator(schema)
    for line in Path("out.jsonl").read_text().splitlines():
        assert list(validator.iter_errors(json.loads(line))) == []


def test_workers_play_the_same() -> None:
    assert gold("--out", "a.jsonl").exit_code == 0
    assert gold("--out", "b.jsonl", "--workers", "2").exit_code == 0
    assert kept("a.jsonl") == kept("b.jsonl")


def test_what_the_lock_says_is_put_down(tmp_path: Path) -> None:
    assert gold("--out", "out.jsonl").exit_code == 0
    assert {one.certified for one in read(Path("out.jsonl"))} == {"certified"}
    lock = GENERATED.parent / "specs" / "library.lock.jsonl"
    lines = lock.read_text().splitlines(keepends=True)
    others = [line for line in lines if f'"task": "{TASKS[0]}"' not in line]
    stale = [line.replace('"certifier": ', '"certifier": 9') if TASKS[1] in line else line for line in others]
    (tmp_path / "mine.lock.jsonl").write_text("".join(stale))
    result = gold("--out", "b.jsonl", "--lock", "mine.lock.jsonl")
    assert {one.task: one.certified for one in read(Path("b.jsonl"))} == {
        TASKS[0]: "uncertified", TASKS[1]: "stale", TASKS[2]: "certified", TASKS[3]: "certified"
    }  # fmt: skip
    assert "lock: uncertified" in result.stdout
    result = gold("--lock", "none")
    assert (result.exit_code, result.stderr) == (2, "error: there is no lock none\n")


# -- going on with a run ------------------------------------------------------------------------------------------


def test_a_file_is_not_overwritten_and_nothing_is_played_twice() -> None:
    assert gold("--out", "out.jsonl").exit_code == 0
    result = gold("--out", "out.jsonl")
    assert (result.exit_code, result.stderr) == (2, "error: out.jsonl is there already: --resume goes on with it\n")
    content = Path("out.jsonl").read_bytes()
    assert gold("--out", "out.jsonl", "--resume").stdout.startswith("4 episodes")
    assert Path("out.jsonl").read_bytes() == content
    assert gold("--out", "out.jsonl", "--resume", "--trials", "3").stdout.startswith("12 episodes")
    assert Path("out.jsonl").read_bytes().startswith(content)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--agent", "noop", "--user", "scripted"], "was played with the agent gold, not noop"),
        (["--agent", "gold", "--user", "briefed"], "was played with the user scripted, not briefed"),
        (["--agent", "gold", "--user", "scripted", "--max-turns", "7"], "was played with settings"),
    ],
)  # fmt: skip
def test_a_file_of_another_run_is_not_gone_on_with(arguments: list[str], said: str) -> None:
    assert gold("--out", "out.jsonl").exit_code == 0
    result = invoke(*arguments, "--out", "out.jsonl", "--resume")
    assert result.exit_code == 2
    assert said in result.stderr


def test_what_a_file_has_of_other_tasks_stays_and_is_not_counted() -> None:
    assert gold("--out", "out.jsonl").exit_code == 0
    content = Path("out.jsonl").read_bytes()
    result = invoke("--agent", "gold", "--user", "scripted", "--task", TASKS[0], "--out", "out.jsonl", "--resume")
    assert result.stdout.startswith("1 episode of 1 task:")
    assert Path("out.jsonl").read_bytes() == content


def test_a_budget_counts_what_an_earlier_part_of_the_run_has_spent(env: Environment) -> None:
    options = ("--agent", "openai:small", "--out", "out.jsonl", "--task", TASKS[0], "--price", "small=1000,1000")
    with serving(GoldBrain(env)) as server:
        assert invoke(*options, "--base-url", server.url).exit_code == 0
        (played,) = read(Path("out.jsonl"))
        spent = played.usage["agent"]
        for budget in (("--max-cost", f"{spent.cost}"), ("--max-calls", f"{spent.requests}")):
            result = invoke(*options, "--base-url", server.url, "--resume", "--trials", "2", *budget)
            assert "is used up" in result.stdout
        assert len(server.seen) == spent.requests


def test_a_run_stops_when_nothing_can_be_written_any_more() -> None:
    with full_at(30_000):
        result = gold("--out", "out.jsonl", "--trials", "5", "--at-once", "1")
    assert result.exit_code == 1
    assert "stopped: a trajectory cannot be written: File too large" in result.stdout
    assert "--resume goes on with them" in result.stderr
    written = len(kept())
    assert 0 < written < 20
    assert gold("--out", "out.jsonl", "--trials", "5", "--resume").stdout.startswith("20 episodes of 4 tasks")


def test_tasks_of_another_run_are_not_added_to_a_file() -> None:
    assert gold("--out", "out.jsonl").exit_code == 0
    content = Path("out.jsonl").read_bytes()
    result = invoke("--agent", "noop", "--user", "scripted", "--task", "a_late_book", "--out", "out.jsonl", "--resume")
    assert "was played with the agent gold, not noop" in result.stderr
    assert Path("out.jsonl").read_bytes() == content


def test_a_file_of_another_environment_is_not_gone_on_with() -> None:
    assert gold("--out", "out.jsonl").exit_code == 0
    lines = Path("out.jsonl").read_text()
    (known,) = {one.hashes.grading for one in read(Path("out.jsonl")) if one.hashes}
    Path("out.jsonl").write_text(lines.replace(known, "0" * 64))
    assert "was played with another grading than there is now" in gold("--out", "out.jsonl", "--resume").stderr


def test_a_line_is_cut_off_anywhere_and_played_again() -> None:
    assert gold("--out", "out.jsonl", "--at-once", "1").exit_code == 0
    content = Path("out.jsonl").read_bytes()
    whole, last = kept(), content.rindex(b"\n", 0, -1) + 1
    for at in (last, last + 1, last + 20, (last + len(content)) // 2, len(content) - 1):
        Path("out.jsonl").write_bytes(content[:at])
        assert gold("--out", "out.jsonl", "--resume").exit_code == 0
        assert kept() == whole


@pytest.mark.parametrize(
    "content", ["hello", "{}\n", '{"format":1}\n', "hello\n", '{"format":1,"environment":"x"}\n\n']
)
def test_other_files_are_left_alone(content: str) -> None:
    Path("out.jsonl").write_text(content)
    result = gold("--out", "out.jsonl", "--resume")
    assert result.exit_code == 2
    assert "out.jsonl" in result.stderr
    assert "trajector" in result.stderr
    assert Path("out.jsonl").read_text() == content


def test_a_file_is_written_by_one_run_at_a_time(tmp_path: Path) -> None:
    store = Store(tmp_path / "out.jsonl")
    with pytest.raises(StoreError, match="another run is writing"):
        Store(tmp_path / "out.jsonl")
    store.close()
    Store(tmp_path / "out.jsonl").close()


def test_a_run_that_is_interrupted_tells_what_it_has_played_and_is_gone_on_with(tmp_path: Path) -> None:
    arguments = ["run", str(GENERATED / "mock"), "--agent", "gold", "--user", "scripted", "--task", "minutes_sent",
                 "--at-once", "4", "--trials", "2000", "--out", "out.jsonl"]  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-m", "forgec", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background job ignores it
    )  # fmt: skip
    out = tmp_path / "out.jsonl"
    while process.poll() is None and not (out.exists() and out.read_bytes().count(b"\n") >= 5):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    told, errors = process.communicate(timeout=60)
    assert process.returncode == 1, errors
    before = kept()
    assert 5 <= len(before) < 2000
    assert told.startswith(f"{len(before):,} episodes of 1 task: mean reward 1.000")
    assert told.endswith("\nstopped: interrupted\n")
    assert errors == f"{2000 - len(before):,} of 2,000 episodes not played; --resume goes on with them\n"
    content = out.read_bytes()
    more = [*arguments[:-3], str(len(before) + 5), *arguments[-2:]]
    result = CliRunner().invoke(forgec, [*more, "--resume"])
    assert result.exit_code == 0, result.output
    assert out.read_bytes().startswith(content)
    assert [one["trial"] for one in kept()] == list(range(len(before) + 5))


def test_a_run_that_is_killed_twenty_times_is_as_one_that_was_not() -> None:
    arguments = ["run", str(GENERATED / "mock"), "--agent", "gold", "--user", "scripted", "--task", "minutes_sent",
                 "--at-once", "8", "--trials", "200"]  # fmt: skip
    killing = [sys.executable, "-m", "tests.rollouts.killing", "20", "1", *arguments, "--out", "killed.jsonl"]
    root = Path(__file__).parents[2]
    done = subprocess.run(
        killing, env={"PYTHONPATH": str(root), "PATH": ""}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert CliRunner().invoke(forgec, [*arguments, "--out", "whole.jsonl"]).exit_code == 0
    lines = Path("killed.jsonl").read_bytes().splitlines()
    assert len(lines) == len({Trajectory.model_validate_json(line).key for line in lines}) == 200
    assert kept("killed.jsonl") == kept("whole.jsonl")
