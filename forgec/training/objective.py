"""The clipped policy objective over tokens (PPO's, with the asymmetric clip of DAPO), and its KL term."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import torch
from torch import Tensor

Level: TypeAlias = Literal["token", "sequence"]
Aggregation: TypeAlias = Literal["tokens", "trajectories", "constant"]


@dataclass(frozen=True)
class Objective:
    """How a batch's loss is made of its tokens."""

    clip_low: float = 0.2
    clip_high: float = 0.28
    """The ratio of probabilities counts within `1 - clip_low` and `1 + clip_high`."""
    level: Level = "token"
    """Whose ratio is taken: each token's, or the geometric mean over a trajectory's tokens (GSPO)."""
    aggregation: Aggregation = "tokens"
    """The mean over all tokens of valid trajectories; over trajectories of the mean over their tokens; or the sum over
    valid trajectories and `constant_length` tokens each (Dr. GRPO)."""
    constant_length: int = 1
    kl: float = 0.0
    """The weight of the divergence from the reference policy (beta)."""

    def __post_init__(self) -> None:
        if not 0 <= self.clip_low <= 1 or self.clip_high < 0 or self.kl < 0 or self.constant_length < 1:
            raise ValueError("clips and kl must not be negative, clip_low at most 1, constant_length at least 1")


class Loss(NamedTuple):
    """A loss to minimise, with its gradient, and what to log of it, without; all of shape []."""

    value: Tensor
    policy: Tensor
    kl: Tensor
    """The mean divergence from the reference, k3 of Schulman's estimators, unweighted."""
    ratio: Tensor
    """The mean ratio of probabilities: 1 in the first update of a step."""
    clipped: Tensor
    """The share of tokens that the clip holds back."""
    entropy: Tensor
    """The mean surprise of sampled tokens under the new policy, in nats."""


def policy_loss(
    new: Tensor, old: Tensor, advantages: Tensor, mask: Tensor, valid: Tensor, objective: Objective,
    reference: Tensor | None = None,
) -> Loss:  # fmt: skip
    """The loss of a batch: minus the objective J of `paper`, eq. (ERPO), plus the weighted divergence.

    `new`, `old` and `reference` are log-probabilities of the sampled tokens, shape [B, T]; `advantages` [B]; `mask`
    [B, T] is true for tokens that the policy wrote, false for observations and padding; `valid` [B]. A trajectory that
    is not valid enters neither the sums nor the denominators, so that its gradient is exactly zero whatever its
    log-probabilities are. Without any token that counts the loss is 0.

    Raises `ValueError` for shapes that do not fit, and where the divergence is wanted without a `reference`.
    """
    if new.shape != old.shape or new.shape != mask.shape or new.dim() != 2:
        raise ValueError(f"log-probabilities and mask differ in shape: {new.shape}, {old.shape}, {mask.shape}")
    if advantages.shape != new.shape[:1] or valid.shape != new.shape[:1]:
        raise ValueError(f"advantages {advantages.shape} and valid {valid.shape} must have the shape {new.shape[:1]}")
    if objective.kl and reference is None:
        raise ValueError("a divergence from the reference needs its log-probabilities")
    counted = mask & valid[:, None]
    zero = torch.zeros_like(new)
    # what does not count is replaced before anything is computed: 0 times infinity would be no number
    logs = torch.where(counted, new - old, zero)
    if objective.level == "sequence":
        logs = (logs.sum(1) / counted.sum(1).clamp(min=1))[:, None].expand_as(new)
    ratio = torch.where(counted, logs, zero).exp()
    gain = advantages[:, None]
    limited = ratio.clamp(1 - objective.clip_low, 1 + objective.clip_high)
    surrogate = torch.minimum(ratio * gain, limited * gain)
    apart = zero if reference is None else torch.where(counted, reference - new, zero)
    divergence = apart.exp() - apart - 1

    policy = -_aggregate(surrogate, counted, valid, objective)
    kl = _aggregate(divergence, counted, valid, objective)
    with torch.no_grad():
        held = counted & (limited * gain < ratio * gain)
        surprise = torch.where(counted, -new, zero)
        tokens = counted.sum().clamp(min=1)
        logged = [(torch.where(counted, one, zero).sum() / tokens).detach() for one in (ratio, held.to(new), surprise)]
    return Loss(policy + objective.kl * kl, policy.detach(), kl.detach(), *logged)


def _aggregate(values: Tensor, counted: Tensor, valid: Tensor, objective: Objective) -> Tensor:
    """One number of [B, T]."""
    values = torch.where(counted, values, torch.zeros_like(values))
    if objective.aggregation == "tokens":
        return values.sum() / counted.sum().clamp(min=1)
    trajectories = valid.sum().clamp(min=1)
    if objective.aggregation == "constant":
        return values.sum() / (trajectories * objective.constant_length)
    return (values.sum(1) / counted.sum(1).clamp(min=1)).sum() / trajectories
