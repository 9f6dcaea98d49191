"""`forgec play --as user`: a person types what the user says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from forgec.commands import forgec

LIBRARY = str(Path(__file__).parents[2] / "generated" / "library")
LINES = "A crime novel, please.\n.what\n.tools\nI am joan.moreno@example.org; Agatha Christie.\n.done Thanks!\n"


def play(*arguments: str, input: str = LINES) -> Result:
    return CliRunner().invoke(forgec, ["play", LIBRARY, *arguments], input=input)


def test_a_person_talks_to_an_agent() -> None:
    result = play("--as", "user", "--task", "either_of_two", "--agent", "gold")
    assert result.exit_code == 0, result.output
    assert "agent: Could you please tell me your e-mail address" in result.stdout
    assert "There are none." in result.stdout
    assert result.stdout.endswith("ended: satisfied\nreward: 1\n")


def test_the_trajectory_is_printed_as_json() -> None:
    result = play("--as", "user", "--task", "either_of_two", "--agent", "gold", "--json")
    trajectory = json.loads(result.stdout)
    assert (trajectory["user"], trajectory["end"], trajectory["reward"]) == ("person", "satisfied", 1.0)
    assert [fact["name"] for fact in trajectory["facts"]] == ["email", "author"]


def test_whoever_leaves_gives_up() -> None:
    result = play("--as", "user", "--task", "either_of_two", "--agent", "gold", input="A crime novel, please.\n")
    assert "ended: gave_up" in result.stdout
    assert "the user erred: early: it stops when it is asked for email, author" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--as", "user", "--task", "either_of_two"], "give --as user and --agent together"),
        (["--agent", "gold", "--task", "either_of_two"], "give --as user and --agent together"),
        (["--as", "user", "--agent", "gold"], "give --task"),
        (["--as", "user", "--agent", "gold", "--task", "either_of_to"], "did you mean `either_of_two`?"),
        (["--as", "user", "--agent", "golf", "--task", "either_of_two"], "there is no agent `golf`"),
    ],
)
def test_usage(arguments: list[str], error: str) -> None:
    result = play(*arguments)
    assert result.exit_code == 2
    assert error in result.stderr
