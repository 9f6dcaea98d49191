"""Runs of a tiny policy: the whole way, and again after being killed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forgec.training import checkpoints, opening
from forgec.training.config import RunConfig
from forgec.training.run import RunStopped, Training

PHONE = Path("generated/phone")
CONFIG: dict[str, Any] = {
    "environments": [{"package": str(PHONE), "tasks": ["while_it_lasts"]}],
    "allow_uncertified": True,
    "longest_turn": 8,
    "checkpoint_every": 2,
    "policy": {"width": 32, "layers": 1, "heads": 2, "kv_heads": 1, "feed_forward": 32, "context": 768},
    "tokenizer": {"size": 300, "trajectories": 2},
    "imitation": {"gate": 0.0, "most_steps": 9, "batch": 2, "pool": 4, "every": 1, "episodes": 1},
    "reinforcement": {"steps": 3, "questions": 2, "trajectories": 2, "every": 2, "dynamic_sampling": False},
    "evaluation": {"episodes": 1, "final": 1},
    "control": {"steps": 1},
}


def begun(folder: Path, **changes: Any) -> Training:
    config = RunConfig.model_validate({**CONFIG, **changes})
    opened = opening.open_environments(config)
    if not (folder / "run.json").exists():
        opening.begin(folder, opened)
    return Training(folder, config, opened.environments, opened.choices, opened.stage, lambda line: None)


def curve(folder: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{key: value for key, value in line.items() if key != "times"} for line in lines]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "undisturbed"
    begun(folder).play()
    return folder


def test_a_run_leaves_policies_metrics_and_transcripts(undisturbed: Path) -> None:
    names = {path.relative_to(undisturbed).as_posix() for path in undisturbed.rglob("*") if path.is_file()}
    assert {f"{name}/model.safetensors" for name in ("imitated", "trained", "control")} <= names
    assert {f"transcripts/{name}.jsonl" for name in ("before", "after", "control")} <= names
    steps = [(line["phase"], line["step"]) for line in curve(undisturbed) if line["what"] == "step"]
    assert steps == [
        *(("imitation", n) for n in (1, 2, 3, 4, 5)), *(("reinforcement", n) for n in (1, 2, 3)), ("control", 1)
    ]  # fmt: skip
    record = json.loads((undisturbed / "run.json").read_text())
    assert record["packages"]["phone"]["tasks"].keys() == {"while_it_lasts"}


class Killed(Exception):
    pass


@pytest.mark.parametrize("after", [1, 5, 8, 12])
def test_a_run_that_was_killed_comes_to_the_same_curve(
    after: int, undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "killed"
    training = begun(folder)
    written = iter(range(after))
    add = checkpoints.Metrics.add

    def dying(self: checkpoints.Metrics, *arguments: Any) -> None:
        if next(written, None) is None:
            with self.path.open("a") as file:
                file.write('{"phase": "imita')  # the line that was being written
            raise Killed
        add(self, *arguments)

    monkeypatch.setattr(checkpoints.Metrics, "add", dying)
    with pytest.raises(Killed):
        training.play()
    monkeypatch.undo()
    begun(folder).play()
    assert curve(folder) == curve(undisturbed)
    for name in ("trained", "control"):
        weights = Path(name) / "model.safetensors"
        assert (folder / weights).read_bytes() == (undisturbed / weights).read_bytes()


def test_an_environment_that_succeeds_is_shown_less_often_until_the_others_do(tmp_path: Path) -> None:
    environments = [
        {"package": "generated/phone", "tasks": ["while_it_lasts"]},
        {"package": "generated/library", "tasks": ["a_late_book"]},
    ]
    training = begun(tmp_path / "two", environments=environments, imitation={**CONFIG["imitation"], "batch": 20})
    seen: list[str] = []
    imitate = training.learner.imitate

    def watching(episodes: Any, observations: float) -> float:
        seen.extend(name for one in episodes for name, shown in (training._pool or {}).items() if one in shown)
        return imitate(episodes, observations)

    training.learner.imitate = watching  # type: ignore[method-assign, assignment]
    shares = []
    for resting in ((), ("phone",)):
        training.state.resting = resting
        seen.clear()
        for _ in range(5):
            training._imitate()
        shares.append(seen.count("phone") / len(seen))
    assert 0.35 < shares[0] < 0.65 and 0.08 < shares[1] < 0.32


def test_the_gate_asks_for_every_environment_and_every_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A task that never succeeds holds the imitation up, however well the others do."""
    looks = iter([(0.5, 0.0), (0.1, 0.1), (0.5, 0.1)])
    training = begun(tmp_path / "gate", imitation={**CONFIG["imitation"], "gate": 0.4, "errand": 0.05})
    monkeypatch.setattr(training, "_transcribe", lambda name: None)

    def evaluate(split: str, count: int) -> dict[str, Any]:
        success, worst = next(looks)
        return {"phone": {"success": success, "tasks": {"one": 2 * success - worst, "other": worst}}}

    monkeypatch.setattr(training, "evaluate", evaluate)
    training._imitation()
    assert (training.state.phase, next(looks, None)) == ("reinforcement", None)
    steps = [line["step"] for line in curve(tmp_path / "gate") if line["what"] == "step"]
    assert steps == list(range(1, 8)), "seldom looked at until something succeeds, then every step"


def test_gold_that_does_not_fit_into_the_context_is_told(tmp_path: Path) -> None:
    training = begun(tmp_path / "narrow", policy={**CONFIG["policy"], "context": 64})
    with pytest.raises(RunStopped, match=r"nothing to imitate in phone.*context"):
        training.play()
