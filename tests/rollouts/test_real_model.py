"""A real model plays, offline. It takes minutes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from forgec.commands import forgec
from forgec.rollouts.store import read
from tests.real_model import NEEDED, real_model
from tests.rollouts.playing import GENERATED, plain

pytestmark = NEEDED


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with real_model() as found:
        yield found


def test_a_real_model_plays(address: str, tmp_path: Path) -> None:
    environments = [str(GENERATED / "mock"), str(GENERATED / "library")]
    options = ["run", *environments, "--agent", "openai:smollm2", "--max-turns", "3", "--set", "max_tokens=40",
               "--task", "minutes_sent,another_matilda", "--trials", "2"]  # fmt: skip
    record, first, again = (str(tmp_path / name) for name in ("traffic.jsonl", "first.jsonl", "again.jsonl"))
    asking = ["--base-url", f"{address}/v1", "--record", record, "--out", first]
    result = CliRunner().invoke(forgec, [*options, *asking], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    played = list(read(Path(first)))
    assert len(played) == 4
    assert {one.end for one in played} <= {"satisfied", "turns", "silent"}
    for one in played:
        spent = one.usage["agent"]
        assert (spent.answers, spent.estimated_answers) == (one.turns, 0)
        assert spent.completion_tokens > 0
        assert any(message.role == "assistant" and message.content for message in one.messages)
    result = CliRunner().invoke(forgec, [*options, "--replay-from", record, "--out", again], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert plain(sorted(read(Path(again)), key=lambda one: one.key)) == plain(sorted(played, key=lambda one: one.key))
