"""specs/mock.afs against tau2-bench: the same answers, the same errors, the same states."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from forgec_runtime import Environment, Episode
from tests.conformance.referee import Tau2, find_tau2, gold, judged, state_of

CALLS = 2_000
"""Of each tool."""
TEXTS = ("", "x", "task_1", "user_1", "ä", "Test task", "' or 1=1")


@pytest.fixture(scope="module")
def referee(tau2: Tau2) -> Any:
    return tau2.domain("mock")


@pytest.fixture(scope="module")
def ours(tau2: Tau2) -> Environment:
    return tau2.ours("mock")


def tasks() -> list[dict[str, Any]]:
    found = find_tau2()
    return found.tasks("mock") if found is not None else []


def beforehand(task: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The calls of the agent's tools that bring about the state in which a task begins."""
    start = task.get("initial_state") or {}
    actions = start.get("initialization_actions") or ()
    calls = [(one["func_name"], one["arguments"]) for one in actions if one["func_name"] != "add_notification"]
    for message in start.get("message_history") or ():
        calls.extend((call["name"], call["arguments"]) for call in message.get("tool_calls") or ())
    data = (start.get("initialization_data") or {}).get("agent_data") or {}
    for made in data.get("tasks", {}).values():
        (owner,) = data["users"]
        calls.append(("create_task", {"user_id": owner, "title": made["title"], "description": made["description"]}))
    return calls


def notified(task: dict[str, Any]) -> list[dict[str, Any]]:
    """What is put into the inbox before a task begins."""
    actions = (task.get("initial_state") or {}).get("initialization_actions") or ()
    return [one["arguments"] for one in actions if one["func_name"] == "add_notification"]


def state_of_ours(episode: Episode) -> dict[str, Any]:
    """The state as tau2 has it: documents by key."""
    rows = episode.state()
    return {
        "tasks": {row["task_id"]: dict(row) for row in rows["tasks"]},
        "users": {row["user_id"]: dict(row) for row in rows["users"]},
    }


def world_with(tau2: Tau2, added: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The world of ours that is theirs: the sources have an inbox of the user, which the package has not."""
    inbox = tau2.domains / "mock" / "user_db.json"
    if not inbox.exists():
        return "tau2"
    content = json.loads(inbox.read_text(encoding="utf-8"))
    content["notifications"].update({one["notification_id"]: {"status": "unread", **one} for one in added})
    (tmp_path / "inbox.json").write_text(json.dumps(content), encoding="utf-8")
    monkeypatch.setenv("TAU2_INBOX", str(tmp_path / "inbox.json"))
    return "tau2_with_inbox"


@pytest.mark.parametrize("task", tasks(), ids=lambda task: str(task["id"]))
def test_a_gold_plan(
    task: dict[str, Any], tau2: Tau2, referee: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = notified(task)
    world, ours, theirs = world_with(tau2, added, tmp_path, monkeypatch), tau2.ours("mock"), referee.get_environment()
    for one in added:
        theirs.user_tools.add_notification(**one)
    episode = ours.reset(world)
    for tool, arguments in [*beforehand(task), *gold(task)]:
        verdict = judged(theirs, ours, episode, tool, arguments)
        assert verdict.agrees and verdict.ours[0] == "ok", verdict
    assert state_of(theirs) == state_of_ours(episode)


def test_random_calls(referee: Any, ours: Environment) -> None:
    chance = random.Random(0)
    theirs, episode = referee.get_environment(), ours.reset("tau2")

    def drawn(tool: str) -> dict[str, Any]:
        number = chance.randint(0, 300)
        if tool == "create_task":
            user = chance.choice(("user_1", "user_1", "user_2", chance.choice(TEXTS)))
            given = {"user_id": user, "title": chance.choice(TEXTS)}
            return {**given, "description": chance.choice(TEXTS)} if chance.random() < 0.5 else given
        if tool == "update_task_status":
            return {"task_id": f"task_{number}", "status": chance.choice(("pending", "completed"))}
        return {"summary": chance.choice(TEXTS)} if tool == "transfer_to_human_agents" else {}

    tools = [tool.name for tool in theirs.get_tools()]
    assert set(tools) == {tool.name for tool in ours.tools.values() if tool.side == "agent"}
    ends = set()
    # the lists of tasks grow: begin again before they are long
    for _ in range(CALLS // 100):
        theirs, episode = referee.get_environment(), ours.reset("tau2")
        drawn_tools = tools * 100
        chance.shuffle(drawn_tools)
        for tool in drawn_tools:
            verdict = judged(theirs, ours, episode, tool, drawn(tool))
            assert verdict.agrees, verdict
            ends.add((tool, verdict.ours[0]))
        assert state_of(theirs) == state_of_ours(episode)
    assert {("create_task", "error"), ("update_task_status", "error")} < ends
    assert {(tool, "ok") for tool in tools} < ends


def test_the_users_side(tau2: Tau2, referee: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = world_with(tau2, [], tmp_path, monkeypatch)
    if world == "tau2":
        pytest.skip("the package of tau2-bench has no tools of the user; TAU2_SOURCE can name a checkout")
    ours, theirs = tau2.ours("mock"), referee.get_environment()
    episode = ours.reset(world)
    keys = sorted(json.loads(theirs.user_tools.db.model_dump_json())["notifications"])
    assert keys
    for tool, arguments in (
        ("check_notifications", {}),
        ("dismiss_notification", {"notification_id": "none"}),
        *(("dismiss_notification", {"notification_id": key}) for key in keys),
        ("check_notifications", {}),
    ):
        verdict = judged(theirs, ours, episode, tool, arguments)
        assert verdict.agrees, verdict
