"""What docs/rollouts.md says is so."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from forgec.rollouts.agents.python_function import FunctionPlayer
from forgec.rollouts.limits import Limits
from forgec.rollouts.players import AGENT_NAMES, USER_NAMES
from forgec.rollouts.trajectory import End
from tests.markdown import blocks, read, table_rows
from tests.rollouts.playing import environment, play

DOCS = Path(__file__).parents[2] / "docs" / "rollouts.md"
TEXT = read(DOCS)
PROGRAMS = [block for block in blocks(TEXT) if block.language == "python"]


def test_the_function_plays() -> None:
    defined: dict[str, object] = {}
    exec(compile(PROGRAMS[0].text, DOCS, "exec"), defined)
    act = defined["act"]
    assert callable(act)
    (played,) = play(environment(), lambda part: FunctionPlayer(act), ["keep_what_can_be_kept"])
    assert {message.kind for message in played.messages if message.role == "tool"} == {"ok"}


def test_the_program_prints_what_is_shown(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DOCS.parents[1])
    exec(compile(PROGRAMS[1].text, DOCS, "exec"), {})
    (shown,) = [block.text for block in blocks(TEXT) if block.language == "output"]
    assert capsys.readouterr().out == shown


def test_the_limits_are_those_of_the_loop() -> None:
    told = [row[1].replace(",", "") for row in table_rows(TEXT, "limit")]
    limits = Limits()
    values = (limits.turns, limits.calls, limits.tokens, limits.seconds, limits.silent, "its endpoint says",
              limits.message_calls, limits.arguments, limits.message_text, limits.user_calls)  # fmt: skip
    assert told == [
        "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value) for value in values
    ]


def test_all_ends_and_all_players_are_named() -> None:
    assert [end for end in get_args(End) if f"`{end}`" not in TEXT] == []
    named = {row[0].strip("`").replace(":FILE", "").replace(":MODEL", "") for row in table_rows(TEXT, "name")}
    for names in (AGENT_NAMES, USER_NAMES):
        told = names.replace("or ", "").replace(":FILE", "").replace(":MODEL", "").split(", ")
        assert set(told) <= named
