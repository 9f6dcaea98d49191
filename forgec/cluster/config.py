"""What a run on a cluster is: one file, which is all that there is to choose."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from forgec.rollouts.limits import Limits
from forgec.training.config import EnvironmentPart, Name

MOUNT = r"^(/[\w.@%+=/-]*):(/[\w.@%+=/-]*)(:[a-z,]+)?$"
"""Folders as launchers take them without a look: with nothing in their names that means something to a shell."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class ModelPart(_Part):
    """The model that is trained, of Qwen3's form: ChatML with `<think>` and `<tool_call>`."""

    name: str = Field(default="Qwen/Qwen3-4B-Thinking-2507", min_length=1, description="On the hub, or a folder.")
    thinking: bool = Field(default=True, description="Its turns are begun with `<think>`, as thinking models' are.")
    tokens: int = Field(
        default=16_384, ge=256, le=10_000_000, description="Of an episode, at most: what it reads and writes."
    )
    turn_tokens: int = Field(default=4_096, ge=16, description="Of a turn, at most.")


class AlgorithmPart(_Part):
    """ERPO, and what it takes from GRPO and DAPO."""

    steps: int = Field(default=200, ge=1, le=1_000_000)
    estimator: Name = "erpo"
    questions: int = Field(default=8, ge=2, le=1_000, description="Of each environment in a step.")
    trajectories: int = Field(default=8, ge=2, le=1_000, description="Of each question.")
    learning_rate: float = Field(default=1e-6, gt=0)
    ddof: Literal[0, 1] = 0
    eps: float = Field(default=1e-6, ge=0)
    floor: float = Field(
        default=0.1, ge=0, description="The least deviation of an environment, as a share of its range."
    )
    running: float | None = Field(
        default=None, ge=0, lt=1,
        description="Decay of a deviation over the run; none: a step's. It begins anew where a run is gone on with.",
    )  # fmt: skip
    dynamic_sampling: bool = Field(
        default=True, description="Questions whose valid trajectories are all worth the same are replaced by others."
    )
    generation_batches: int = Field(
        default=20, ge=1, le=1_000,
        description="How often a step may ask anew for that; NeMo-RL ends a run whose step would need more.",
    )  # fmt: skip
    clip_low: float = Field(default=0.2, ge=0, le=1)
    clip_high: float = Field(default=0.28, ge=0)
    aggregation: Literal["tokens", "trajectories"] = "tokens"
    level: Literal["token", "sequence"] = Field(
        default="token", description='Of the ratio; NeMo-RL has `sequence` with aggregation = "trajectories" alone.'
    )
    kl: float = Field(default=0.0, ge=0)
    temperature: float = Field(default=1.0, gt=0)
    validate_every: int = Field(default=10, ge=1, description="Steps between two validations.")
    validation: int = Field(
        default=64, ge=1, le=10_000, description="Held-out episodes of each environment, in a validation."
    )
    save_every: int = Field(default=10, ge=1, description="Steps between two checkpoints.")


class LaunchPart(_Part):
    """Where it is run."""

    by: Literal["local", "slurm", "kuberay", "nemo-run"] = "local"
    nodes: int = Field(default=1, ge=1, le=10_000)
    gpus: int = Field(default=8, ge=1, le=1_000, description="Of a node.")
    container: str = Field(default="nvcr.io/nvidia/nemo-rl:v0.7.0", pattern=r"^[\w./:@#+-]+$")
    mounts: tuple[Annotated[str, Field(pattern=MOUNT)], ...] = Field(
        default=(), description="Folders of the node that the container sees, as `from:to`."
    )
    account: str = Field(default="", pattern=r"^[\w.@+-]*$")
    partition: str = Field(default="", pattern=r"^[\w.,@+-]*$")
    time: str = Field(default="04:00:00", pattern=r"^(\d+-)?\d{1,2}:\d{2}:\d{2}$")
    setup: str | None = Field(
        default=None,
        description="Run by the shell on each node before Ray: it makes forgec importable there. None: installs the "
        "source that this forgec is run from, which the nodes must see.",
    )


class ClusterConfig(_Part):
    """One run of `forgec train --backend nemo-rl`."""

    seed: int = Field(default=0, ge=0, lt=2**31)
    checkout: Path = Field(description="The folder of NeMo-RL's source.")
    rollouts: Literal["gym", "native"] = Field(
        default="gym", description="NeMo Gym's, over resources servers; or NeMo-RL's own, over an actor of Ray."
    )
    environments: tuple[EnvironmentPart, ...] = Field(min_length=1)
    allow_uncertified: bool = False
    user: Literal["scripted", "briefed"] = "scripted"
    limits: Limits = Limits(turns=30, calls=60, seconds=None)
    workers: int = Field(default=4, ge=1, le=256, description="Actors of Ray that play episodes, in native rollouts.")
    model: ModelPart = ModelPart()
    algorithm: AlgorithmPart = AlgorithmPart()
    launch: LaunchPart = LaunchPart()
    recipe: dict[str, Any] = Field(
        default_factory=dict, description="Keys of NeMo-RL's own configuration, which win over those that are rendered."
    )

    @model_validator(mode="after")
    def _fits(self) -> ClusterConfig:
        if self.model.turn_tokens >= self.model.tokens:
            raise ValueError("model.turn_tokens must be less than model.tokens: an episode has more than one turn")
        if self.algorithm.level == "sequence" and self.algorithm.aggregation == "tokens":
            raise ValueError('algorithm.level = "sequence" wants algorithm.aggregation = "trajectories"')
        if self.launch.by == "local" and self.launch.nodes > 1:
            raise ValueError('launch.by = "local" has one node: launch.nodes must be 1')
        return self

    @property
    def asked(self) -> int:
        """Questions of a step."""
        return len(self.environments) * self.algorithm.questions

    @property
    def batch(self) -> int:
        """Trajectories of a step."""
        return self.asked * self.algorithm.trajectories
