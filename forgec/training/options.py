"""The estimator and the objective that a configuration asks for, every option of theirs explicit."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from forgec.training.advantages import ESTIMATORS, Estimator
from forgec.training.config import RunConfig
from forgec.training.objective import Objective


def estimator(config: RunConfig) -> Estimator:
    """How advantages are estimated; environments are numbered in the order of the configuration."""
    part = config.reinforcement
    known = ESTIMATORS[part.estimator]
    return replace(
        known, ddof=part.ddof, floor=part.floor if known.scale == "environment" else known.floor,
        reward_ranges={number: one.reward_range for number, one in enumerate(config.environments)},
    )  # fmt: skip


def objective(config: RunConfig) -> Objective:
    """The loss that is made of them."""
    part = config.reinforcement
    return Objective(part.clip_low, part.clip_high, part.level, part.aggregation, config.longest_turn, part.kl)


def told(config: RunConfig) -> dict[str, Any]:
    """All options of both, for the record."""
    return {"estimator": asdict(estimator(config)), "objective": asdict(objective(config))}
