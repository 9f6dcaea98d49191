"""What NeMo-RL can be told to do that a run of ours cannot be served with, as it would learn the wrong thing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forgec.training.advantages import ESTIMATORS


def refusals(config: Mapping[str, Any]) -> list[str]:
    """Why a composed configuration of NeMo-RL cannot be trained with, if it cannot."""
    found = []
    grpo, env = config.get("grpo", {}), config.get("env", {})
    loss = config.get("loss_fn") or {}
    if (config.get("data_plane") or {}).get("enabled"):
        found.append("data_plane.enabled: its trainer does not tell the estimator which environment a row is of")
    if grpo.get("use_leave_one_out_baseline"):
        found.append("grpo.use_leave_one_out_baseline: a lone success then has a deviation of 0, and is dropped")
    gym = bool(env.get("should_use_nemo_gym"))
    if (grpo.get("async_grpo") or {}).get("enabled"):
        if not gym:
            found.append("grpo.async_grpo.enabled without NeMo Gym: its collector does not hear what is masked")
        if grpo.get("use_dynamic_sampling"):
            found.append("grpo.use_dynamic_sampling with grpo.async_grpo.enabled: NeMo-RL has no such mode")
    if gym and not env.get("should_mask_flagged_samples", True):
        found.append("env.should_mask_flagged_samples: false: trajectories whose user erred would be trained on")
    for name in ("shuffle", "use_multiple_dataloader"):
        if (config.get("data") or {}).get(name):
            found.append(f"data.{name}: the rows are in order, so that each step has questions of every environment")
    if grpo.get("adv_estimator", {}).get("name") not in ESTIMATORS:
        found.append(f"grpo.adv_estimator.name: it is none of {', '.join(ESTIMATORS)}")
    if loss.get("sequence_level_importance_ratios") and loss.get("token_level_loss"):
        found.append("loss_fn.sequence_level_importance_ratios: NeMo-RL has it with token_level_loss: false alone")
    return found
