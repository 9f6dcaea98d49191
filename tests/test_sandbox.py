"""`forgec sandbox`, and `--require`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from forgec.commands import forgec
from forgec_runtime import Workers
from forgec_runtime.confining import landlock, seccomp
from forgec_runtime.confining.attempts import Attempt

LIBRARY = str(Path(__file__).parent.parent / "generated" / "library")
linux = pytest.mark.skipif(
    not landlock.version() or not seccomp.available(), reason="this kernel has no Landlock, or no seccomp filters"
)


@linux
def test_the_posture_is_reported() -> None:
    run = CliRunner().invoke(forgec, ["sandbox", "--require", "confined"])
    assert run.exit_code == 0, run.output
    assert run.output.startswith("posture: confined (Linux ")
    assert "    open a TCP socket: failed, Operation not permitted\n" in run.output
    assert "recovery   on: a killed worker was back in " in run.output and "WORKED" not in run.output


@linux
def test_the_posture_as_json() -> None:
    report = json.loads(CliRunner().invoke(forgec, ["sandbox", LIBRARY, "--json"]).output)
    assert report["posture"] == "confined" and report["required"] is None
    assert {one["layer"]: one["state"] for one in report["layers"]} == dict.fromkeys(
        ["variables", "files", "network", "processes", "memory", "time", "engine", "modules"], "on"
    )
    assert report["recovery"]["state"] == "on"


def test_less_than_required_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tried is stood in for: here all layers hold."""
    seen = [
        Attempt("files", "read a file of the system", False, "20 bytes"), Attempt("memory", "reserve", True, "no"),
    ]  # fmt: skip
    monkeypatch.setattr(Workers, "attempts", lambda self: seen)
    monkeypatch.setattr(Workers, "layers", {"files": "this kernel has no Landlock"})
    run = CliRunner().invoke(forgec, ["sandbox", "--require", "confined"])
    assert run.exit_code == 1
    assert "files      not available: this kernel has no Landlock\n  ! read a file of the system: WORKED" in run.output
    assert "workers are to be `confined`, and here they are only `limits`" in run.output
    assert CliRunner().invoke(forgec, ["sandbox", "--require", "limits"]).exit_code == 0


def test_what_cannot_be_loaded_is_told() -> None:
    run = CliRunner().invoke(forgec, ["sandbox", "nowhere"])
    assert run.exit_code == 2 and "there is no generated environment in generated/nowhere" in run.output


@linux
def test_episodes_are_played_in_confined_workers() -> None:
    arguments = ["run", LIBRARY, "--task", "settle_the_overdue", "--user", "scripted", "--require", "confined"]
    run = CliRunner().invoke(forgec, arguments)
    assert run.exit_code == 0 and "mean reward 1.000" in run.output


def test_episodes_are_not_played_in_less(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forgec_runtime.confining.posture.reached", lambda layers: "process")
    run = CliRunner().invoke(forgec, ["run", LIBRARY, "--require", "limits", "--user", "scripted"])
    assert run.exit_code == 2 and "workers are to be `limits`, and here they are only `process`" in run.output
