"""ERPO and its relatives: the reference vector of the method, and what must hold of any batch."""

from __future__ import annotations

import dataclasses
import random
from typing import Any, TypeAlias

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from forgec.training.advantages import ESTIMATORS, Advantages, Estimator, RunningMoments, advantages, varied

# environment 0: q1 1,0,0,0; q2 1,1,0,masked; environment 1: q3 1,1,1,0
REWARDS = torch.tensor([1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0], dtype=torch.float64)
QUESTIONS = torch.tensor([1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3])
ENVIRONMENTS = torch.tensor([0] * 8 + [1] * 4)
VALID = torch.tensor([True] * 7 + [False] + [True] * 4)


def of(name: str, **options: Any) -> Advantages:
    estimator = dataclasses.replace(ESTIMATORS[name], **options)
    return advantages(REWARDS, QUESTIONS, ENVIRONMENTS, VALID, estimator)


def close(values: torch.Tensor, wanted: list[float]) -> bool:
    return bool(torch.allclose(values, torch.tensor(wanted, dtype=values.dtype), atol=1e-4))


def test_the_reference_vector_of_erpo() -> None:
    result = of("erpo")
    wanted = [1.5155, -0.5052, -0.5052, -0.5052, 0.6736, 0.6736, -1.3472, 0, 0.5774, 0.5774, 0.5774, -1.7321]
    assert close(result.values, wanted)
    assert close(result.scale, [0.494872] * 8 + [0.433013] * 4)


def test_the_reference_vector_of_grpo() -> None:
    result = of("grpo")
    wanted = [1.7321, -0.5774, -0.5774, -0.5774, 0.7071, 0.7071, -1.4142, 0, 0.5774, 0.5774, 0.5774, -1.7321]
    assert close(result.values, wanted)
    assert close(result.scale, [0.433013] * 4 + [0.471405] * 4 + [0.433013] * 4)


def test_dr_grpo_divides_by_nothing() -> None:
    assert close(of("dr_grpo").values, [0.75, -0.25, -0.25, -0.25, 1 / 3, 1 / 3, -2 / 3, 0, 0.25, 0.25, 0.25, -0.75])


def test_rloo_compares_with_the_others_of_the_question() -> None:
    third = 1 / 3
    assert close(of("rloo").values, [1, -third, -third, -third, 0.5, 0.5, -1, 0, third, third, third, -1])


def test_the_batch_divides_by_one_deviation() -> None:
    # 11 valid rewards, 6 of them 1
    assert close(of("batch").scale, [(6 / 11 * 5 / 11) ** 0.5] * 12)


def test_reinforce_divides_by_the_deviation_of_what_is_left() -> None:
    left = [0.75, -0.25, -0.25, -0.25, 1 / 3, 1 / 3, -2 / 3, 0.25, 0.25, 0.25, -0.75]
    deviation = (sum(value**2 for value in left) / 11) ** 0.5
    assert close(of("reinforce_pp").values[:1], [0.75 / deviation])


def test_a_sample_s_deviation_is_an_option() -> None:
    assert close(of("erpo", ddof=1).scale, [(7 / 6) ** 0.5 * 0.494872] * 8 + [0.5] * 4)


def test_the_baseline_may_be_the_environment_s() -> None:
    result = of("erpo", baseline="environment")
    assert close(result.baseline, [3 / 7] * 8 + [0.75] * 4)


def test_a_scale_has_a_floor_by_the_range_of_rewards() -> None:
    rewards = torch.tensor([10.0, 10.1, 10.0, 10.0])
    one = torch.zeros(4, dtype=torch.long)
    estimator = dataclasses.replace(ESTIMATORS["erpo"], reward_ranges={0: (0.0, 20.0)})
    result = advantages(rewards, one, one, one == 0, estimator)
    assert close(result.scale, [2.0] * 4)
    assert close(result.values[1:2], [0.075 / 2])


def test_a_question_that_does_not_vary_has_no_advantage() -> None:
    rewards = torch.tensor([0.1, 0.1, 0.1, 0.0, 1.0, 0.0])
    questions = torch.tensor([0, 0, 0, 1, 1, 1])
    everyone = torch.ones(6, dtype=torch.bool)
    result = advantages(rewards, questions, torch.zeros(6, dtype=torch.long), everyone)
    assert result.values[:3].tolist() == [0, 0, 0]
    assert result.degenerate.tolist() == [True, True, True, False, False, False]
    assert varied(rewards, questions, everyone).tolist() == [False, False, False, True, True, True]


def test_dynamic_sampling_comes_after_the_mask() -> None:
    rewards = torch.tensor([1.0, 1.0, 0.0])
    question = torch.zeros(3, dtype=torch.long)
    assert not varied(rewards, question, torch.tensor([True, True, False])).any()


def test_the_pool_may_hold_what_dynamic_sampling_left_out() -> None:
    kept = torch.tensor([True] * 4 + [False] * 4 + [True] * 4)
    after = advantages(REWARDS, QUESTIONS, ENVIRONMENTS, VALID, ESTIMATORS["erpo"], kept=kept)
    before = advantages(
        REWARDS, QUESTIONS, ENVIRONMENTS, VALID, dataclasses.replace(ESTIMATORS["erpo"], pool="all"), kept=kept
    )
    assert close(after.scale[:4], [0.433013] * 4)
    assert close(before.scale[:4], [0.494872] * 4)
    assert after.values[4:8].tolist() == before.values[4:8].tolist() == [0, 0, 0, 0]


def test_all_masked_is_all_zero() -> None:
    nobody = torch.zeros(12, dtype=torch.bool)
    for estimator in ESTIMATORS.values():
        assert not advantages(REWARDS, QUESTIONS, ENVIRONMENTS, nobody, estimator).values.any()


def test_an_empty_batch_is_empty() -> None:
    nothing = torch.zeros(0, dtype=torch.long)
    for estimator in ESTIMATORS.values():
        assert advantages(torch.zeros(0), nothing, nothing, nothing == 0, estimator).values.shape == (0,)


def test_a_running_deviation_begins_with_that_of_the_first_batch_and_can_be_resumed() -> None:
    moments = RunningMoments(0.5)
    first = advantages(REWARDS, QUESTIONS, ENVIRONMENTS, VALID, moments=moments)
    assert close(first.scale, [0.494872] * 8 + [0.433013] * 4)
    again = RunningMoments(0.5)
    again.load(moments.state())
    later = torch.zeros_like(REWARDS)
    later[0] = 1.0
    expected = advantages(later, QUESTIONS, ENVIRONMENTS, VALID, moments=moments)
    assert expected.values.equal(advantages(later, QUESTIONS, ENVIRONMENTS, VALID, moments=again).values)
    # environment 0: weights 0.25 and 0.5 of 0.75, means 3/7 and 1/7
    mean = (3 / 7 + 2 / 7) / 3
    assert close(expected.scale[:1], [(mean - mean**2) ** 0.5])


@pytest.mark.parametrize(
    ("rewards", "questions", "environments", "valid", "said"),
    [
        (torch.zeros(2, 2), QUESTIONS, ENVIRONMENTS, VALID, "one dimension"),
        (REWARDS, QUESTIONS[:3], ENVIRONMENTS, VALID, "question_ids has the shape"),
        (QUESTIONS, QUESTIONS, ENVIRONMENTS, VALID, "floats"),
        (REWARDS, QUESTIONS, ENVIRONMENTS, QUESTIONS, "valid must be booleans"),
        (REWARDS * torch.nan, QUESTIONS, ENVIRONMENTS, VALID, "not a finite number"),
        (REWARDS, torch.ones_like(QUESTIONS), ENVIRONMENTS, VALID, "two environments"),
    ],
)
def test_what_does_not_fit_is_refused(
    rewards: torch.Tensor, questions: torch.Tensor, environments: torch.Tensor, valid: torch.Tensor, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        advantages(rewards, questions, environments, valid)


def test_options_that_make_no_sense_are_refused() -> None:
    for options in ({"ddof": 2}, {"eps": -1.0}, {"floor": -0.1}, {"reward_range": (1.0, 1.0)}):
        with pytest.raises(ValueError, match="must"):
            Estimator(**options)
    with pytest.raises(ValueError, match="decay"):
        RunningMoments(1.0)


Batch: TypeAlias = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]
"""Rewards, questions, environments, and which are valid."""


# -- any batch -----------------------------------------------------------------------------------------------------


@st.composite
def batches(draw: st.DrawFn) -> Batch:
    """One to three environments of one to three questions of one to five trajectories, some masked."""
    rewards: list[float] = []
    questions: list[int] = []
    environments: list[int] = []
    question = 0
    for environment in range(draw(st.integers(1, 3))):
        for _ in range(draw(st.integers(1, 3))):
            some = draw(st.lists(st.integers(0, 4).map(lambda n: n / 4), min_size=1, max_size=5))
            rewards += some
            questions += [question] * len(some)
            environments += [environment] * len(some)
            question += 1
    valid = draw(st.lists(st.booleans(), min_size=len(rewards), max_size=len(rewards)))
    return (
        torch.tensor(rewards, dtype=torch.float64),
        torch.tensor(questions),
        torch.tensor(environments),
        torch.tensor(valid),
    )


every = st.sampled_from(sorted(ESTIMATORS))


@given(batches(), every)
def test_the_advantages_of_a_question_sum_to_nothing(batch: Batch, name: str) -> None:
    rewards, questions, environments, valid = batch
    values = advantages(rewards, questions, environments, valid, ESTIMATORS[name]).values
    for question in questions.unique():  # type: ignore[no-untyped-call]
        assert abs(values[questions == question].sum().item()) < 1e-9


@given(batches(), every, st.floats(-100, 100))
def test_the_reward_of_a_masked_trajectory_changes_nothing(batch: Batch, name: str, other: float) -> None:
    rewards, questions, environments, valid = batch
    assume(not valid.all())
    changed = torch.where(valid, rewards, torch.full_like(rewards, other))
    changed[(~valid).nonzero()[0]] = torch.nan
    both = [advantages(one, questions, environments, valid, ESTIMATORS[name]).values for one in (rewards, changed)]
    assert both[0].equal(both[1])
    assert not both[0][~valid].any()


@given(batches(), every, st.randoms(use_true_random=False))
def test_the_order_of_trajectories_changes_nothing(batch: Batch, name: str, chance: random.Random) -> None:
    order = list(range(len(batch[0])))
    chance.shuffle(order)
    rewards, questions, environments, valid = (one[order] for one in batch)
    values = advantages(*batch, ESTIMATORS[name]).values
    moved = advantages(rewards, questions, environments, valid, ESTIMATORS[name]).values
    assert torch.allclose(values[order], moved, atol=1e-12)


@given(batches(), st.integers(1, 1000))
def test_the_size_of_an_environment_s_rewards_changes_nothing(batch: Batch, factor: int) -> None:
    rewards, questions, environments, valid = batch
    exact = dataclasses.replace(ESTIMATORS["erpo"], eps=0.0)
    scaled = torch.where(environments == 0, rewards * factor, rewards)
    larger = dataclasses.replace(exact, reward_ranges={0: (0.0, float(factor))})
    values = advantages(rewards, questions, environments, valid, exact).values
    assert torch.allclose(values, advantages(scaled, questions, environments, valid, larger).values, atol=1e-9)


@given(batches())
def test_with_one_question_an_environment_it_is_grpo(batch: Batch) -> None:
    rewards, questions, _, valid = batch
    erpo = dataclasses.replace(ESTIMATORS["erpo"], floor=0.0)
    values = advantages(rewards, questions, questions, valid, erpo).values
    assert torch.allclose(values, advantages(rewards, questions, questions, valid, ESTIMATORS["grpo"]).values)


@given(batches())
def test_within_an_environment_it_is_dr_grpo_by_one_constant(batch: Batch) -> None:
    rewards, questions, _, valid = batch
    one = torch.zeros_like(questions)
    erpo, plain = (advantages(rewards, questions, one, valid, ESTIMATORS[name]) for name in ("erpo", "dr_grpo"))
    assert torch.allclose(erpo.values * erpo.scale, plain.values, atol=1e-12)
