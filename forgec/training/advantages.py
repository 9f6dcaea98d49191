"""Advantages of trajectories: ERPO (AutoForge, arXiv 2512.22857) and its relatives, as one pure function.

All of them subtract a baseline from the reward of a trajectory and divide by a scale. They differ in what the two are
taken over:

| estimator      | baseline: the mean over         | scale: the standard deviation over         |
|----------------|---------------------------------|--------------------------------------------|
| `erpo`         | the question                    | the environment, of the rewards            |
| `grpo`         | the question                    | the question, of the rewards               |
| `dr_grpo`      | the question                    | nothing: 1                                 |
| `rloo`         | the question's other ones       | nothing: 1                                 |
| `reinforce_pp` | the question                    | the batch, of rewards less their baselines |
| `batch`        | the question                    | the batch, of the rewards                  |

A trajectory that is not valid (its user erred, it was cut off) has the advantage 0 and enters no mean and no deviation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, TypeAlias

import torch
from torch import Tensor

Baseline: TypeAlias = Literal["question", "environment", "others"]
Scale: TypeAlias = Literal["environment", "question", "batch", "residuals", "none"]
Range: TypeAlias = tuple[float, float]


class RunningMoments:
    """Mean and variance of each environment's rewards over the steps of a run, by exponential averages.

    A step weighs `1 - decay` against all before it; the first steps are not biased towards zero. It belongs to one run:
    pass it to every step in order, and keep `state` with the checkpoint.
    """

    def __init__(self, decay: float = 0.9) -> None:
        if not 0 <= decay < 1:
            raise ValueError(f"decay must lie in [0, 1), not {decay}")
        self.decay = decay
        self._sums: dict[int, tuple[float, float, float]] = {}

    def update(self, environment: int, rewards: Tensor) -> None:
        """Take in the valid rewards, shape [N], that a step brought for an environment; none is no news."""
        if rewards.numel() == 0:
            return
        weight, first, second = self._sums.get(environment, (0.0, 0.0, 0.0))
        share = 1 - self.decay
        mean, square = rewards.mean().item(), rewards.square().mean().item()
        self._sums[environment] = (
            self.decay * weight + share, self.decay * first + share * mean, self.decay * second + share * square
        )  # fmt: skip

    def std(self, environment: int) -> float:
        """The standard deviation so far; 0 for an environment that was never seen."""
        weight, first, second = self._sums.get(environment, (0.0, 0.0, 0.0))
        if weight == 0:
            return 0.0
        return float(max(second / weight - (first / weight) ** 2, 0.0) ** 0.5)

    def state(self) -> dict[str, list[float]]:
        """All of it, as JSON has it."""
        return {str(environment): list(sums) for environment, sums in sorted(self._sums.items())}

    def load(self, state: Mapping[str, list[float]]) -> None:
        """Go on from a `state`."""
        self._sums = {int(key): (sums[0], sums[1], sums[2]) for key, sums in state.items()}


@dataclass(frozen=True)
class Estimator:
    """How advantages are estimated. What the paper leaves open is an option, with the default that we chose."""

    baseline: Baseline = "question"
    scale: Scale = "environment"
    ddof: int = 0
    """Taken from the count in a variance: 0 for that of the population, 1 for that of a sample."""
    eps: float = 1e-6
    """Added to the scale."""
    floor: float = 0.1
    """The least scale of an environment, as a share of the range of its rewards. Where all trajectories of a batch are
    equally good but for noise, a deviation that is nothing but noise would make advantages of full size of it."""
    reward_range: Range = (0.0, 1.0)
    """The least and the greatest reward of an environment that is not in `reward_ranges`."""
    reward_ranges: Mapping[int, Range] = field(default_factory=dict)
    """The range of rewards by environment id."""
    pool: Literal["kept", "all"] = "kept"
    """Which questions an environment's deviation is taken over: those that dynamic sampling kept, or all."""

    def __post_init__(self) -> None:
        if self.ddof not in (0, 1):
            raise ValueError(f"ddof must be 0 or 1, not {self.ddof}")
        if self.eps < 0 or self.floor < 0:
            raise ValueError("eps and floor must not be negative")
        for low, high in (self.reward_range, *self.reward_ranges.values()):
            if not low < high:
                raise ValueError(f"a range of rewards must go upwards, not from {low} to {high}")

    def range_of(self, environment: int) -> float:
        """How far apart the least and the greatest reward of an environment are."""
        low, high = self.reward_ranges.get(environment, self.reward_range)
        return high - low


ESTIMATORS: Mapping[str, Estimator] = {
    "erpo": Estimator(),
    "grpo": Estimator(scale="question", floor=0.0),
    "dr_grpo": Estimator(scale="none", eps=0.0),
    "rloo": Estimator(baseline="others", scale="none", eps=0.0),
    "reinforce_pp": Estimator(scale="residuals"),
    "batch": Estimator(scale="batch"),
}
"""The estimators by name, with their usual options. The floor is for environments' deviations alone."""


class Advantages(NamedTuple):
    """What came out, and what it came from, for logs. All of shape [B]."""

    values: Tensor
    baseline: Tensor
    scale: Tensor
    """What was divided by, eps and floor included; 1 where nothing was."""
    degenerate: Tensor
    """Whether a valid trajectory got 0 because its question, or what its scale is over, does not vary."""


def advantages(
    rewards: Tensor,
    question_ids: Tensor,
    env_ids: Tensor,
    valid: Tensor,
    estimator: Estimator = ESTIMATORS["erpo"],
    *,
    kept: Tensor | None = None,
    moments: RunningMoments | None = None,
) -> Advantages:
    """The advantage of every trajectory of a batch.

    `rewards` are floats of shape [B]; `question_ids` and `env_ids` integers of shape [B], a question belonging to one
    environment; `valid` booleans of shape [B]. `kept` tells which trajectories dynamic sampling kept; others have the
    advantage 0. `moments` makes the deviation of an environment that of the run so far, this batch included.

    It is computed in double precision, and given in the type of `rewards`. Raises `ValueError` for shapes and types
    that do not fit, for a valid reward that is no number, and for a question of two environments.
    """
    _check(rewards, question_ids, env_ids, valid, kept)
    exact = torch.where(valid, rewards, torch.zeros_like(rewards)).double()
    counted = valid if kept is None else valid & kept
    pooled = counted if estimator.pool == "kept" else valid
    _, question = torch.unique(question_ids, return_inverse=True)
    names, environment = torch.unique(env_ids, return_inverse=True)
    whole = torch.zeros_like(question)

    constant = _spread(exact, question, counted) == 0  # a question with one trajectory is constant, too
    if estimator.baseline == "others":
        count = _count(question, counted)
        total = _mean(exact, question, counted) * count
        baseline = (total - exact) / (count - 1).clamp(min=1)
    else:
        baseline = _mean(exact, question if estimator.baseline == "question" else environment, counted)
    residuals = exact - baseline

    if estimator.scale == "none":
        deviation = torch.ones_like(exact)
    elif estimator.scale == "question":
        deviation = _std(exact, question, counted, estimator.ddof)
    elif estimator.scale == "environment":
        deviation = _of_environments(exact, names, environment, pooled, estimator, moments)
    else:
        deviation = _std(exact if estimator.scale == "batch" else residuals, whole, pooled, estimator.ddof)

    flat = deviation <= 0
    divisor = torch.where(flat, torch.ones_like(deviation), deviation + estimator.eps)
    degenerate = counted & (flat if estimator.baseline == "environment" else flat | constant)
    values = torch.where(~counted | degenerate, torch.zeros_like(residuals), residuals / divisor)
    return Advantages(values.to(rewards.dtype), baseline.to(rewards.dtype), divisor.to(rewards.dtype), degenerate)


def varied(rewards: Tensor, question_ids: Tensor, valid: Tensor) -> Tensor:
    """Which trajectories belong to a question whose valid rewards differ: what dynamic sampling keeps (DAPO,
    arXiv 2503.14476, section 3.2), after the mask. All shapes are [B].
    """
    _, question = torch.unique(question_ids, return_inverse=True)
    return _spread(torch.where(valid, rewards, torch.zeros_like(rewards)).double(), question, valid) > 0


def with_ranges(estimator: Estimator, ranges: Mapping[int, Range]) -> Estimator:
    """The estimator with the ranges of some environments' rewards."""
    return replace(estimator, reward_ranges=dict(ranges))


def _of_environments(
    rewards: Tensor, names: Tensor, environment: Tensor, pooled: Tensor, estimator: Estimator,
    moments: RunningMoments | None,
) -> Tensor:  # fmt: skip
    """The deviation of each trajectory's environment, no less than its floor."""
    deviation = _std(rewards, environment, pooled, estimator.ddof)
    floors = torch.zeros_like(deviation)
    for index, name in enumerate(names.tolist()):
        here = environment == index
        if moments is not None:
            moments.update(name, rewards[here & pooled])
            deviation = torch.where(here, torch.full_like(deviation, moments.std(name)), deviation)
        floors = torch.where(here, torch.full_like(floors, estimator.floor * estimator.range_of(name)), floors)
    return torch.maximum(deviation, floors)


def _count(group: Tensor, counted: Tensor) -> Tensor:
    """How many are counted in the group of each, shape [B]."""
    return _sum(counted.double(), group)[group]


def _mean(values: Tensor, group: Tensor, counted: Tensor) -> Tensor:
    """The mean over the counted ones of each group, shape [B]; 0 for a group without any."""
    sums = _sum(torch.where(counted, values, torch.zeros_like(values)), group)[group]
    return sums / _count(group, counted).clamp(min=1)


def _std(values: Tensor, group: Tensor, counted: Tensor, ddof: int) -> Tensor:
    """The standard deviation over the counted ones of each group, shape [B]; exactly 0 where they are all equal."""
    apart = torch.where(counted, values - _mean(values, group, counted), torch.zeros_like(values))
    variance = _sum(apart.square(), group)[group] / (_count(group, counted) - ddof).clamp(min=1)
    return torch.where(_spread(values, group, counted) == 0, torch.zeros_like(values), variance.sqrt())


def _spread(values: Tensor, group: Tensor, counted: Tensor) -> Tensor:
    """The greatest less the least counted value of each group, shape [B]; 0 for a group without any."""
    size = int(group.max()) + 1 if group.numel() else 0
    least = torch.full((size,), torch.inf, dtype=values.dtype).scatter_reduce(
        0, group, torch.where(counted, values, torch.full_like(values, torch.inf)), "amin"
    )
    greatest = torch.full((size,), -torch.inf, dtype=values.dtype).scatter_reduce(
        0, group, torch.where(counted, values, torch.full_like(values, -torch.inf)), "amax"
    )
    return (greatest - least).clamp(min=0)[group]


def _sum(values: Tensor, group: Tensor) -> Tensor:
    """The sum of each group, shape [groups]."""
    size = int(group.max()) + 1 if group.numel() else 0
    return torch.zeros(size, dtype=values.dtype).index_add(0, group, values)


def _check(rewards: Tensor, question_ids: Tensor, env_ids: Tensor, valid: Tensor, kept: Tensor | None) -> None:
    shape = rewards.shape
    if rewards.dim() != 1:
        raise ValueError(f"rewards must have one dimension, not the shape {tuple(shape)}")
    others = {"question_ids": question_ids, "env_ids": env_ids, "valid": valid, "kept": kept}
    for name, tensor in others.items():
        if tensor is not None and tensor.shape != shape:
            raise ValueError(f"{name} has the shape {tuple(tensor.shape)}, rewards {tuple(shape)}")
    if not rewards.is_floating_point():
        raise ValueError(f"rewards must be floats, not {rewards.dtype}")
    for name, tensor in (("valid", valid), ("kept", kept)):
        if tensor is not None and tensor.dtype != torch.bool:
            raise ValueError(f"{name} must be booleans, not {tensor.dtype}")
    if not bool(torch.isfinite(rewards[valid]).all()):
        raise ValueError("a reward of a valid trajectory is not a finite number")
    pairs = torch.unique(torch.stack([question_ids, env_ids]), dim=1)
    if pairs.shape[1] != torch.unique(question_ids).numel():
        raise ValueError("a question belongs to two environments")
