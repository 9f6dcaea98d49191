"""ERPO through the real functions of verl and SkyRL, where `VERL` and `SKYRL` name their sources."""

from __future__ import annotations

import os
import sys

import numpy as np
import pytest
import torch

from forgec.cluster.registries import NAME, register_skyrl, register_verl
from tests.cluster.vector import ADVANTAGES, ENVIRONMENTS, MASK, QUESTIONS, REWARDS

PER_TOKEN = torch.zeros(12, 5)
PER_TOKEN[:, 4] = REWARDS
GROUPS = np.array([str(one) for one in QUESTIONS], dtype=object)


def of(name: str) -> None:
    """Make a trainer's source importable; without it there is nothing to test."""
    folder = os.environ.get(name, "")
    if not folder:
        pytest.skip(f"{name} names no folder")
    sys.path += [folder, f"{folder}/skyrl-gym"]  # SkyRL's repository has two packages


def test_the_reference_vector_in_verl() -> None:
    of("VERL")
    import transformers

    if not hasattr(
        transformers, "AutoModelForVision2Seq"
    ):  # verl asks for an older one's name, and does not use it here
        transformers.AutoModelForVision2Seq = transformers.AutoModelForImageTextToText
    from verl import DataProto
    from verl.trainer.ppo import ray_trainer

    register_verl()
    sources = np.array(ENVIRONMENTS, dtype=object)
    data = DataProto.from_dict(
        {"token_level_rewards": PER_TOKEN, "response_mask": MASK}, non_tensors={"uid": GROUPS, "data_source": sources}
    )
    found = ray_trainer.compute_advantage(data, adv_estimator=NAME, config=None).batch["advantages"]
    assert torch.allclose(found[:, 1], torch.tensor(ADVANTAGES), atol=1e-3)


def test_the_reference_vector_in_skyrl() -> None:
    of("SKYRL")
    from skyrl.backends.skyrl_train.utils.ppo_utils import compute_advantages_and_returns

    register_skyrl(["none", "library", "library", "phone"])
    found, _ = compute_advantages_and_returns(PER_TOKEN, MASK, GROUPS, NAME, None)
    assert torch.allclose(found[:, 1], torch.tensor(ADVANTAGES), atol=1e-3)
