"""What stops a run before a GPU is touched."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forgec.cluster import checking
from forgec.cluster.checkout import TOUCHED, Checkout, CheckoutError
from forgec.cluster.recipe import recipe
from forgec.training.choosing import Choice
from forgec.training.config import ConfigError
from tests.cluster.recipes import CHECKOUT, config


def checkout(folder: Path, **changed: str) -> Path:
    """A folder with the files and functions that the plug-in touches; `changed` gives some files another text."""
    for name, functions in TOUCHED.items():
        text = "\n".join(f"def {one}({', '.join(parameters)}): ..." for one, parameters in functions.items())
        write(folder / name, changed.get(Path(name).stem, text))
    for name in ("nemo_rl/environments/interfaces.py", "examples/run_grpo.py", "examples/nemo_gym/run_grpo_nemo_gym.py",
                 "examples/configs/grpo_math_1B.yaml", "ray.sub"):  # fmt: skip
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
    write(checkout(tmp_path) / "pyproject.toml", '[project]\nrequires-python = ">=3.13.14,<3.14"\n')
    found = Checkout.at(tmp_path)
    assert found == Checkout(tmp_path, masks=False, differences=(), python=(3, 13))
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
    found = checking.of_tasks(asked, choices(5))
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
    found = checking.of_batch(config(**parts), made(**parts))
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


def test_prompts_that_leave_no_room_stop() -> None:
    asked = config(model={"name": "/nowhere", "tokens": 1000, "turn_tokens": 500})
    guess, finding = checking.of_tokens(asked, ["x" * 1_800], [], {})
    assert not guess.stops and "guessed" in guess.text
    assert finding.stops and "the longest prompt has 600 tokens" in finding.text


@pytest.mark.parametrize(
    ("text", "least"),
    [("", 0), ("a word", 2), ("2025-03-01", 9), ("北京市", 3), ("🦊", 2), ('{"id": "R001"}', 7)],
)
def test_a_guess_at_tokens_is_on_the_safe_side(text: str, least: int) -> None:
    """Digits are tokens of their own, and letters of other scripts may be."""
    assert checking.guessed(text) >= least


def test_environments_load_in_the_interpreter_of_the_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = config(rollouts="gym")
    write(tmp_path / "there" / "ray.py", "def remote(*args, **kwargs): ...")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "there"))
    assert checking.of_interpreter(asked, CHECKOUT, Path(sys.executable)) == []
    write(tmp_path / "there" / "ray.py", "raise ModuleNotFoundError(\"No module named 'ray'\")")
    (finding,) = checking.of_interpreter(asked, CHECKOUT, Path(sys.executable))
    assert (
        finding.stops and "cannot play: ModuleNotFoundError: No module named 'ray'; name NeMo-RL's own" in finding.text
    )
    newer = replace(CHECKOUT, python=(9, 1))
    (old,) = checking.of_interpreter(asked, newer, Path(sys.executable))
    assert old.stops and "and this NeMo-RL wants 9.1" in old.text
    (unknown,) = checking.of_interpreter(asked, CHECKOUT, None)
    assert not unknown.stops
    (gone,) = checking.of_interpreter(asked, CHECKOUT, tmp_path / "none")
    assert gone.stops and "cannot be run" in gone.text


@pytest.mark.parametrize(
    ("by", "missing"),
    [
        ("local", ["there is no uv here", "no GPU is here"]),
        ("slurm", ["there is no sbatch here"]),
        ("kuberay", ["there is no kubectl here"]),
        ("nemo-run", ["there is no sbatch here", "there is no rsync here", "nemo-run is not installed"]),
    ],
)
def test_what_starts_the_run_must_be_here(by: str, missing: list[str]) -> None:
    found = checking.of_machine(config(launch={"by": by}), lambda name: None)
    assert all(one.stops for one in found)
    assert [one.text.startswith(says) for one, says in zip(found, missing, strict=True)] == [True] * len(missing)


def test_there_must_be_as_many_gpus_as_are_asked_for(tmp_path: Path) -> None:
    listed = tmp_path / "nvidia-smi"
    write(listed, '#!/bin/sh\necho "GPU 0: an H200 (UUID: 1)"\necho "GPU 1: an H200 (UUID: 2)"\n')
    listed.chmod(0o755)
    assert checking.of_machine(config(launch={"gpus": 2}), lambda name: str(listed)) == []
    (finding,) = checking.of_machine(config(launch={"gpus": 8}), lambda name: str(listed))
    assert "2 GPUs are here, of 8" in finding.text


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"data_plane": {"enabled": True}}, "data_plane.enabled"),
        ({"loss_fn": {"sequence_level_importance_ratios": True}}, "token_level_loss: false"),
        ({"data": {"use_multiple_dataloader": True}}, "data.use_multiple_dataloader"),
        ({"grpo": {"num_prompts_per_step": 7}}, "is 7, where all else goes by algorithm.questions"),
        ({"grpo": {"num_generations_per_prompt": 7}}, "algorithm.trajectories"),
        ({"cluster": {"num_nodes": 7}}, "launch.nodes"),
        ({"grpo": {"adv_estimator": {"forgec": {"floor": -1}}}}, "eps and floor must not be negative"),
        ({"grpo": {"adv_estimator": {"forgec": {"flour": 1}}}}, "flour"),
    ],
)
def test_keys_of_nemo_rl_that_were_set_otherwise_are_looked_at_before_launch(change: dict[str, Any], says: str) -> None:
    assert checking.of_recipe(config(), made()) == []
    (finding,) = checking.of_recipe(config(), made(recipe=change))
    assert finding.stops and says in finding.text


@pytest.mark.parametrize("wrong", [0, -1, "x", 1.5, True])
def test_counts_that_are_none_are_refused(wrong: Any) -> None:
    for change in (
        {"dtensor_cfg": {"tensor_parallel_size": wrong}},
        {"dtensor_cfg": wrong},
        {"train_micro_batch_size": wrong},
        {"train_global_batch_size": wrong},
        {"megatron_cfg": {"enabled": True, "pipeline_model_parallel_size": wrong}},
    ):
        with pytest.raises(ConfigError, match="it must be a whole number from 1 on"):
            checking.of_batch(config(), made(recipe={"policy": change}))


def test_models_that_megatron_splits_are_counted_by_its_parts() -> None:
    parts = {"enabled": True, "tensor_model_parallel_size": 2, "pipeline_model_parallel_size": 3}
    (finding,) = checking.of_batch(config(), made(recipe={"policy": {"megatron_cfg": parts}}))
    assert "8 GPUs cannot be shared by models that are split over 6 each" in finding.text
    apart = {"generation": {"colocated": {"enabled": False}}}
    (unknown,) = checking.of_batch(config(), made(recipe={"policy": {"megatron_cfg": parts, **apart}}))
    assert not unknown.stops


@pytest.mark.parametrize(
    ("by", "folder", "says"),
    [
        ("local", "my run; $(touch x) 'é", ""),
        ("kuberay", "my run; $(touch x) 'é", ""),
        ("local", "a:b", "':'"),
        ("local", "${oc.env:HOME}", "'${'"),
        ("kuberay", "two\nlines", "in it"),
        ("slurm", "é-1.b_c", ""),
        ("slurm", "my run", "' '"),
        ("slurm", "a,b", "','"),
        ("nemo-run", "a$b", "'$'"),
    ],
)
def test_folders_that_scripts_cannot_name_stop(by: str, folder: str, says: str) -> None:
    asked = config(launch={"by": by, "setup": ""})
    found = checking.of_launch(asked, CHECKOUT, Path("/runs") / folder)
    told = [one.text for one in found if "ray.sub" not in one.text]
    assert [says in one for one in told] == ([True] if says else [])
