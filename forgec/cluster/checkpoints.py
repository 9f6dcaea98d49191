"""What a run on a cluster has saved, as a folder in Hugging Face's form."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

_STEP = re.compile(r"step_(\d+)")
CONVERTER = "examples/converters/convert_dcp_to_hf.py"


@dataclass(frozen=True)
class Saved:
    """A model in Hugging Face's form."""

    model: Path
    tokenizer: Path
    """Its folder; NeMo-RL saves it beside consolidated weights, not with them."""

    @staticmethod
    def of(model: Path, beside: Path) -> Saved:
        """A model whose tokenizer is with it, or else `beside`."""
        return Saved(model, model if (model / "tokenizer_config.json").is_file() else beside)


class CheckpointError(ValueError):
    """A run without anything that can be converted; the text says why."""


def steps(run: Path) -> list[int]:
    """The steps that were saved, in their order."""
    found = (_STEP.fullmatch(path.name) for path in (run / "checkpoints").glob("step_*") if path.is_dir())
    return sorted(int(one.group(1)) for one in found if one)


def convert(
    run: Path, checkout: Path, step: int | None = None, *,
    call: Callable[[Sequence[str], Path], int] = lambda command, folder: subprocess.run(command, cwd=folder).returncode,
) -> Saved:  # fmt: skip
    """A step's model, by default the last one's: as it was saved, or converted by NeMo-RL's own script.

    Raises `CheckpointError`.
    """
    saved = steps(run)
    if not saved or (step is not None and step not in saved):
        what = f"step {step}" if step is not None and saved else "nothing"
        known = f"; there are {', '.join(map(str, saved))}" if saved else ""
        raise CheckpointError(f"{run} has saved {what}{known}" if not saved else f"{run} has not saved {what}{known}")
    folder = run.resolve() / "checkpoints" / f"step_{saved[-1] if step is None else step}"
    weights, tokenizer = folder / "policy" / "weights", folder / "policy" / "tokenizer"
    for whole in (weights / "model" / "consolidated", weights):
        if (whole / "config.json").is_file() and any(whole.glob("*.safetensors")):
            return Saved.of(whole, tokenizer)
    target, made = folder / "hf", folder / "hf.part"
    if target.is_dir():
        return Saved.of(target, tokenizer)
    shutil.rmtree(made, ignore_errors=True)  # of a conversion that was killed
    command = [
        "uv", "run", "--no-sync", "python", CONVERTER, "--config", str(folder / "config.yaml"),
        "--dcp-ckpt-path", str(weights), "--hf-ckpt-path", str(made),
    ]  # fmt: skip
    try:
        code = call(command, checkout)
    except OSError as error:
        raise CheckpointError(f"{command[0]} cannot be run: {error.strerror}") from None
    if code or not (made / "config.json").is_file():
        raise CheckpointError(f"NeMo-RL's {CONVERTER} has failed for {weights}")
    made.rename(target)
    return Saved.of(target, tokenizer)
