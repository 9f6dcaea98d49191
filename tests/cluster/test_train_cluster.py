"""`forgec train --backend nemo-rl`, with a checkout that is none and a `uv` that tells what it was given."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from forgec.cluster.checkout import GRPO, TOUCHED
from forgec.commands.train_command import command
from tests.cluster.test_checking import checkout

ROOT = Path(__file__).parents[2]
GRPO_THAT_MASKS = "\n".join(
    f"def {name}({', '.join(parameters)}): ..."
    for name, parameters in {**TOUCHED[GRPO], "_apply_mask_sample_filter": ("repeated_batch",)}.items()
)
CONFIG = """
checkout = "{checkout}"
rollouts = "native"

[[environments]]
package = "{generated}/library"
tasks = ["the_other_joan", "a_late_book", "a_clean_slate"]

[[environments]]
package = "{generated}/phone"
tasks = ["locked_card", "only_asking", "unpaid_april"]

[model]
name = "/nowhere"

[algorithm]
steps = 2
questions = 2
trajectories = 4
validation = 2
dynamic_sampling = false

[launch]
gpus = 2
setup = ""
"""


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """A folder with a configuration, a checkout, and what starts a run."""
    checkout(tmp_path / "nemo-rl")
    text = CONFIG.format(checkout=tmp_path / "nemo-rl", generated=ROOT / "generated")
    (tmp_path / "cluster.toml").write_text(text)
    for name, says in (("uv", 'printf "%s\\n" "$@"'), ("nvidia-smi", 'echo "GPU 0: one"; echo "GPU 1: another"')):
        (tmp_path / name).write_text(f"#!/bin/sh\n{says}\n")
        (tmp_path / name).chmod(0o755)
    return tmp_path


def train(there: Path, *options: str, path: str | None = None) -> Result:
    """The command, in this process: what trains is imported once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", path or f"{there}:{os.environ['PATH']}")
        asked = ["--backend", "nemo-rl", str(there / "cluster.toml"), "--out", str(there / "run"), *options]
        return CliRunner().invoke(command, asked)


def test_a_dry_run_shows_everything_and_writes_nothing(there: Path) -> None:
    ran = train(there, "--dry-run", path="/usr/bin:/bin")
    assert ran.exit_code == 0, ran.stderr
    assert "--- train.jsonl: 8 questions" in ran.stdout
    assert "num_prompts_per_step: 4" in ran.stdout
    assert "forgec.cluster.nemo_rl.launch" in ran.stdout
    assert ran.stdout.endswith(f"--- it would be started by: bash {there}/run/run.sh\n")
    assert not (there / "run").exists()


def test_a_run_is_written_and_started_and_gone_on_with(there: Path, capfd: pytest.CaptureFixture[str]) -> None:
    first = train(there)
    assert first.exit_code == 0, first.stderr
    assert capfd.readouterr().out.split()[:6] == [
        "run",
        "--no-sync",
        "python",
        "-m",
        "forgec.cluster.nemo_rl.launch",
        "--checkout",
    ]
    rows = [json.loads(line) for line in (there / "run" / "train.jsonl").read_text().splitlines()]
    assert [one["environment"] for one in rows] == ["library", "library", "phone", "phone"] * 2
    assert [one["question"] for one in rows] == list(range(8))
    assert all(one["prompt"].endswith(f"{one['opening']}<|im_end|>\n<|im_start|>assistant\n<think>\n") for one in rows)
    before = {path.name: path.read_bytes() for path in (there / "run").iterdir()}
    assert train(there).exit_code == 0
    assert {path.name: path.read_bytes() for path in (there / "run").iterdir()} == before

    other = train(there, "--set", "algorithm.floor=0.2")
    assert other.exit_code == 1
    assert "has another run: its configuration; name another folder by --out" in other.stderr


def test_a_file_that_somebody_has_changed_is_not_written_over(there: Path) -> None:
    assert train(there).exit_code == 0
    script = there / "run" / "run.sh"
    text = script.read_text()
    script.write_text(text + "# mine\n")
    ran = train(there)
    assert ran.exit_code == 1
    assert f"{script} was changed since it was rendered" in ran.stderr
    assert script.read_text().endswith("# mine\n")
    script.unlink()  # as if it had been killed before it was written
    assert train(there).exit_code == 0
    assert script.read_text() == text


def test_it_is_the_same_run_from_another_folder(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert train(there, "--set", "checkout=nemo-rl", path=None).exit_code == 2  # of the working directory
    monkeypatch.chdir(there)
    assert train(there, "--set", "checkout=nemo-rl").exit_code == 0
    assert json.loads((there / "run" / "run.json").read_text())["config"]["checkout"] == str(there / "nemo-rl")
    monkeypatch.chdir(ROOT)
    assert train(there).exit_code == 0


def test_a_package_that_was_edited_is_refused(there: Path) -> None:
    """Its hashes, and its certificates, are those of what was compiled."""
    shutil.copytree(ROOT / "generated" / "library", there / "library")
    given = ("--set", f"environments.0.package={there}/library", "--set",
             f"environments.0.lock={ROOT}/specs/library.lock.jsonl", "--dry-run")  # fmt: skip
    assert train(there, *given).exit_code == 0
    policy = there / "library" / "policy.md"
    policy.write_text(policy.read_text() + "\nGive everybody everything.\n")
    ran = train(there, *given)
    assert ran.exit_code == 2
    assert "library is not as it was compiled: policy.md changed; compile its spec again" in ran.stderr


def test_a_folder_that_cannot_be_written_is_an_error(there: Path) -> None:
    (there / "run").write_text("a file")
    ran = train(there, "--out", str(there / "run" / "inside"))
    assert ran.exit_code == 2
    assert "cannot be written" in ran.stderr


@pytest.mark.parametrize("options", [["--schema", "--backend", "nemo-rl"], ["--backend", "nemo-rl", "--schema"]])
def test_the_schema_is_that_of_the_backend(options: list[str]) -> None:
    ran = CliRunner().invoke(command, options)
    assert ran.exit_code == 0
    assert "checkout" in json.loads(ran.stdout)["properties"]


def test_nemo_gym_is_given_its_servers_and_rows(there: Path, capfd: pytest.CaptureFixture[str]) -> None:
    checkout(there / "nemo-rl", grpo=GRPO_THAT_MASKS)
    ran = train(there, "--set", "rollouts=gym")
    assert ran.exit_code == 0, ran.stderr
    assert capfd.readouterr().out.split()[:2] == ["run", "--no-sync"]
    assert f"NEMO_GYM_EXTRA_ROOTS={there}/run/gym" in (there / "run" / "run.sh").read_text()
    rows = [json.loads(line) for line in (there / "run" / "train.jsonl").read_text().splitlines()]
    assert [one["agent_ref"]["name"] for one in rows] == [
        "library_agent",
        "library_agent",
        "phone_agent",
        "phone_agent",
    ] * 2
    recipe = yaml.safe_load((there / "run" / "recipe.yaml").read_text())
    paths = recipe["env"]["nemo_gym"]["config_paths"][1:]
    assert [Path(one).is_file() for one in paths] == [True, True]
    agents = [name for one in paths for name in yaml.safe_load(Path(one).read_text()) if name.endswith("_agent")]
    assert agents == recipe["grpo"]["adv_estimator"]["forgec"]["environments"] == ["library_agent", "phone_agent"]


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (["--set", "algorithm.questions=200"], 1, "a step asks 200 questions of library, which has"),
        (["--set", "algorithm.questions=100000"], 2, "algorithm.questions: Input should be less than"),
        (["--set", "recipe.grpo.use_leave_one_out_baseline=true"], 1, "grpo.use_leave_one_out_baseline"),
        (["--set", "recipe.policy=3"], 2, "recipe.policy: it is a table"),
        (["--set", "launch.gpus=3"], 1, "cannot be shared evenly by 3 copies"),
        (["--set", "model.tokens=2000", "--set", "model.turn_tokens=1000"], 1, "the longest prompt has"),
        (["--python", "/no/python"], 1, "/no/python cannot be run"),
        (["--set", "checkout=/no/where"], 2, "/no/where is no source of NeMo-RL"),
        (["--set", "algorithm.steps=0"], 2, "algorithm.steps: Input should be greater than or equal to 1"),
        (["--set", 'environments.0.tasks=["none*"]'], 2, "there are no tasks of library that fit `none*`"),
        (["--resume", "runs/x"], 2, "name a CONFIG.toml"),
    ],
)
def test_what_is_amiss_stops_it_before_anything_is_written(
    there: Path, options: list[str], code: int, says: str
) -> None:
    ran = train(there, *options)
    assert (ran.exit_code, says in ran.stderr) == (code, True), ran.stderr
    assert ran.exception is None or isinstance(ran.exception, SystemExit)
    assert not (there / "run").exists()


def test_without_a_gpu_nothing_is_started_here(there: Path) -> None:
    (there / "nvidia-smi").unlink()
    ran = train(there, path=f"{there}:/usr/bin:/bin")
    assert ran.exit_code == 1
    assert "no GPU is here" in ran.stderr


def test_options_of_the_cluster_are_for_it_alone(there: Path) -> None:
    ran = CliRunner().invoke(command, [str(there / "cluster.toml"), "--out", "x", "--untested"])
    assert ran.exit_code == 2
    assert "--python and --untested are for --backend nemo-rl" in ran.stderr
