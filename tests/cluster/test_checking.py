"""What stops a run before a GPU is touched."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from forgec.cluster import checking
from forgec.cluster.checkout import TOUCHED, Checkout, CheckoutError
from forgec.cluster.recipe import recipe
from forgec.cluster.rows import Row
from forgec.training.choosing import Choice
from tests.cluster.recipes import CHECKOUT, config


def checkout(folder: Path, **changed: str) -> Path:
    """A folder with the files and functions that the plug-in touches; `changed` gives some files another text."""
    for name, functions in TOUCHED.items():
        text = "\n".join(f"def {one}({', '.join(parameters)}): ..." for one, parameters in functions.items())
        write(folder / name, changed.get(Path(name).stem, text))
    for name in ("nemo_rl/environments/interfaces.py", "examples/run_grpo.py", "examples/nemo_gym/run_grpo_nemo_gym.py",
                 "examples/configs/grpo_math_1B.yaml"):  # fmt: skip
        write(folder / name, "")
    return folder


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def made(**parts: Any) -> dict[str, Any]:
    asked = config(**parts)
    return recipe(asked, CHECKOUT, Path("/runs/one"), ["library", "phone"], validation=8)


def choices(tasks: int) -> dict[str, Choice]:
    names = tuple(f"task_{number}" for number in range(tasks))
    return {name: Choice(names, names, ()) for name in ("library", "phone")}


def test_a_checkout_that_is_known_has_no_differences(tmp_path: Path) -> None:
    found = Checkout.at(checkout(tmp_path))
    assert found == Checkout(tmp_path, masks=False, differences=())
    assert checking.of_checkout(config(), found, untested=False) == []


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckoutError, match="no source of NeMo-RL"):
        Checkout.at(tmp_path)


def test_the_empty_package_of_registries_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "nemo_rl" / "package_info.py", "MAJOR = 0")
    with pytest.raises(CheckoutError, match="the empty package that registries have under that name"):
        Checkout.at(tmp_path)


def test_a_version_that_is_not_known_stops_unless_it_is_wanted(tmp_path: Path) -> None:
    changed = checkout(tmp_path, grpo="def _create_advantage_estimator(config, rewards): ...")
    found = Checkout.at(changed)
    assert [one.split(" of ")[0] for one in found.differences] == ["_create_advantage_estimator", "dynamic_sampling"]
    assert all(one.stops for one in checking.of_checkout(config(), found, untested=False))
    assert not any(one.stops for one in checking.of_checkout(config(), found, untested=True))
    assert "takes (config, rewards); known is (master_config)" in found.differences[0]


def test_a_version_that_trains_on_what_gym_masks_stops_its_path_alone(tmp_path: Path) -> None:
    found = Checkout.at(checkout(tmp_path))
    (finding,) = checking.of_checkout(config(rollouts="gym"), found, untested=True)
    assert finding.stops and "masks" in finding.text


def test_too_few_tasks_for_a_step_stop(tmp_path: Path) -> None:
    asked = config(algorithm={"questions": 8}, launch={"gpus": 1})
    found = checking.of_batch(asked, choices(5), made(algorithm={"questions": 8}))
    assert [one.text.split(": ")[0] for one in found] == [
        f"a step asks 8 questions of {name}, which has 5 tasks to train on" for name in ("library", "phone")
    ]


@pytest.mark.parametrize(
    ("gpus", "tensor", "says"),
    [
        (8, 1, ""),
        (3, 1, "cannot be shared evenly by 3 copies"),
        (8, 3, "8 GPUs cannot be shared"),
        (6, 2, "by 3 copies"),
    ],
)
def test_a_batch_must_fit_the_gpus(gpus: int, tensor: int, says: str) -> None:
    parts: dict[str, Any] = {
        "algorithm": {"questions": 2, "trajectories": 8},
        "launch": {"gpus": gpus},
        "recipe": {"policy": {"dtensor_cfg": {"tensor_parallel_size": tensor}}},
    }
    found = checking.of_batch(config(**parts), choices(9), made(**parts))
    assert [says in one.text for one in found] == ([True] if says else [])


def test_our_template_keeps_what_was_thought() -> None:
    assert checking.of_template(made(rollouts="gym")) == []
    assert checking.of_template(made()) == []  # its own rollouts render nothing


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("{% for one in messages %}{{ one.content }}{% endfor %}", "drops what was thought"),
        ("{% for one in %}", "cannot be rendered"),
        (None, "the model's own is used"),
    ],
)
def test_a_template_that_drops_thoughts_stops(template: str | None, says: str) -> None:
    serving = {"http_server_serving_chat_kwargs": {"chat_template": template}}
    changed = made(rollouts="gym", recipe={"policy": {"generation": {"vllm_cfg": serving}}})
    (finding,) = checking.of_template(changed)
    assert finding.stops and says in finding.text


def row(task: str, prompt: str) -> Row:
    return Row(question=0, environment="library", task=task, seed=0, opening="Hello", prompt=prompt)


def test_questions_of_one_step_that_gym_could_not_tell_apart_stop() -> None:
    asked = config(rollouts="gym", algorithm={"questions": 2})
    rows = [row(f"task_{number}", f"prompt {number % 7}") for number in range(8)]
    assert checking.of_prompts(asked, rows) == []  # those with the same words are in two steps
    rows[6] = row("another", "prompt 5")
    (finding,) = checking.of_prompts(asked, rows)
    assert "task_5 and another begin with the same words" in finding.text
    assert checking.of_prompts(config(algorithm={"questions": 2}), rows) == []


def test_prompts_that_leave_no_room_stop() -> None:
    asked = config(model={"name": "/nowhere", "tokens": 1000, "turn_tokens": 500})
    guess, finding = checking.of_tokens(asked, ["x" * 1_800], [], {})
    assert not guess.stops and "guessed" in guess.text
    assert finding.stops and "the longest prompt has 600 tokens" in finding.text


def test_environments_load_in_the_interpreter_of_the_workers(tmp_path: Path) -> None:
    asked = config(rollouts="gym")
    assert checking.of_interpreter(asked, Path(sys.executable)) == []
    (unknown,) = checking.of_interpreter(asked, None)
    assert not unknown.stops
    bare = tmp_path / "python"
    bare.write_text("#!/bin/sh\necho \"ModuleNotFoundError: No module named 'forgec_runtime'\" >&2\nexit 1\n")
    bare.chmod(0o755)
    (finding,) = checking.of_interpreter(asked, bare)
    assert finding.stops and "No module named 'forgec_runtime'; install forgec there" in finding.text
    (gone,) = checking.of_interpreter(asked, tmp_path / "none")
    assert gone.stops and "cannot be run" in gone.text


@pytest.mark.parametrize(
    ("by", "says"), [("local", "no GPU is here"), ("slurm", "no sbatch here"), ("kuberay", "no kubectl here")]
)
def test_what_starts_the_run_must_be_here(by: str, says: str) -> None:
    asked = config(launch={"by": by})
    (finding,) = checking.of_machine(asked, lambda name: None)
    assert finding.stops and says in finding.text
    assert checking.of_machine(asked, lambda name: f"/bin/{name}") == []
