"""What NeMo-RL is given, and what starts it."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from forgec.cluster.config import ClusterConfig
from forgec.cluster.launching import command, job_name, script
from forgec.cluster.modes import refusals
from forgec.cluster.recipe import as_yaml, recipe
from forgec.training.config import ConfigError
from tests.cluster.recipes import CHECKOUT, config

FOLDER = Path("/runs/large")
ROOT = Path(__file__).resolve().parents[2]


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
        {"launch": {"nodes": 2}},
        {"launch": {"by": "slurm", "container": "one two"}},
        {"launch": {"by": "slurm", "account": "team\n#SBATCH --uid=0"}},
        {"launch": {"mounts": ["/data"]}},
        {"launch": {"mounts": ["/data:/data,/etc:/etc"]}},
        {"algorithm": {"level": "sequence"}},
        {"algorithm": {"learning_rate": float("inf")}},
        {"algorithm": {"questions": 10**9}},
        {"environments": [{"package": "generated/library", "reward_range": (1.0, 0.0)}]},
        {"gpus": 8},
    ],
)
def test_a_configuration_that_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        config(**wrong)


@pytest.mark.parametrize(("change", "says"), [({"policy": 3}, "it is a table"), ({"grpo": {"seed": {}}}, "no table")])
def test_a_recipe_that_has_another_shape_than_nemo_rl_s_is_refused(change: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        made(recipe=change)


def started(by: str, folder: Path = FOLDER, **launch: Any) -> str:
    asked: ClusterConfig = config(launch={"by": by, **launch})
    return script(asked, CHECKOUT, folder)[1]


def test_names_of_jobs_are_such_of_kubernetes_and_of_one_folder_each() -> None:
    names = [
        job_name(Path(one))
        for one in ("/a/large", "/b/large", "/a/Große Läufe!", "/a/" + "x" * 300, "/a/\nrm -rf .", "/", "/a/--")
    ]
    assert len({*names}) == len(names)
    assert all(re.fullmatch(r"[a-z]([a-z0-9-]*[a-z0-9])?", one) and len(one) <= 47 for one in names), names
    assert names[0].startswith("forgec-large-")


HOSTILE = Path("/runs/a'b\"c; touch x $(touch y) `touch z` \u00e9\U0001f98a %")


def test_what_a_folder_is_called_runs_nothing(tmp_path: Path) -> None:
    """The script runs, with a `uv` that tells what it was given."""
    (tmp_path / "uv").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    (tmp_path / "uv").chmod(0o755)
    text = started("local", HOSTILE, setup="").replace("cd /opt/nemo-rl", f"cd {shlex.quote(str(tmp_path))}")
    (tmp_path / "run.sh").write_text(text)
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    ran = subprocess.run(["bash", str(tmp_path / "run.sh")], env=path, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == str(HOSTILE / "recipe.yaml")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["run.sh", "uv"]


def test_what_a_folder_is_called_stays_text_in_yaml_and_in_python() -> None:
    job = yaml.safe_load(started("kuberay", HOSTILE, nodes=2))
    assert shlex.split(job["spec"]["entrypoint"])[-1] == str(HOSTILE / "recipe.yaml")
    for group in (job["spec"]["rayClusterSpec"]["headGroupSpec"], *job["spec"]["rayClusterSpec"]["workerGroupSpecs"]):
        paths = [one["hostPath"]["path"] for one in group["template"]["spec"]["volumes"] if "hostPath" in one]
        assert str(HOSTILE) in paths
    tree = ast.parse(started("nemo-run", HOSTILE))
    assert str(HOSTILE / "slurm") in {one.value for one in ast.walk(tree) if isinstance(one, ast.Constant)}


def test_slurm_is_given_the_container_the_folders_and_the_command(tmp_path: Path) -> None:
    """The script is run; what would submit it tells what it was given."""
    (tmp_path / "sbatch").write_text(
        '#!/bin/sh\nprintf "%s\\n" "$CONTAINER" "$MOUNTS" "$COMMAND" "$SETUP_COMMAND" "$@"\n'
    )
    (tmp_path / "sbatch").chmod(0o755)
    text = started("slurm", account="our.team", nodes=4, partition="gpu").replace(
        "cd /opt/nemo-rl", f"cd {shlex.quote(str(tmp_path))}"
    )
    (tmp_path / "submit.sh").write_text(text)
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    ran = subprocess.run(["bash", str(tmp_path / "submit.sh")], env=path, capture_output=True, text=True, check=True)
    container, mounts, trains, setup, *options = ran.stdout.splitlines()
    assert container == "nvcr.io/nvidia/nemo-rl:v0.7.0"
    assert "/opt/nemo-rl:/opt/nemo-rl" in mounts.split(",") and "/runs/large:/runs/large" in mounts.split(",")
    assert shlex.split(trains) == command(config(), CHECKOUT, FOLDER)
    assert shlex.split(setup) == ["uv", "pip", "install", str(ROOT / "runtime"), str(ROOT)]
    assert f"{ROOT}:{ROOT}" in mounts.split(",")
    assert options == [
        "--nodes=4",
        "--gres=gpu:8",
        "--time=04:00:00",
        f"--job-name={job_name(FOLDER)}",
        "--account=our.team",
        "--partition=gpu",
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
        assert "pip install" in container["args"][0]  # on every node, and before Ray
        assert container["args"][0].endswith('&& eval "$KUBERAY_GEN_RAY_START_CMD"')
        names = {one["name"] for one in container["volumeMounts"]}
        assert names == {one["name"] for one in group["template"]["spec"]["volumes"]}
    assert workers["replicas"] == 2
    assert job["metadata"]["annotations"] == {"ray.io/overwrite-container-cmd": "true"}
    alone = yaml.safe_load(started("kuberay", nodes=1, setup=""))
    assert "annotations" not in alone["metadata"]
    assert "workerGroupSpecs" not in alone["spec"]["rayClusterSpec"]


NEMO_RUN = """
from dataclasses import dataclass
from typing import Any

class LocalTunnel:
    def __init__(self, *, job_dir: str) -> None: ...

class SlurmExecutor:
    def __init__(self, *, account, partition, nodes, ntasks_per_node, gpus_per_node, time, container_image,
                 container_mounts, tunnel) -> None: ...

@dataclass(kw_only=True)
class RayJob:
    name: str
    executor: Any

    def start(self, command: str, workdir: str, pre_ray_start_commands: list) -> None:
        print(self.name, command, *pre_ray_start_commands, sep="\\n")
"""


def test_nemo_run_is_given_a_script_of_python(tmp_path: Path) -> None:
    """With a stand-in that takes what version 0.11.1 takes."""
    (tmp_path / "nemo_run" / "run" / "ray").mkdir(parents=True)
    for name in ("__init__.py", "run/ray/job.py"):
        (tmp_path / "nemo_run" / name).write_text(NEMO_RUN)
    for setup in ("", "pip install x"):
        (tmp_path / "submit.py").write_text(started("nemo-run", setup=setup))
        ran = subprocess.run([sys.executable, "submit.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
        name, command_, *before = ran.stdout.splitlines()
        assert name == job_name(FOLDER)
        assert shlex.split(command_) == ["cd", "/opt/nemo-rl", "&&", *command(config(), CHECKOUT, FOLDER)]
        assert before == ([f"cd /opt/nemo-rl && {setup}"] if setup else [])
