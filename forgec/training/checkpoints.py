"""The state of a run in one file, so that a run that was killed goes on as if it had not been."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

import safetensors.torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from safetensors import SafetensorError, safe_open
from torch import Tensor
from torch.nn import Module

from forgec.training.learner import Learner
from forgec.writing import write_whole

Phase: TypeAlias = Literal["imitation", "reinforcement", "control", "done"]
PHASES: tuple[Phase, ...] = ("imitation", "reinforcement", "control", "done")
TIED = "lm_head.weight"
KEPT = 2
"""How many checkpoints stay: the last one may be lost, too."""


class State(BaseModel):
    """Where a run is, beside its policy."""

    model_config = ConfigDict(extra="forbid")

    phase: Phase = "imitation"
    step: int = Field(default=0, description="Steps of the phase that are done.")
    learnt: int = Field(default=0, description="Steps of the learner.")
    moments: dict[str, list[float]] = Field(default_factory=dict)
    seconds: dict[str, float] = Field(
        default_factory=dict, description="CPU seconds of each phase, without evaluation."
    )
    control_steps: int | None = Field(default=None, description="How many steps the control makes.")
    resting: tuple[str, ...] = Field(default=(), description="Environments that wait for the others.")
    succeeded: bool = Field(default=False, description="Whether an episode succeeded at the last look at the gate.")
    barren: int = Field(default=0, description="Steps, one after the other, in which nothing could be learned.")

    @property
    def place(self) -> tuple[int, int]:
        """Where that is in the run; later states have greater ones."""
        return (PHASES.index(self.phase), self.step)


def save(folder: Path, state: State, learner: Learner) -> None:
    """Write a checkpoint and forget old ones. Raises `OSError`; those that were there are then still there."""
    folder.mkdir(exist_ok=True)
    tensors = {f"model.{name}": value for name, value in _weights(learner.model).items()}
    if learner.averaged is not None:
        tensors |= {f"averaged.{name}": value for name, value in _weights(learner.averaged).items()}
    tensors |= {f"optimizer.{name}": value for name, value in learner.descent.state().items()}
    content = {name: value.detach().clone().contiguous() for name, value in tensors.items()}
    data = safetensors.torch.save(content, {"state": state.model_dump_json()})
    write_whole(folder / f"{PHASES.index(state.phase)}-{state.phase}-{state.step:06}.safetensors", data)
    for old in _files(folder)[:-KEPT]:
        old.unlink(missing_ok=True)


def latest(folder: Path) -> tuple[State, dict[str, Tensor]] | None:
    """The last checkpoint of a folder that can be read; None where there is none."""
    for path in reversed(_files(folder)):
        try:
            with safe_open(path, "pt") as file:
                state = State.model_validate_json((file.metadata() or {})["state"])
                return state, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (OSError, SafetensorError, KeyError, ValidationError):
            continue
    return None


def restore(learner: Learner, state: State, tensors: Mapping[str, Tensor]) -> None:
    """Go on from a checkpoint. Raises `ValueError` where it is of another policy."""
    _put(_part("model.", tensors), learner.model)
    if learner.averaged is not None:
        _put(_part("averaged.", tensors), learner.averaged)
    learner.descent.load(_part("optimizer.", tensors))
    learner.steps = state.learnt


def _part(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def _weights(module: Module) -> dict[str, Tensor]:
    """All that a module remembers, but for the head, which is the embedding."""
    return {name: value for name, value in module.state_dict().items() if not name.endswith(TIED)}


def _put(weights: Mapping[str, Tensor], module: Module) -> None:
    if set(weights) != set(_weights(module)):
        raise ValueError("the checkpoint is of another policy: its weights have other names")
    try:
        module.load_state_dict(weights, strict=False)
    except RuntimeError as error:
        raise ValueError(f"the checkpoint is of another policy: {error}") from None


def _files(folder: Path) -> list[Path]:
    found = [path for path in folder.glob("*.safetensors") if re.fullmatch(r"\d-[a-z]+-\d{6}", path.stem)]
    return sorted(found, key=lambda path: path.name)


class Metrics:
    """A file of JSON lines, one a step."""

    def __init__(
        self, path: Path, upto: tuple[int, int], follow: Callable[[Mapping[str, Any]], None] = lambda line: None
    ) -> None:
        """Go on with a file, forgetting the lines of steps that are later than `upto`, which will be made again.
        Whoever follows is told every line that is kept, and every one that is added.
        """
        self.path, self.follow = path, follow
        kept = []
        if path.exists():
            for line in path.read_bytes().splitlines(keepends=True):
                try:
                    content = json.loads(line)
                    place = (PHASES.index(content["phase"]), content["step"])
                except (ValueError, KeyError, TypeError):
                    break
                if line.endswith(b"\n") and place <= upto:
                    kept.append(line)
                    follow(content)
        write_whole(path, b"".join(kept))

    def add(self, phase: Phase, step: int, what: str, content: dict[str, Any]) -> None:
        """Write a line. Raises `OSError`."""
        line = {"phase": phase, "step": step, "what": what, **content}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, allow_nan=False) + "\n")
        self.follow(line)
