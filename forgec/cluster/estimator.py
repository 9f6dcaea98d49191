"""ERPO, and its relatives, as an advantage estimator of NeMo-RL: its calls, our function of tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from forgec.training.advantages import ESTIMATORS, Advantages, Estimator, RunningMoments, advantages, varied

MASKED = "masked"
"""The role of the last observation of an episode of which nothing can be learned. Roles cannot be written by a spec, a
user or a policy, and the content of a last observation is trained by nobody."""


class NemoEstimator:
    """What NeMo-RL asks for the advantages of a step.

    Unlike its own estimators, it keeps masked trajectories out of baselines and deviations, and tells environments
    apart: by `extra_env_info` in NeMo-RL's own rollouts, by the agent's name in those of NeMo Gym.
    """

    def __init__(
        self, estimator: Estimator, environments: Sequence[str], trajectories: int, *, drop_constant: bool,
        moments: RunningMoments | None,
    ) -> None:  # fmt: skip
        """`environments` are all of the run, numbered as the ranges of rewards in `estimator` have them; `trajectories`
        are how many each question has; with `drop_constant`, questions whose trajectories are all worth the same are
        left out of deviations, too."""
        self.estimator, self.drop_constant, self.moments = estimator, drop_constant, moments
        self.trajectories = trajectories
        self.numbers = {name: number for number, name in enumerate(environments)}
        self.last_metrics: dict[str, float] = {}

    @staticmethod
    def of(options: Mapping[str, Any]) -> NemoEstimator:
        """The estimator of a recipe's `grpo.adv_estimator`. Raises `KeyError`, `TypeError`, `ValueError`."""
        known = dict(options["forgec"])
        environments = [str(name) for name in known.pop("environments")]
        ranges = [(float(low), float(high)) for low, high in known.pop("reward_ranges")]
        drop, running, trajectories = (known.pop(one) for one in ("drop_constant", "running", "trajectories"))
        base = ESTIMATORS[str(options["name"])]
        estimator = Estimator(
            **{**base.__dict__, **known, "reward_ranges": dict(enumerate(ranges))}
        )  # fmt: skip
        moments = None if running is None else RunningMoments(float(running))
        return NemoEstimator(estimator, environments, int(trajectories), drop_constant=bool(drop), moments=moments)

    def compute_advantage(
        self, prompt_ids: Tensor, rewards: Tensor, mask: Tensor, repeated_batch: Mapping[str, Any],
        valid_mask: Tensor | None = None, **_: Any,
    ) -> Tensor:  # fmt: skip
        """Advantages of shape [B, T], those of `mask`: the same for every token of a trajectory.

        `rewards` and `valid_mask` have the shape [B]. A trajectory without any token to be trained is not valid. Raises
        `ValueError` for an environment that the run does not have, and for a batch that is not of whole questions.
        """
        valid = (mask.sum(-1) > 0).cpu()
        if valid_mask is not None:
            valid &= valid_mask.bool().cpu()
        values = rewards.detach().float().cpu()
        asked, environments = (
            questions(repeated_batch, len(values), self.trajectories),
            self.environments(repeated_batch),
        )
        kept = varied(values, asked, valid) if self.drop_constant else None
        found = advantages(
            values, asked, environments, valid, self.estimator, kept=kept, moments=self.moments
        )  # fmt: skip
        self.last_metrics = _told(found, values, valid, environments, list(self.numbers))
        return found.values.to(rewards.device, rewards.dtype).unsqueeze(-1).expand(mask.shape)

    def environments(self, batch: Mapping[str, Any]) -> Tensor:
        """The environment of each trajectory, by its number, shape [B]. Raises `ValueError`."""
        if batch.get("agent_ref") is not None:
            names = [str(one["name"]) for one in batch["agent_ref"]]
        elif batch.get("extra_env_info") is not None:
            names = [str(one["environment"]) for one in batch["extra_env_info"]]
        else:
            raise ValueError("the batch does not tell environments apart: it has neither agent_ref nor extra_env_info")
        unknown = sorted({*names} - {*self.numbers})
        if unknown:
            raise ValueError(f"the run has no environment {', '.join(unknown)}")
        return torch.tensor([self.numbers[name] for name in names])


def questions(batch: Mapping[str, Any], count: int, trajectories: int) -> Tensor:
    """Which trajectories of a batch of `count` answer the same question, shape [B]: by its number where the rows have
    one, else by their place.

    NeMo-RL's rollouts give the trajectories of a question one after the other, and its dynamic sampling keeps or drops
    them together. Prompts do not tell: two questions may begin with the same words. Raises `ValueError` for a batch
    that is not of whole questions.
    """
    rows = batch.get("extra_env_info")
    if rows is not None and all("question" in one for one in rows):
        return torch.tensor([int(one["question"]) for one in rows])
    if count % trajectories:
        raise ValueError(f"a batch of {count} trajectories is not of questions with {trajectories} each")
    return torch.arange(count) // trajectories


def flagged(batch: Mapping[str, Any]) -> Tensor:
    """Which trajectories the environment has masked, shape [B]: by the role of their last message."""
    return torch.tensor([bool(log) and log[-1]["role"] == MASKED for log in batch["message_log"]], dtype=torch.bool)


def _told(
    found: Advantages, rewards: Tensor, valid: Tensor, environments: Tensor, names: Sequence[str]
) -> dict[str, float]:
    """What is worth a look, by environment."""
    told = {"erpo/masked": 1 - valid.float().mean().item(), "erpo/degenerate": found.degenerate.float().mean().item()}
    for number, name in enumerate(names):
        here = valid & (environments == number)
        if bool(here.any()):
            told[f"erpo/{name}/reward"] = rewards[here].mean().item()
            told[f"erpo/{name}/scale"] = found.scale[here].mean().item()
    return told
