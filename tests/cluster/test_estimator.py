"""ERPO as NeMo-RL, verl and SkyRL call it."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from forgec.cluster.estimator import MASKED, NemoEstimator, flagged, questions
from forgec.cluster.recipe import recipe
from forgec.cluster.registries import NAME, outcome_estimator, register_skyrl, register_verl
from forgec.training.advantages import ESTIMATORS
from tests.cluster.recipes import CHECKOUT, config
from tests.cluster.vector import ADVANTAGES, ENVIRONMENTS, MASK, QUESTIONS, REWARDS

NATIVE = {
    "extra_env_info": [
        {"environment": name, "question": question} for name, question in zip(ENVIRONMENTS, QUESTIONS, strict=True)
    ]
}
GYM = {"agent_ref": [{"type": "responses_api_agents", "name": name} for name in ENVIRONMENTS]}
PROMPTS = torch.tensor(QUESTIONS).unsqueeze(-1).expand(12, 3)


def options(**algorithm: Any) -> dict[str, Any]:
    """What a recipe tells the estimator."""
    made = recipe(config(algorithm=algorithm), CHECKOUT, CHECKOUT.folder, ["library", "phone"], validation=4)
    found: dict[str, Any] = made["grpo"]["adv_estimator"]
    return found


def close(values: torch.Tensor, wanted: list[float]) -> bool:
    return bool(torch.allclose(values, torch.tensor(wanted, dtype=values.dtype), atol=1e-4))


@pytest.mark.parametrize("batch", [NATIVE, GYM])
def test_the_reference_vector(batch: dict[str, Any]) -> None:
    """By numbers of questions, or by places; never by prompts, which are all alike."""
    estimator = NemoEstimator.of(options(trajectories=4))
    values = estimator.compute_advantage(torch.zeros(12, 3), REWARDS, MASK, batch, logprobs_policy=None)
    assert values.shape == MASK.shape
    assert all(close(values[:, column], ADVANTAGES) for column in range(5))
    assert estimator.last_metrics["erpo/masked"] == pytest.approx(1 / 12)
    assert estimator.last_metrics["erpo/library/scale"] == pytest.approx(0.494873, abs=1e-5)


def test_a_valid_mask_that_the_trainer_has_counts_too() -> None:
    """Newer versions hand in which rows are valid."""
    whole = MASK.clone()
    whole[7] = 1
    valid = torch.ones(12)
    valid[7] = 0
    values = NemoEstimator.of(options()).compute_advantage(PROMPTS, REWARDS, whole, NATIVE, valid_mask=valid)
    assert close(values[:, 1], ADVANTAGES)


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_a_recipe_says_every_option(name: str) -> None:
    estimator = NemoEstimator.of(options(estimator=name, ddof=1, floor=0.25, running=0.5))
    assert estimator.estimator.scale == ESTIMATORS[name].scale
    assert estimator.estimator.baseline == ESTIMATORS[name].baseline
    assert estimator.estimator.ddof == 1
    assert estimator.estimator.reward_ranges == {0: (0.0, 1.0), 1: (0.0, 1.0)}
    assert estimator.moments is not None and estimator.moments.decay == 0.5
    assert (estimator.estimator.floor == 0.25) == (name == "erpo")


def test_an_environment_of_another_run_is_an_error() -> None:
    with pytest.raises(ValueError, match="the run has no environment bank"):
        NemoEstimator.of(options()).environments({"agent_ref": [{"name": "bank"}]})


def test_a_batch_without_environments_is_an_error() -> None:
    with pytest.raises(ValueError, match="does not tell environments apart"):
        NemoEstimator.of(options()).environments({})


def test_questions_are_told_apart_by_number_where_there_is_one_and_else_by_place() -> None:
    assert questions(NATIVE, 12, 5).tolist() == QUESTIONS
    assert questions(GYM, 12, 4).tolist() == [one - 1 for one in QUESTIONS]
    with pytest.raises(ValueError, match="not of questions with 5 each"):
        questions(GYM, 12, 5)


def test_what_is_masked_is_told_by_the_role_of_the_last_message() -> None:
    logs = [[{"role": "assistant"}, {"role": MASKED}], [{"role": MASKED}, {"role": "environment"}], []]
    assert flagged({"message_log": logs}).tolist() == [True, False, False]


def test_the_reference_vector_for_registries() -> None:
    rewards = torch.zeros(12, 5)
    rewards[:, 4] = REWARDS
    index = np.array(
        [f"{name}/{question}" for name, question in zip(ENVIRONMENTS, QUESTIONS, strict=True)], dtype=object
    )
    found, returns = outcome_estimator(lambda group: str(group).partition("/")[0])(rewards, MASK, index, None)
    assert close(found[:, 1], ADVANTAGES)
    assert not found[:, 0].any()  # a token that is not to be trained
    assert torch.equal(found, returns)


def stand_in(monkeypatch: pytest.MonkeyPatch, name: str, **content: Any) -> types.ModuleType:
    """A module of the shape of a trainer's, with the packages that it is in."""
    parts = name.split(".")
    for i in range(1, len(parts)):
        package = types.ModuleType(".".join(parts[:i]))
        package.__path__ = []
        monkeypatch.setitem(sys.modules, package.__name__, package)
    module = types.ModuleType(name)
    module.__dict__.update(content)
    monkeypatch.setitem(sys.modules, name, module)
    return module


def test_verl_is_given_the_environment_by_its_data_source(monkeypatch: pytest.MonkeyPatch) -> None:
    known: dict[str, Callable[..., Any]] = {}
    seen: list[str] = []

    def compute_advantage(data: Any, adv_estimator: str) -> Any:
        seen.extend(data.non_tensor_batch["uid"])
        rewards = torch.zeros(12, 5)
        rewards[:, 4] = REWARDS
        return known[adv_estimator](
            token_level_rewards=rewards, response_mask=MASK, config=None, index=data.non_tensor_batch["uid"]
        )

    trainer = stand_in(monkeypatch, "verl.trainer.ppo.ray_trainer", compute_advantage=compute_advantage)
    stand_in(monkeypatch, "verl.trainer.ppo.core_algos",
             register_adv_est=lambda name: lambda function: known.setdefault(name, function))  # fmt: skip
    sys.modules["verl.trainer.ppo"].ray_trainer = trainer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "verl.trainer.ppo.ray_trainer", trainer)
    register_verl()
    groups = np.array([f"{question:08x}" for question in QUESTIONS], dtype=object)
    sources = np.array([f"ours/{one}" for one in ENVIRONMENTS], dtype=object)  # as the hub's data sets are named
    found, _ = trainer.compute_advantage(
        types.SimpleNamespace(non_tensor_batch={"data_source": sources, "uid": groups}), NAME
    )
    assert seen[0] == "ours/library/00000001" and seen[-1] == "ours/phone/00000003"
    assert close(found[:, 1], ADVANTAGES)


def test_skyrl_is_given_the_environment_by_the_row(monkeypatch: pytest.MonkeyPatch) -> None:
    known: dict[str, Callable[..., Any]] = {}
    registry = types.SimpleNamespace(register=known.__setitem__)
    stand_in(monkeypatch, "skyrl.backends.skyrl_train.utils.ppo_utils", AdvantageEstimatorRegistry=registry)
    register_skyrl(["none", "library", "library", "phone"])
    rewards = torch.zeros(12, 5)
    rewards[:, 4] = REWARDS
    found, _ = known[NAME](
        token_level_rewards=rewards, response_mask=MASK, index=np.array([str(one) for one in QUESTIONS]), values=None,
        grpo_norm_by_std=True, gamma=1.0, lambd=1.0, config=None,
    )  # fmt: skip
    assert close(found[:, 1], ADVANTAGES)
