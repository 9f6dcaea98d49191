"""`forgec play` in the user's place: `.user` makes a call the user's."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner, Result

from forgec.commands import forgec
from forgec.playing.complete import Suggestions
from forgec.playing.session import Session
from forgec_runtime import load_environment

OVEN = Path(__file__).parent / "cases" / "sides" / "generated" / "oven"


def played(script: str, *options: str) -> Result:
    return CliRunner().invoke(forgec, ["play", str(OVEN), *options], input=dedent(script))


def test_a_person_plays_both_sides() -> None:
    script = """\
        .world morning
        .tools
        .user turn mode=bake degrees=200
        note what=rye
        .user put tray=upper bread=rye
        .undo
        .user turn mode=off degrees=20
        .user put(tray: 'upper', bread: 'rye')
        .history
        """
    result = played(script)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == dedent(
        """\
        > .world morning
        oven in world morning
        > .tools
        note(what text)
        close()
        .user look()
        .user turn(mode Mode, degrees integer default 180)
        .user put(tray -> trays, bread text)
        > .user turn mode=bake degrees=200
        "bake at 200"
        ~ oven: mode: off -> bake; degrees: 20 -> 200
        > note what=rye
        {"order_id": "O01", "what": "rye", "done": false}
        + orders O01: what rye, done false
        > .user put tray=upper bread=rye
        refused: That is hot
        > .undo
        undone: note what=rye
        - orders O01: what rye, done false
        > .user turn mode=off degrees=20
        "off at 20"
        ~ oven: mode: bake -> off; degrees: 200 -> 20
        > .user put(tray: 'upper', bread: 'rye')
        null
        ~ trays upper: bread: null -> rye
        > .history
        .world morning
        .user turn mode=bake degrees=200
        .user turn mode=off degrees=20
        .user put(tray: 'upper', bread: 'rye')
        """
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("turn mode=bake", "`turn` is a tool of the user: write `.user turn`"),
        (".user turm mode=bake", "the user has no tool `turm`; did you mean `turn`?"),
        (".user note what=rye", "the user has no tool `note`; `.tools` lists them"),
        (".user turn knob=1", "`turn` has no argument `knob`; it takes mode, degrees"),
    ],
)
def test_neither_side_calls_for_the_other(line: str, said: str) -> None:
    result = played(line)
    assert result.exit_code == 1
    assert f"error: {said}" in result.stdout


def test_a_call_of_the_user_is_told_to_programs_as_one() -> None:
    lines = played(".user look\n.user turn mode=off degrees=20\n", "--json").stdout.splitlines()
    assert [json.loads(line)["kind"] for line in lines[1:]] == ["ok", "refused"]


def test_the_gold_plan_shows_who_calls() -> None:
    result = played(".task rye_bread\n.gold all\n.reward\n")
    assert "order = note what=rye" in result.stdout
    assert "hot = .user turn mode=bake degrees=220" in result.stdout
    assert "reward 1" in result.stdout


def test_calls_of_the_user_are_completed() -> None:
    suggestions = Suggestions(Session(load_environment(OVEN), "morning"))

    def texts(line: str) -> list[str]:
        return [one.text for one in suggestions.after(line)]

    assert texts(".us") == [".user "]
    assert texts(".user ") == ["look", "turn ", "put "]
    assert texts(".user t") == ["turn "]
    assert texts(".user turn mode=b") == ["bake"]
    assert texts(".user put tray=") == ["lower", "upper"]
    assert texts("t") == []
