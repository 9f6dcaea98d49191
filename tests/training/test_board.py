"""What TensorBoard is told of a run is what its metrics say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forgec.training import board
from forgec.training.checkpoints import Metrics
from forgec.training.config import ConfigError, EnvironmentPart, RunConfig
from forgec.training.opening import open_environments

STEP = {"phase": "reinforcement", "step": 3, "what": "step", "environments": {"phone": {"reward": 0.5, "scale": None}}}
LOOK = {
    "phase": "control",
    "step": 7,
    "what": "evaluation",
    "split": "held_out",
    "environments": {"phone": {"success": 1}},
}


def test_every_number_has_a_tag() -> None:
    assert [*board.scalars(STEP | {"loss": 0.25, "alarms": ["low"], "times": {"cpu": 2}})] == [
        ("reinforcement/phone/reward", 0.5), ("reinforcement/loss", 0.25), ("reinforcement/times/cpu", 2.0)
    ]  # fmt: skip
    assert [*board.scalars(LOOK)] == [("control/held_out/phone/success", 1.0)]


def test_the_board_of_a_run_that_is_gone_on_with_has_every_step_once(tmp_path: Path) -> None:
    events = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator", reason="forgec[tensorboard] is not installed"
    )
    path, folder = tmp_path / "metrics.jsonl", tmp_path / "tensorboard"
    first = Metrics(path, (0, 0), board.Board(folder).add)
    for step in range(1, 6):
        first.add("reinforcement", step, "step", {"loss": step / 4})
    second = Metrics(path, (1, 3), board.Board(folder).add)  # killed after the checkpoint of step 3
    second.add("reinforcement", 4, "step", {"loss": 1.0})

    told = events.EventAccumulator(str(folder))
    told.Reload()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(one.step, one.value) for one in told.Scalars("reinforcement/loss")] == [
        (line["step"], line["loss"]) for line in lines
    ] == [(1, 0.25), (2, 0.5), (3, 0.75), (4, 1.0)]  # fmt: skip


def test_without_tensorboard_a_run_that_wants_it_does_not_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board, "find_spec", lambda name: None)
    config = RunConfig(tensorboard=True, environments=(EnvironmentPart(package=Path("generated/phone")),))
    with pytest.raises(ConfigError, match=r"pip install 'forgec\[tensorboard\]'"):
        open_environments(config)
