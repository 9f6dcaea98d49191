"""How a rendered run is started: on this machine, by Slurm, by KubeRay, or by nemo-run."""

from __future__ import annotations

import shlex
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from forgec.cluster.checkout import Checkout
from forgec.cluster.config import ClusterConfig
from forgec.resources import resource

FILES = {"local": "run.sh", "slurm": "submit.sh", "kuberay": "rayjob.yaml", "nemo-run": "submit.py"}
"""What is rendered for each way to start a run, beside its recipe."""
HOW = {
    "local": "bash {file}",
    "slurm": "bash {file}",
    "kuberay": "kubectl apply -f {file}",
    "nemo-run": "python {file}",
}
"""How it is started by hand."""


def command(config: ClusterConfig, checkout: Checkout, folder: Path) -> list[str]:
    """What trains, on the node that drives: in NeMo-RL's own environment of Python. NeMo Gym looks for servers in its
    extra roots before its own."""
    roots = ["env", f"NEMO_GYM_EXTRA_ROOTS={folder / 'gym'}"] if config.rollouts == "gym" else []
    return [
        *roots, "uv", "run", "--no-sync", "python", "-m", "forgec.cluster.nemo_rl.launch",
        "--checkout", str(checkout.folder), "--config", str(folder / "recipe.yaml"),
    ]  # fmt: skip


def script(config: ClusterConfig, checkout: Checkout, folder: Path, name: str) -> tuple[str, str]:
    """The file that starts a run whose folder is `folder`: its name and its text."""
    file = FILES[config.launch.by]
    mounts = [f"{path}:{path}" for path in sorted({checkout.folder, folder, *_packages(config)})]
    text = _templates().get_template(f"{file}.j2").render(
        name=name, launch=config.launch, checkout=str(checkout.folder), folder=str(folder),
        command=shlex.join(command(config, checkout, folder)), mounts=[*mounts, *config.launch.mounts],
    )  # fmt: skip
    return file, text


def _packages(config: ClusterConfig) -> list[Path]:
    """The folders that hold the compiled environments."""
    return [one.package.resolve().parent for one in config.environments]


@cache
def _templates() -> Environment:
    made = Environment(
        loader=FileSystemLoader(resource("templates", "cluster")), undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    made.filters["quoted"] = shlex.quote
    made.filters["text"] = repr
    return made
