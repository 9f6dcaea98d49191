"""Ctrl-C, and a terminal that is told how far it is: `forgec compile` of many specs, as a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from forgec.commands import forgec
from forgec.commands.compiling import FEW

pytestmark = pytest.mark.skipif(not hasattr(os, "openpty"), reason="there are no terminals and process groups here")

SPEC = """
environment {name} {{}}
table lamps {{ lamp_id text key, }}
tool lamp(lamp_id -> lamps) returns lamps "A lamp." {{ return lamps[$lamp_id]; }}
world monday {{ lamps (lamp_id) values ('L1'); }}
"""


def specs(folder: Path, count: int) -> list[str]:
    names = [f"shop{number}" for number in range(count)]
    for name in names:
        (folder / f"{name}.afs").write_text(SPEC.format(name=name), encoding="utf-8")
    return [f"{name}.afs" for name in names]


def wait_until_gone(group: int) -> None:
    """Until no process of a group is left."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError("a process goes on")


@pytest.mark.parametrize("delay", [0.4, 1.2])
def test_an_interrupt_ends_all_processes_without_a_word(tmp_path: Path, delay: float) -> None:
    command = [sys.executable, "-m", "forgec", "compile", *specs(tmp_path, 15 * FEW)]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background job ignores it
    )
    try:
        time.sleep(delay)
        os.killpg(process.pid, signal.SIGINT)
        told = process.communicate(timeout=60)[1]
        wait_until_gone(process.pid)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert told == "\nAborted!\n"
    assert process.returncode in (1, -signal.SIGINT)
    assert not (tmp_path / "generated").exists()


def test_what_an_interrupted_run_wrote_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (name,) = specs(tmp_path, 1)
    folder = tmp_path / "generated" / "shop0"
    assert CliRunner().invoke(forgec, ["compile", name]).exit_code == 0
    whole = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    (folder / "manifest.json").unlink()  # it is written last
    (folder / "schema.py").unlink()
    assert CliRunner().invoke(forgec, ["compile", name]).exit_code == 0
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == whole
    (folder / "manifest.json").unlink()
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    refused = CliRunner().invoke(forgec, ["compile", name])
    assert (refused.exit_code, "generated/shop0" in refused.stderr) == (1, True)
    assert not (folder / "manifest.json").exists()


def test_a_terminal_is_told_how_far_it_is(tmp_path: Path) -> None:
    script = "from forgec.commands import compiling; compiling.PATIENCE = 0; from forgec.__main__ import main; main()"
    ours, theirs = os.openpty()
    command = [sys.executable, "-c", script, "compile", *specs(tmp_path, 3)]
    done = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, text=True, check=True)
    os.close(theirs)
    assert os.read(ours, 10_000).decode() == "\rcompiled 1 of 3\rcompiled 2 of 3\r\x1b[K"
    os.close(ours)
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["shop0.afs", "shop1.afs", "shop2.afs"]
