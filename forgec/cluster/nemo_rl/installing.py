"""What makes NeMo-RL train with ERPO in compiled environments: registrations, and four functions that are replaced.

It is done in the process that drives the training, before its script is run; nothing of NeMo-RL's files is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor

from forgec.cluster.estimator import NemoEstimator, flagged, questions
from forgec.cluster.modes import refusals
from forgec.training.advantages import varied

ACTOR = "forgec.cluster.nemo_rl.environment.ForgecEnvironment"
ENVIRONMENT = "forgec"


class RefusedError(RuntimeError):
    """A NeMo-RL, or a mode of it, that cannot be served; the text says why."""


def install(config: Mapping[str, Any]) -> None:
    """Make the NeMo-RL of this process ready for a composed configuration. Raises `RefusedError`."""
    if find_spec("nemo_rl") is None or find_spec("nemo_rl.environments") is None:
        raise RefusedError("there is no NeMo-RL here, or only the empty package that registries have under that name")
    from nemo_rl.algorithms import grpo
    from nemo_rl.distributed.ray_actor_environment_registry import ACTOR_ENVIRONMENT_REGISTRY
    from nemo_rl.distributed.virtual_cluster import PY_EXECUTABLES
    from nemo_rl.environments import utils

    reasons = refusals(config)
    missing = [name for name in ("_create_advantage_estimator", "dynamic_sampling") if not hasattr(grpo, name)]
    reasons += [f"nemo_rl.algorithms.grpo has no {name}: it is of a version that is not known" for name in missing]
    if reasons:
        raise RefusedError("; ".join(reasons))
    ACTOR_ENVIRONMENT_REGISTRY[ACTOR] = PY_EXECUTABLES.SYSTEM
    if ENVIRONMENT not in utils.ENV_REGISTRY:
        utils.register_env(ENVIRONMENT, ACTOR)
    grpo._create_advantage_estimator = _estimators(grpo._create_advantage_estimator)
    grpo.dynamic_sampling = _sampled_after_masks(grpo.dynamic_sampling)
    for name in ("run_multi_turn_rollout", "run_async_multi_turn_rollout"):
        setattr(grpo, name, _masked(getattr(grpo, name)))


def _estimators(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """Ours for a recipe of ours, theirs for any other."""

    def create(master_config: Any) -> Any:
        part = _of(master_config.grpo, "adv_estimator")
        options = part if isinstance(part, Mapping) else part.model_dump()
        return NemoEstimator.of(options) if "forgec" in options else theirs(master_config)

    return create


def _masked(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """Rollouts in which episodes that the environment masked weigh nothing in the loss."""

    def rollout(*args: Any, **kwargs: Any) -> Any:
        batch, metrics = theirs(*args, **kwargs)
        masked = flagged(batch)
        batch["loss_multiplier"] = torch.where(
            masked, torch.zeros_like(batch["loss_multiplier"]), batch["loss_multiplier"]
        )
        return batch, {**metrics, "masked_rollouts": int(masked.sum())}

    return rollout


def _sampled_after_masks(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """Dynamic sampling that looks at valid trajectories only: which questions it keeps must not hang on masked ones.

    It keeps rows whose deviation is not 0; those of a question that is to go get a 0.
    """

    def sample(repeated_batch: Any, std: Tensor, baseline: Tensor, batches: int, master_config: Any, *args: Any) -> Any:
        rewards = repeated_batch["total_reward"].float()
        asked = questions(repeated_batch, len(rewards), int(_of(master_config.grpo, "num_generations_per_prompt")))
        valid = _valid(repeated_batch, overlong=bool(_of(master_config.grpo, "overlong_filtering")))
        varies = varied(rewards, asked, valid)
        kept = torch.where(varies, std, torch.zeros_like(std))
        return theirs(repeated_batch, kept, baseline, batches, master_config, *args)

    return sample


def _valid(batch: Mapping[str, Any], *, overlong: bool) -> Tensor:
    """Which trajectories are not masked, shape [B]; without those that were cut off, if they are `overlong`."""
    valid: Tensor = batch["loss_multiplier"] > 0
    for name in ("mask_sample", *(["truncated"] if overlong else [])):
        if batch.get(name) is not None:
            valid = valid & ~torch.as_tensor(batch[name], dtype=torch.bool)
    return valid


def _of(part: Any, name: str) -> Any:
    """A key of a part of NeMo-RL's configuration, which is a mapping in some versions and a model in others."""
    return part[name] if isinstance(part, Mapping) else getattr(part, name)
