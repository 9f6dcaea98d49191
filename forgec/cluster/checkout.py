"""The source of NeMo-RL that a run is launched with: what it is, and whether we know it well enough.

Everything is read from its files, and nothing of it is imported: the machine that launches need not be able to.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

INTERFACES = "nemo_rl/environments/interfaces.py"
GRPO = "nemo_rl/algorithms/grpo.py"
TESTED = ("v0.7.0", "main at 7ea279ab (2026-08-22)")
"""What the plug-in was run against."""

TOUCHED: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    GRPO: {
        "_create_advantage_estimator": ("master_config",),
        "dynamic_sampling": (
            "repeated_batch", "std", "baseline", "dynamic_sampling_num_gen_batches", "master_config", "timer",
            "batch_cache",
        ),
    },
    "nemo_rl/environments/utils.py": {
        "create_env": ("env_name", "env_config"), "register_env": ("env_name", "actor_class_fqn"),
    },
    "nemo_rl/data/datasets/utils.py": {"resolve_external_dataset_class": ("dataset_name",)},
}  # fmt: skip
"""The functions that the plug-in calls or replaces, with their parameters."""
SCRIPTS = {"native": "examples/run_grpo.py", "gym": "examples/nemo_gym/run_grpo_nemo_gym.py"}
_PYTHON = re.compile(r'^requires-python\s*=\s*".*?>=\s*(\d+)\.(\d+)', re.MULTILINE)
BASE = "examples/configs/grpo_math_1B.yaml"
"""The configuration that recipes inherit."""


class CheckoutError(ValueError):
    """A folder that cannot be launched with; the text says why, and what to do."""


@dataclass(frozen=True)
class Checkout:
    """A folder of NeMo-RL's source."""

    folder: Path
    masks: bool
    """Whether what NeMo Gym flags is kept out of the loss."""
    differences: tuple[str, ...]
    """What the plug-in touches and is not as it was in what it was run against."""
    python: tuple[int, int] = (0, 0)
    """The least version of Python that it is for."""

    @staticmethod
    def at(folder: Path) -> Checkout:
        """The checkout in a folder. Raises `CheckoutError`."""
        folder = folder.resolve()
        if not (folder / "nemo_rl").is_dir():
            raise CheckoutError(
                f"{folder} is no source of NeMo-RL: it has no folder nemo_rl; clone its repository, at one of: "
                + ", ".join(TESTED)
            )
        if not (folder / INTERFACES).is_file():
            raise CheckoutError(
                f"{folder} has a nemo_rl without {INTERFACES}: it is the empty package that registries have under that "
                "name; clone the repository of NeMo-RL"
            )
        missing = [name for name in (*SCRIPTS.values(), BASE, *TOUCHED) if not (folder / name).is_file()]
        if missing:
            raise CheckoutError(f"{folder} lacks {', '.join(missing)}; the plug-in was run with {', '.join(TESTED)}")
        differences = []
        for name, functions in TOUCHED.items():
            found = _functions(folder / name)
            for function, parameters in functions.items():
                if found.get(function) != parameters:
                    how = f"takes ({', '.join(found[function])})" if function in found else "is not there"
                    differences.append(f"{function} of {name} {how}; known is ({', '.join(parameters)})")
        masks = "_apply_mask_sample_filter" in _functions(folder / GRPO)
        return Checkout(folder, masks, tuple(differences), _python(folder / "pyproject.toml"))


def _python(path: Path) -> tuple[int, int]:
    """The least version of Python that a project says it is for."""
    found = _PYTHON.search(path.read_text(encoding="utf-8")) if path.is_file() else None
    return (int(found.group(1)), int(found.group(2))) if found else (0, 0)


def _functions(path: Path) -> dict[str, tuple[str, ...]]:
    """The functions of a module with the names of their parameters."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError) as error:
        raise CheckoutError(f"{path} cannot be read: {error}") from None
    return {
        one.name: tuple(arg.arg for arg in (*one.args.posonlyargs, *one.args.args, *one.args.kwonlyargs))
        for one in tree.body
        if isinstance(one, ast.FunctionDef)
    }
