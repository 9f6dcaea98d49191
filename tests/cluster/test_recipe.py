"""What NeMo-RL is given, and what starts it."""

from __future__ import annotations

import ast
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from forgec.cluster.config import ClusterConfig
from forgec.cluster.launching import command, script
from forgec.cluster.nemo_rl.installing import refusals
from forgec.cluster.recipe import as_yaml, recipe
from tests.cluster.recipes import CHECKOUT, config

FOLDER = Path("/runs/my run")


def made(**parts: Any) -> dict[str, Any]:
    return recipe(config(**parts), CHECKOUT, FOLDER, ["library", "phone"], validation=8)


@pytest.mark.parametrize("rollouts", ["gym", "native"])
def test_a_recipe_asks_for_nothing_that_cannot_be_served(rollouts: str) -> None:
    found = made(rollouts=rollouts)
    assert refusals(found) == []
    assert yaml.safe_load(as_yaml(found)) == found
    assert found["defaults"] == "/opt/nemo-rl/examples/configs/grpo_math_1B.yaml"
    # whole parts are replaced at the top, the only place where NeMo-RL looks for the mark
    assert found["data"]["_override_"] and found["env"]["_override_"]
    assert as_yaml(found).count("_override_") == 2


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"data_plane": {"enabled": True}}, "data_plane.enabled"),
        ({"grpo": {"use_leave_one_out_baseline": True}}, "use_leave_one_out_baseline"),
        ({"grpo": {"async_grpo": {"enabled": True}, "use_dynamic_sampling": False}}, "without NeMo Gym"),
        ({"data": {"shuffle": True}}, "data.shuffle"),
        ({"grpo": {"adv_estimator": {"name": "gae"}}}, "adv_estimator.name"),
    ],
)
def test_modes_that_would_learn_the_wrong_thing_are_refused(change: dict[str, Any], says: str) -> None:
    (reason,) = refusals(made(recipe=change))
    assert says in reason


def test_more_modes_of_gym_that_are_refused() -> None:
    change = {"env": {"should_mask_flagged_samples": False}, "grpo": {"async_grpo": {"enabled": True}}}
    reasons = refusals(made(rollouts="gym", recipe=change))
    assert ["no such mode" in reasons[0], "user erred" in reasons[1], len(reasons)] == [True, True, 2]


def test_the_recipe_of_the_file_wins() -> None:
    found = made(recipe={"policy": {"dtensor_cfg": {"tensor_parallel_size": 4}, "train_micro_batch_size": 2}})
    assert found["policy"]["dtensor_cfg"] == {"tensor_parallel_size": 4}
    assert found["policy"]["train_micro_batch_size"] == 2
    assert found["policy"]["train_global_batch_size"] == 2 * 8 * 8


def test_a_step_is_of_questions_and_trajectories() -> None:
    found = made(algorithm={"questions": 3, "trajectories": 5})["grpo"]
    assert (found["num_prompts_per_step"], found["num_generations_per_prompt"]) == (6, 5)


@pytest.mark.parametrize(
    "wrong",
    [
        {"model": {"tokens": 512, "turn_tokens": 512}},
        {"algorithm": {"questions": 1}},
        {"launch": {"time": "soon"}},
        {"gpus": 8},
    ],
)
def test_a_configuration_that_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        config(**wrong)


def started(by: str, **launch: Any) -> str:
    asked: ClusterConfig = config(launch={"by": by, **launch})
    return script(asked, CHECKOUT, FOLDER, "forgec-one")[1]


def test_scripts_are_such_of_the_shell(tmp_path: Path) -> None:
    for by in ("local", "slurm"):
        path = tmp_path / by
        path.write_text(started(by, account="our team", partition="gpu"))
        assert subprocess.run(["bash", "-n", str(path)], check=False).returncode == 0


def test_slurm_is_given_the_container_the_folders_and_the_command(tmp_path: Path) -> None:
    """The script is run; what would submit it tells what it was given."""
    (tmp_path / "sbatch").write_text(
        '#!/bin/sh\nprintf "%s\\n" "$CONTAINER" "$MOUNTS" "$COMMAND" "$SETUP_COMMAND" "$@"\n'
    )
    (tmp_path / "sbatch").chmod(0o755)
    text = started("slurm", account="our team", nodes=4).replace("cd /opt/nemo-rl", f"cd {shlex.quote(str(tmp_path))}")
    (tmp_path / "submit.sh").write_text(text)
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    ran = subprocess.run(["bash", str(tmp_path / "submit.sh")], env=path, capture_output=True, text=True, check=True)
    container, mounts, trains, setup, *options = ran.stdout.splitlines()
    assert container == "nvcr.io/nvidia/nemo-rl:v0.7.0"
    assert "/opt/nemo-rl:/opt/nemo-rl" in mounts.split(",") and "/runs/my run:/runs/my run" in mounts.split(",")
    assert shlex.split(trains) == command(config(), CHECKOUT, FOLDER)
    assert setup == "uv pip install forgec"
    assert options == [
        "--nodes=4",
        "--gres=gpu:8",
        "--time=04:00:00",
        "--job-name=forgec-one",
        "--account=our team",
        "ray.sub",
    ]


def test_kuberay_is_given_a_job_with_as_many_nodes() -> None:
    job = yaml.safe_load(started("kuberay", nodes=3, gpus=4))
    assert job["kind"] == "RayJob"
    assert "forgec.cluster.nemo_rl.launch" in job["spec"]["entrypoint"]
    (workers,) = job["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    head = job["spec"]["rayClusterSpec"]["headGroupSpec"]
    for group in (workers, head):
        (container,) = group["template"]["spec"]["containers"]
        assert container["resources"]["limits"]["nvidia.com/gpu"] == "4"
        names = {one["name"] for one in container["volumeMounts"]}
        assert names == {one["name"] for one in group["template"]["spec"]["volumes"]}
    assert workers["replicas"] == 2
    alone = yaml.safe_load(started("kuberay", nodes=1))
    assert "workerGroupSpecs" not in alone["spec"]["rayClusterSpec"]


def test_nemo_run_is_given_a_script_of_python() -> None:
    ast.parse(started("nemo-run", account='a "team"'))
