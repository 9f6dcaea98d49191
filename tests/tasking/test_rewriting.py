"""Other words by a model: taken where they say the same, left where they do not, whatever the endpoint answers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from forgec.commands.tasks_command import command
from tests.rollouts.server import Server

SPECS = Path(__file__).parents[2] / "specs"
COUNT = 7


@pytest.fixture
def mock(tmp_path: Path) -> Path:
    shutil.copy(SPECS / "mock.afs", tmp_path)
    return tmp_path / "mock.afs"


def make(spec: Path, *options: str) -> Any:
    return CliRunner().invoke(command, [str(spec), "--count", str(COUNT), "--seed", "1", "--json", *options])


def through(spec: Path, server: Server, *options: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What the report says of words, and the tasks."""
    given = ("--llm", "poet", "--base-url", server.url, "--retries", "0", "--out", str(spec.with_suffix(".jsonl")))
    result = make(spec, *given, *options)
    assert result.exit_code == 0, result.output
    lines = spec.with_suffix(".jsonl").read_text().splitlines()
    return json.loads(result.stdout)["words"], [json.loads(line) for line in lines]


def asked(body: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(body["messages"][1]["content"])
    return found


def other(text: str) -> str:
    """The same in other words."""
    return text.replace("You want them to", "What you would like is for them to").replace("You are", "You're called")


def poet(body: dict[str, Any]) -> str:
    old = asked(body)
    new = {"intent": old["intent"] + " You are in no hurry.", "requests": [other(text) for text in old["requests"]]}
    return f"Of course!\n```json\n{json.dumps(new)}\n```"


def templates(spec: Path) -> list[dict[str, Any]]:
    out = spec.with_name("templates.jsonl")
    assert make(spec, "--out", str(out)).exit_code == 0
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_what_says_the_same_is_taken_and_nothing_else_changes(mock: Path) -> None:
    with Server(poet) as server:
        words, lines = through(mock, server)
    assert words["changed"] == COUNT and not words["kept"] and words["requests"] == COUNT
    for old, new in zip(templates(mock), lines, strict=True):
        assert new["intent"].endswith("in no hurry.") and "reworded" in new["tags"]
        assert [one["text"] for one in new["requests"]] == [other(one["text"]) for one in old["requests"]]
        for part in ("name", "plan", "facts", "world"):
            assert new[part] == old[part]
        assert new.get("says") == old.get("says")


def without_names(old: dict[str, Any]) -> dict[str, Any]:
    return {"intent": "You need help.", "requests": old["requests"]}


def more(old: dict[str, Any]) -> dict[str, Any]:
    return {**old, "requests": [text + " And pay the 17 euros you owe." for text in old["requests"]]}


def tool(old: dict[str, Any]) -> dict[str, Any]:
    return {**old, "requests": [text + " They have create_task for you." for text in old["requests"]]}


def leaking(old: dict[str, Any]) -> dict[str, Any]:
    return {**old, "requests": [text + " It will be task_4 for you." for text in old["requests"]]}


def denying(old: dict[str, Any]) -> dict[str, Any]:
    return {**old, "requests": [text.replace("You want", "You don't want") for text in old["requests"]]}


def fewer(old: dict[str, Any]) -> dict[str, Any]:
    return {**old, "requests": old["requests"][1:]}


def test_what_says_anything_else_is_left(mock: Path) -> None:
    wrong = [without_names, more, tool, leaking, fewer, denying, lambda old: {"intent": 5}]
    kinds: dict[str, Any] = {}

    def brain(body: dict[str, Any]) -> str:
        old = asked(body)
        make_wrong = kinds.setdefault(json.dumps(old), wrong[len(kinds) % len(wrong)])
        return json.dumps(make_wrong(old))

    with Server(brain) as server:
        words, lines = through(mock, server)
    assert words["changed"] == 0 and sum(words["kept"].values()) == COUNT == len(wrong)
    named = {"a fact lost", "a new demand", "a tool named", "another number of requests", "unreadable", "a denial"}
    assert set(words["kept"]) - {"given away"} == named
    assert lines == templates(mock)
    assert words["requests"] == 2 * COUNT  # each is told what was wrong, and asked once more


def test_a_model_that_mends_its_words_is_heard(mock: Path) -> None:
    def brain(body: dict[str, Any]) -> str:
        return poet(body) if len(body["messages"]) > 2 else "I would rather not."

    with Server(brain) as server:
        words, _ = through(mock, server)
        assert any("That will not do: unreadable" in str(body["messages"][-1]["content"]) for body in server.seen)
    assert words["changed"] == COUNT


def test_answers_on_file_are_not_asked_for_again(mock: Path) -> None:
    record = str(mock.with_name("words.traffic"))
    with Server(poet) as server:
        _, first = through(mock, server, "--record", record)
        assert len(server.seen) == COUNT
        again, second = through(mock, server, "--record", record)
        assert len(server.seen) == COUNT
    assert again["changed"] == COUNT and first == second


def test_an_endpoint_that_is_not_there_costs_the_words_alone(mock: Path) -> None:
    with Server(poet, trouble=lambda number: "500") as server:
        words, lines = through(mock, server)
    assert words["changed"] == 0 and words["kept"] == {"no answer": COUNT}
    assert lines == templates(mock)
