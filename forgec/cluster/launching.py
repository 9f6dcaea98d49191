"""How a rendered run is started: on this machine, by Slurm, by KubeRay, or by nemo-run."""

from __future__ import annotations

import hashlib
import re
import shlex
import sys
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

import forgec
from forgec.cluster.checkout import Checkout
from forgec.cluster.config import ClusterConfig
from forgec.cluster.recipe import yaml_text
from forgec.resources import resource

FILES = {"local": "run.sh", "slurm": "submit.sh", "kuberay": "rayjob.yaml", "nemo-run": "submit.py"}
"""What is rendered for each way to start a run, beside its recipe."""
HOW = {
    "local": ["bash"],
    "slurm": ["bash"],
    # a job that is there, and over, or running, is begun again: never are there two
    "kuberay": ["kubectl", "replace", "--force", "-f"],
    "nemo-run": [sys.executable],
}
"""How it is started by hand: what the file is handed to."""
LONGEST_NAME = 30
"""Of a folder, in the name of its job; KubeRay takes 47 characters in all."""


def job_name(folder: Path) -> str:
    """The name of the job of a run: one that Slurm and Kubernetes take, and no other folder's."""
    told = re.sub(r"[^a-z0-9]+", "-", folder.name.lower())[:LONGEST_NAME].strip("-")
    digest = hashlib.sha256(bytes(folder)).hexdigest()[:8]
    return "-".join(one for one in ("forgec", told, digest) if one)


def source() -> Path | None:
    """The folder of the source that this forgec is run from; none where it is installed from a wheel."""
    root = Path(forgec.__file__).resolve().parents[1]
    return root if (root / "pyproject.toml").is_file() and (root / "runtime" / "pyproject.toml").is_file() else None


def setup(config: ClusterConfig) -> str:
    """What makes forgec importable on a node, for its shell; nothing where it was not said, and is not known."""
    root = source()
    if config.launch.setup is not None:
        return config.launch.setup
    return "" if root is None else shlex.join(["uv", "pip", "install", str(root / "runtime"), str(root)])


def folders(config: ClusterConfig, checkout: Checkout, folder: Path) -> list[Path]:
    """What the nodes must see under the same paths: the checkout, the run, the packages, and forgec's own source where
    it is installed from there."""
    root = source() if config.launch.setup is None else None
    packages = [one.package.resolve().parent for one in config.environments]
    return sorted({checkout.folder, folder, *packages, *([root] if root else [])})


def command(config: ClusterConfig, checkout: Checkout, folder: Path) -> list[str]:
    """What trains, on the node that drives: in NeMo-RL's own environment of Python. NeMo Gym looks for servers in its
    extra roots before its own."""
    roots = ["env", f"NEMO_GYM_EXTRA_ROOTS={folder / 'gym'}"] if config.rollouts == "gym" else []
    return [
        *roots, "uv", "run", "--no-sync", "python", "-m", "forgec.cluster.nemo_rl.launch",
        "--checkout", str(checkout.folder), "--config", str(folder / "recipe.yaml"),
    ]  # fmt: skip


def script(config: ClusterConfig, checkout: Checkout, folder: Path) -> tuple[str, str]:
    """The file that starts a run whose folder is `folder`: its name and its text."""
    file = FILES[config.launch.by]
    mounts = [f"{path}:{path}" for path in folders(config, checkout, folder)]
    text = _templates().get_template(f"{file}.j2").render(
        name=job_name(folder), launch=config.launch, setup=setup(config), checkout=str(checkout.folder),
        folder=str(folder), command=shlex.join(command(config, checkout, folder)),
        mounts=[*mounts, *config.launch.mounts],
    )  # fmt: skip
    return file, text


@cache
def _templates() -> Environment:
    made = Environment(
        loader=FileSystemLoader(resource("templates", "cluster")), undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    made.filters["quoted"] = shlex.quote
    made.filters["text"] = repr
    made.filters["yaml"] = yaml_text
    return made
