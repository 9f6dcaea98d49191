"""`forgec train` and `forgec report` as they are typed."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from forgec.commands import forgec
from forgec.dialogue import Utterance
from forgec.llm.errors import Unavailable
from forgec.training import checkpoints, run
from forgec.training.config import RunConfig
from forgec.training.episodes import Played
from forgec.training.learner import Learner, NotANumber
from forgec.users.scripted import ScriptedUser

TOML = """
longest_turn = 8
checkpoint_every = 1
environments = [{ package = "generated/phone", tasks = ["while_it_lasts"] }]
policy = { width = 32, layers = 1, heads = 2, kv_heads = 1, feed_forward = 32, context = 768 }
tokenizer = { size = 300, trajectories = 2 }
imitation = { gate = 0.0, most_steps = 2, batch = 2, pool = 2, every = 2, episodes = 1 }
reinforcement = { steps = 1, questions = 2, trajectories = 2, dynamic_sampling = false }
evaluation = { episodes = 1, final = 2 }
control = { steps = 1 }
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "phone.toml"
    path.write_text(TOML)
    return path


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(forgec, [str(one) for one in arguments])


def refused(result: Result, code: int, *texts: str) -> None:
    assert result.exit_code == code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert all(text in result.output for text in texts), result.output


def test_a_run_is_trained_drawn_and_not_begun_twice(config: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    trained = invoke("train", config, "--out", out, "--set", "seed=4")
    assert trained.exit_code == 0 and "success on held out tasks: phone" in trained.stderr
    assert "phone, held out" in trained.stdout and "nothing else" in trained.stdout
    assert json.loads((out / "run.json").read_text())["config"]["seed"] == 4
    drawn = invoke("report", out)
    assert drawn.exit_code == 0
    page = (out / "report" / "report.html").read_text()
    assert "phone/while_it_lasts" in page and page.count("<svg") == 2
    assert not any(text in page for text in ("src=", "<link", "<script", 'href="http', "url(http"))
    assert (out / "report" / "success-phone.png").read_bytes().startswith(b"\x89PNG")
    refused(invoke("train", config, "--out", out), 2, "go on with --resume")
    for damage, text in ((b"{\n", ":1 is no JSON"), (b'{"what": "step"}\n', "damaged, or of another version")):
        copy = tmp_path / "damaged"
        copy.mkdir(exist_ok=True)
        (copy / "run.json").write_bytes((out / "run.json").read_bytes())
        (copy / "metrics.jsonl").write_bytes(damage)
        refused(invoke("report", copy), 2, text)
    assert invoke("train", "--resume", out).exit_code == 0


def test_a_dry_run_tells_all_and_writes_nothing(config: Path, tmp_path: Path) -> None:
    result = invoke("train", config, "--dry-run")
    assert result.exit_code == 0
    for text in ("while_it_lasts", "1 steps of 4 episodes", '"scale": "environment"', '"grading"', '"longest_turn": 8'):
        assert text in result.output
    assert [path.name for path in tmp_path.iterdir()] == ["phone.toml"]


@pytest.mark.parametrize(
    ("override", "texts"),
    [
        ("reinforcement.questions=1", ("reinforcement.questions", "greater than or equal to 2")),
        ("polciy.width=64", ("polciy", "Extra inputs")),
        ("policy.width=33", ("policy", "width must be an even multiple of heads")),
        ("reinforcement.estimator=ppo", ("reinforcement.estimator", "erpo")),
        ("seed", ("sets nothing",)),
        ("environments.0.tasks=[]", ("environments.0.tasks",)),
        ('environments.0.tasks=["tag:practise"]', ("no tasks of phone that fit `tag:practise`",)),
        ('environments.0.package="generated/nowhere"', ("generated/nowhere",)),
        ("limits.seconds=5", ("limits", "would make runs differ")),
        ("environments.7.tasks=1", ("there is no such place",)),
    ],
)
def test_a_mistake_in_the_configuration_is_told(override: str, texts: tuple[str, ...], config: Path) -> None:
    refused(invoke("train", config, "--dry-run", "--set", override), 2, *texts)


@pytest.mark.parametrize("content", ["", "x = [", "environments = 3", "\x00"])
def test_a_file_that_is_no_configuration_is_told(content: str, config: Path) -> None:
    config.write_text(content)
    refused(invoke("train", config, "--dry-run"), 2, "phone.toml")


def test_usage(config: Path, tmp_path: Path) -> None:
    refused(invoke("train"), 2, "CONFIG.toml")
    refused(invoke("train", config), 2, "--out")
    refused(invoke("train", "--resume", tmp_path, "--set", "seed=1"), 2, "as it was begun")
    refused(invoke("train", "--resume", tmp_path), 2, "there is no run in")
    refused(invoke("train", tmp_path / "nowhere.toml", "--dry-run"), 2, "cannot be read")
    refused(invoke("report", tmp_path), 2, "there is no run in")


def test_tasks_that_are_not_certified_are_refused(config: Path, tmp_path: Path) -> None:
    lock = f'environments.0.lock="{tmp_path / "phone.lock.jsonl"}"'
    refused(
        invoke("train", config, "--dry-run", "--set", lock), 2, "while_it_lasts is not certified", "--allow-uncertified"
    )
    assert invoke("train", config, "--dry-run", "--set", lock, "--allow-uncertified").exit_code == 0
    line = Path("specs/phone.lock.jsonl").read_text().splitlines()
    stale = [json.loads(one) for one in line if "while_it_lasts" in one]
    stale[0]["hashes"]["grading"] = "0" * 64
    (tmp_path / "phone.lock.jsonl").write_text(json.dumps(stale[0]) + "\n")
    refused(invoke("train", config, "--dry-run", "--set", lock), 2, "stale: grading changed")


def test_what_has_changed_since_a_run_began_stops_it(config: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert invoke("train", config, "--out", out).exit_code == 0
    record = json.loads((out / "run.json").read_text())
    record["packages"]["phone"]["tasks"]["while_it_lasts"] = "another"
    (out / "run.json").write_text(json.dumps(record))
    refused(invoke("train", "--resume", out), 1, "task while_it_lasts of phone", "begin a new run")


def test_a_full_disk_is_told_and_loses_nothing(config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, save = tmp_path / "run", checkpoints.save

    def full(folder: Path, state: checkpoints.State, learner: Learner) -> None:
        if state.phase == "control":
            raise OSError(errno.ENOSPC, "No space left on device")
        save(folder, state, learner)

    monkeypatch.setattr(checkpoints, "save", full)
    refused(invoke("train", config, "--out", out), 1, "No space left on device", "--resume")
    monkeypatch.undo()
    assert invoke("train", "--resume", out).exit_code == 0


def test_a_loss_that_is_no_number_is_told(config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: Any, **options: Any) -> dict[str, Any]:
        raise NotANumber("the loss is nan, the gradient nan long")

    monkeypatch.setattr(Learner, "reinforce", broken)
    refused(invoke("train", config, "--out", tmp_path / "run"), 1, "the loss is nan", "step 1 of reinforcement")


def test_a_run_without_anything_to_learn_from_stops(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All worth the same, then all masked, then nobody there to talk to: what was done stays."""
    monkeypatch.setattr(run, "MOST_BARREN", 2)
    options = ("--set", "reinforcement.dynamic_sampling=true", "--set", "reinforcement.steps=5")
    out = tmp_path / "run"
    refused(invoke("train", config, "--out", out, *options), 1, "nothing could be learned in 2 steps")
    assert (out / "imitated" / "model.safetensors").exists()
    monkeypatch.setattr(Played, "masked", True)
    refused(invoke("train", "--resume", out), 1, "all trajectories of phone are masked", "nothing could be learned")

    async def dead(self: ScriptedUser) -> Utterance:
        raise Unavailable("nobody answers at http://127.0.0.1:9")

    monkeypatch.setattr(ScriptedUser, "open", dead)
    refused(
        invoke("train", "--resume", out), 1, "12 episodes could not be played: nobody answers at http://127.0.0.1:9"
    )


def test_some_limits_can_be_set_and_the_others_stay() -> None:
    config = RunConfig.model_validate({"environments": [{"package": "generated/phone"}], "limits": {"turns": 6}})
    assert (config.limits.turns, config.limits.silent, config.limits.seconds) == (6, 2, None)


def test_the_lock_beside_the_spec_is_found_wherever_that_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lamps.afs").write_text("""
environment lamps "Lamps" {}
table lamps { lamp_id text key, lit boolean default false }
tool light(lamp_id -> lamps) returns text "Light a lamp." {
  update lamps set lit = true where lamp_id = $lamp_id;
  reply "Lit";
}
world evening { lamps (lamp_id) values ('L1'), ('L2'); }
task one_lamp on evening {
  intent "You want light.";
  fact lamp "which lamp" = 'L2';
  plan { l = light(lamp_id: $lamp); }
}
""")
    Path("lamps.toml").write_text('[[environments]]\npackage = "generated/lamps"\n')
    assert invoke("compile", "lamps.afs").exit_code == 0
    refused(invoke("train", "lamps.toml", "--dry-run"), 2, "one_lamp is not certified")
    assert invoke("certify", "lamps.afs").exit_code == 0
    assert invoke("train", "lamps.toml", "--dry-run").exit_code == 0
    Path("lamps.afs").unlink()
    refused(invoke("train", "lamps.toml", "--dry-run"), 2, "its spec is not found")
