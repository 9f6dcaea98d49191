"""What a run of `forgec train` is: one file, which is all that there is to choose."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from forgec.rollouts.limits import Limits
from forgec.training.policy import Shape

T = TypeVar("T", bound=BaseModel)

LIMITS: Mapping[str, Any] = {"turns": 12, "calls": 24, "silent": 2, "seconds": None}
"""Of an episode, where a file says nothing else."""
Name = Literal["erpo", "grpo", "dr_grpo", "rloo", "reinforce_pp", "batch"]


class ConfigError(ValueError):
    """A file that does not say what a run is; the text says where and why."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class EnvironmentPart(_Part):
    """An environment to train in, and which of its tasks. Tasks are chosen by name, by pattern (`late_*`), or by tag
    (`tag:practice`)."""

    package: Path = Field(description="A folder that `forgec compile` wrote; from the working directory.")
    tasks: tuple[str, ...] = Field(default=("*",), min_length=1, description="What is trained on.")
    held_out: tuple[str, ...] = Field(
        default=(), description="What success is measured on; the same tasks if there are none."
    )
    unseen: tuple[str, ...] = Field(default=(), description="Tasks of other shapes, measured before and after only.")
    lock: Path | None = Field(
        default=None,
        description="What `forgec certify` wrote of the tasks; none: `specs/ENV.lock.jsonl` beside the "
        "folder of the package.",
    )
    share: float = Field(
        default=1.0, gt=0, description="How often it is imitated beside the others: one that is learned sooner, less."
    )
    reward_range: tuple[float, float] = Field(default=(0.0, 1.0), description="The least and the greatest reward.")

    @field_validator("reward_range")
    @classmethod
    def _upwards(cls, found: tuple[float, float]) -> tuple[float, float]:
        if not found[0] < found[1]:
            raise ValueError("the least reward comes first, and is less than the greatest")
        return found


class TokenizerPart(_Part):
    size: int = Field(default=500, ge=300, le=20_000, description="Tokens, beside the names that are whole.")
    trajectories: int = Field(default=300, ge=1, description="Gold trajectories that it is made of, over all tasks.")


class ImitationPart(_Part):
    """Gold trajectories are imitated until the policy succeeds now and then. Environments in which it does already are
    shown less often until it does in all of them."""

    gate: float = Field(default=0.2, ge=0, le=1, description="Held-out success in every environment that ends it.")
    errand: float = Field(
        default=0.0, ge=0, le=1,
        description="Success of every held-out task that ends it, too: nothing can be learned from one that never "
        "succeeds.",
    )  # fmt: skip
    rest: float = Field(
        default=0.25, ge=0, le=1,
        description="How often an environment that has passed the gate is shown beside one that has not: less, so that "
        "none is far ahead of the others, and not never, for it would be forgotten.",
    )  # fmt: skip
    most_steps: int = Field(default=1500, ge=1, description="It ends here at the latest.")
    batch: int = Field(default=16, ge=1, description="Trajectories a step.")
    pool: int = Field(default=2000, ge=1, description="Different trajectories to draw from.")
    learning_rate: float = Field(default=2e-3, gt=0, description="Of embedding and norms, by AdamW.")
    matrix_rate: float | None = Field(
        default=7e-3, gt=0, description="Of all other matrices, by Muon; none: AdamW for these, too."
    )
    average: float | None = Field(
        default=0.9, ge=0, lt=1,
        description="The policy is the mean of what the weights were in the last steps: one counts that many times as "
        "much as the next. None: the weights of the last step, whose success swings from step to step.",
    )  # fmt: skip
    observations: float = Field(
        default=0.3, ge=0, description="Weight of the tokens that are read, not written: it learns to copy sooner."
    )
    first: int = Field(default=0, ge=0, description="Steps before the first look at the gate.")
    every: int = Field(
        default=5, ge=1,
        description="Steps between two looks at the gate; five times as many until a first episode succeeds.",
    )  # fmt: skip
    episodes: int = Field(default=20, ge=1, description="Of each environment, at such a look.")


class ReinforcementPart(_Part):
    """Questions are asked, each is played several times, and what went better than the rest is made likelier."""

    steps: int = Field(default=80, ge=0)
    estimator: Name = "erpo"
    questions: int = Field(default=3, ge=2, description="Of each environment in a step.")
    trajectories: int = Field(default=8, ge=2, description="Of each question.")
    updates: int = Field(default=1, ge=1, description="Of the policy in a step.")
    learning_rate: float = Field(default=5e-4, gt=0, description="By AdamW, in the first step.")
    matrix_rate: float | None = Field(
        default=None, gt=0, description="Of all matrices but the embedding, by Muon; none: AdamW for these, too."
    )
    last_rate: float = Field(
        default=0.1, ge=0, le=1, description="That of the last step, as a share of it; it falls evenly."
    )
    floor: float = Field(
        default=0.1, ge=0, description="The least deviation of an environment, as a share of its range."
    )
    ddof: Literal[0, 1] = 0
    running: float | None = Field(
        default=None, ge=0, lt=1, description="Decay of a deviation over the whole run; none: a step's."
    )
    dynamic_sampling: bool = Field(
        default=True, description="Leave out questions whose trajectories are all worth the same."
    )
    refills: int = Field(
        default=2, ge=0, le=100,
        description="How many times a step asks more, in place of the questions that were left out.",
    )  # fmt: skip
    clip_low: float = Field(default=0.2, ge=0, le=1)
    clip_high: float = Field(default=0.28, ge=0)
    aggregation: Literal["tokens", "trajectories", "constant"] = "tokens"
    level: Literal["token", "sequence"] = "token"
    kl: float = Field(default=0.0, ge=0, description="Weight of the divergence from the policy as it was imitated.")
    every: int = Field(default=10, ge=1, description="Steps between two evaluations.")


class EvaluationPart(_Part):
    episodes: int = Field(default=20, ge=1, description="Of each environment, in the course of the run.")
    final: int = Field(default=60, ge=1, description="Of each environment, before and after.")
    temperature: float = Field(default=1.0, ge=0, description="0: the likeliest token.")


class ControlPart(_Part):
    """The same policy, which goes on imitating for as long as the other is reinforced."""

    enabled: bool = True
    steps: int | None = Field(default=None, ge=0, description="How many; none: as many as the same time allows.")


class RunConfig(_Part):
    """One run."""

    seed: int = Field(default=0, ge=0, lt=2**31)
    environments: tuple[EnvironmentPart, ...] = Field(min_length=1)
    allow_uncertified: bool = Field(
        default=False, description="Play tasks that are not certified as they are now, too."
    )
    user: Literal["scripted", "briefed"] = "scripted"
    limits: Limits = Limits.model_validate(LIMITS)
    threads: int = Field(
        default=1, ge=1, le=256, description="Of PyTorch. Runs repeat to the digit with the same number."
    )
    temperature: float = Field(default=1.0, gt=0, description="Of what the policy draws in training.")
    min_p: float = Field(
        default=0.02, ge=0, lt=1,
        description="No token is drawn that is less likely than this share of the likeliest, in training and "
        "evaluation; what it could not draw has no part in its log-probabilities either.",
    )  # fmt: skip
    longest_turn: int = Field(default=48, ge=4, description="Tokens of a message, at most.")
    portion: int = Field(default=8192, ge=256, description="Tokens of which gradients are computed at once.")
    checkpoint_every: int = Field(default=10, ge=1, description="Steps between two checkpoints.")
    tensorboard: bool = Field(
        default=False, description="Write the metrics for TensorBoard, too, into RUN/tensorboard."
    )
    policy: Shape = Shape()
    tokenizer: TokenizerPart = TokenizerPart()
    imitation: ImitationPart = ImitationPart()
    reinforcement: ReinforcementPart = ReinforcementPart()
    evaluation: EvaluationPart = EvaluationPart()
    control: ControlPart = ControlPart()

    @field_validator("limits", mode="before")
    @classmethod
    def _ours(cls, limits: Any) -> Any:
        return {**LIMITS, **limits} if isinstance(limits, dict) else limits

    @field_validator("limits")
    @classmethod
    def _no_clock(cls, limits: Limits) -> Limits:
        if limits.seconds is not None:
            raise ValueError("a limit of seconds would make runs differ: leave `seconds` out")
        return limits


def read(path: Path, overrides: Sequence[str] = ()) -> RunConfig:
    """The run of a file, with some keys set otherwise: `reinforcement.steps=20`. Raises `ConfigError`."""
    return read_as(RunConfig, path, overrides)


def read_as(kind: type[T], path: Path, overrides: Sequence[str] = ()) -> T:
    """What a file says, as the model of a run of some kind. Raises `ConfigError`."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is no TOML: {error}") from None
    for override in overrides:
        _set(content, override)
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        raise ConfigError(_told(path, error)) from None


def _set(content: dict[str, Any], override: str) -> None:
    name, equals, text = override.partition("=")
    if not equals or not name:
        raise ConfigError(f"`{override}` sets nothing: write key=value, as in reinforcement.steps=20")
    try:
        value: Any = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    place: Any = content
    *path, last = name.split(".")
    for key in path:
        place = place[int(key)] if isinstance(place, list) and key.isdigit() and int(key) < len(place) else (
            place.setdefault(key, {}) if isinstance(place, dict) else None)  # fmt: skip
    if not isinstance(place, dict):
        raise ConfigError(f"`{name}` cannot be set: there is no such place")
    place[last] = value


def _told(path: Path, error: ValidationError) -> str:
    lines = [f"{path} does not say what a run is:"]
    for one in error.errors():
        place = ".".join(map(str, one["loc"])) or "the file"
        lines.append(f"  {place}: {one['msg'].removeprefix('Value error, ')}")
    return "\n".join(lines)
