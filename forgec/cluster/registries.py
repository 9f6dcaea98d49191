"""ERPO for trainers that have a registry of estimators: verl and SkyRL.

Both give an estimator the rewards, a mask and the group of each trajectory, and no environment. In SkyRL the group is
the number of a row of the dataset, from which it follows. In verl it is drawn at random: one function, through which
the whole batch passes, is wrapped, and puts the row's `data_source` before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

from forgec.training.advantages import ESTIMATORS, Estimator, advantages, varied

NAME = "forgec_erpo"
Outcome: TypeAlias = Callable[..., tuple[Tensor, Tensor]]


def outcome_estimator(
    environment_of: Callable[[Any], str], estimator: Estimator = ESTIMATORS["erpo"], *, drop_constant: bool = True
) -> Outcome:
    """An estimator as registries have them: `(token_level_rewards, response_mask, index, ...) -> advantages, returns`.

    Rewards and mask have the shape [B, T], `index` names the group of each of the B trajectories; both results have the
    shape [B, T]. A trajectory without any token in the mask is left out of every statistic. With `drop_constant`, so
    are groups whose trajectories are all worth the same.
    """

    def estimate(
        token_level_rewards: Tensor, response_mask: Tensor, index: Sequence[Any], config: Any = None, **_: Any
    ) -> tuple[Tensor, Tensor]:
        with torch.no_grad():
            rewards = token_level_rewards.sum(-1).double().cpu()
            valid = (response_mask.sum(-1) > 0).cpu()
            questions = _numbered([str(one) for one in index])
            environments = _numbered([environment_of(one) for one in index])
            kept = varied(rewards, questions, valid) if drop_constant else None
            found = advantages(rewards, questions, environments, valid, estimator, kept=kept).values
            spread = found.to(token_level_rewards).unsqueeze(-1) * response_mask
        return spread, spread

    return estimate


def register_verl(estimator: Estimator = ESTIMATORS["erpo"]) -> None:
    """Make `algorithm.adv_estimator=forgec_erpo` known to verl; rows name their environment in `data_source`.

    Call it in the process that trains, before verl's trainer does anything.
    """
    from verl.trainer.ppo import ray_trainer
    from verl.trainer.ppo.core_algos import register_adv_est

    register_adv_est(NAME)(outcome_estimator(lambda group: str(group).rpartition("/")[0], estimator))
    theirs = ray_trainer.compute_advantage

    def with_environments(data: Any, *args: Any, **kwargs: Any) -> Any:
        groups = zip(data.non_tensor_batch["data_source"], data.non_tensor_batch["uid"], strict=True)
        data.non_tensor_batch["uid"] = np.array([f"{source}/{group}" for source, group in groups], dtype=object)
        return theirs(data, *args, **kwargs)

    ray_trainer.compute_advantage = with_environments


def register_skyrl(environments: Sequence[str], estimator: Estimator = ESTIMATORS["erpo"]) -> None:
    """Make `trainer.algorithm.advantage_estimator=forgec_erpo` known to SkyRL.

    `environments` are those of the dataset's rows, in their order. Call it where SkyRL's examples register theirs.
    """
    from skyrl.backends.skyrl_train.utils.ppo_utils import AdvantageEstimatorRegistry

    AdvantageEstimatorRegistry.register(NAME, outcome_estimator(lambda row: environments[int(row)], estimator))


def _numbered(names: Sequence[str]) -> Tensor:
    """Names by number, in the order of their first coming."""
    numbers: dict[str, int] = {}
    return torch.tensor([numbers.setdefault(name, len(numbers)) for name in names])
