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
        self, estimator: Estimator, environments: Sequence[str], *, drop_constant: bool, moments: RunningMoments | None
    ) -> None:
        """`environments` are all of the run, numbered as the ranges of rewards in `estimator` have them; with
        `drop_constant`, questions whose trajectories are all worth the same are left out of deviations, too."""
        self.estimator, self.drop_constant, self.moments = estimator, drop_constant, moments
        self.numbers = {name: number for number, name in enumerate(environments)}
        self.last_metrics: dict[str, float] = {}

    @staticmethod
    def of(options: Mapping[str, Any]) -> NemoEstimator:
        """The estimator of a recipe's `grpo.adv_estimator`. Raises `KeyError`, `TypeError`, `ValueError`."""
        known = dict(options["forgec"])
        environments = [str(name) for name in known.pop("environments")]
        ranges = [(float(low), float(high)) for low, high in known.pop("reward_ranges")]
        drop, running = bool(known.pop("drop_constant")), known.pop("running")
        base = ESTIMATORS[str(options["name"])]
        estimator = Estimator(
            **{**base.__dict__, **known, "reward_ranges": dict(enumerate(ranges))}
        )  # fmt: skip
        moments = None if running is None else RunningMoments(float(running))
        return NemoEstimator(estimator, environments, drop_constant=drop, moments=moments)

    def compute_advantage(
        self, prompt_ids: Tensor, rewards: Tensor, mask: Tensor, repeated_batch: Mapping[str, Any],
        valid_mask: Tensor | None = None, **_: Any,
    ) -> Tensor:  # fmt: skip
        """Advantages of shape [B, T], those of `mask`: the same for every token of a trajectory.

        `prompt_ids` has the shape [B, P], `rewards` [B], `valid_mask` [B]. A trajectory without any token to be trained
        is not valid. Raises `ValueError` for an environment that the run does not have.
        """
        valid = (mask.sum(-1) > 0).cpu()
        if valid_mask is not None:
            valid &= valid_mask.bool().cpu()
        values = rewards.detach().float().cpu()
        questions, environments = self.questions(repeated_batch, prompt_ids), self.environments(repeated_batch)
        kept = varied(values, questions, valid) if self.drop_constant else None
        found = advantages(
            values, questions, environments, valid, self.estimator, kept=kept, moments=self.moments
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

    def questions(self, batch: Mapping[str, Any], prompt_ids: Tensor) -> Tensor:
        """The question of each trajectory, by a number, shape [B]: rows of the batch that share it are a group."""
        return questions(batch, prompt_ids)


def questions(batch: Mapping[str, Any], prompt_ids: Tensor) -> Tensor:
    """Which trajectories of a batch answer the same question, shape [B]: by its number where the rows have one, else by
    their prompts, of shape [B, P]."""
    rows = batch.get("extra_env_info")
    if rows is not None and all("question" in one for one in rows):
        return torch.tensor([int(one["question"]) for one in rows])
    found: Tensor = torch.unique(prompt_ids.cpu(), dim=0, return_inverse=True)[1]
    return found


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
