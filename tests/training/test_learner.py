from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
import torch

from forgec.rollouts.trajectory import Times, Trajectory, UserVerdict
from forgec.training import policy
from forgec.training.advantages import ESTIMATORS
from forgec.training.batches import Batch, Written, batch
from forgec.training.episodes import Episode, Played
from forgec.training.learner import Learner, NotANumber
from forgec.training.objective import Objective
from forgec.training.policy import Shape
from forgec.training.questions import Question

SHAPE = Shape(width=32, layers=1, heads=2, kv_heads=1, feed_forward=32, context=64)
NAMES = ["bank", "library"]


def learner(rate: float = 1e-2, portion: int = 8192) -> Learner:
    return Learner(policy.new(SHAPE, 300, seed=3), rate, portion)


def played(
    environment: str,
    question: int,
    trial: int,
    reward: float,
    *,
    masked: bool = False,
    token: int = 40,
    length: int = 5,
) -> Played:
    written = Written()
    written.give([2, 50 + question, 1, 4])
    for place in range(length):
        written.draw(token + place, -5.7)
    trajectory = Trajectory(
        format=1, environment=environment, task=str(question), seed=0, trial=trial, agent="policy", user="scripted",
        messages=(), turns=1, calls=0, end="satisfied", reward=reward, parts={}, digest="",
        user_verdict=UserVerdict(mask=masked, source="rules"),
        times=Times(total=0, agent=0, user=0, environment=0),
    )  # fmt: skip
    return Played(Episode(Question(environment, str(question), 0), trial), trajectory, written)


def reinforced(episodes: list[Played], made: Learner | None = None, **options: Any) -> tuple[Learner, dict[str, Any]]:
    made = made or learner()
    objective = Objective(**options.pop("objective", {}))
    return made, made.reinforce(episodes, NAMES, ESTIMATORS["erpo"], objective, **options)


def same(one: Learner, other: Learner) -> bool:
    pairs = zip(one.model.parameters(), other.model.parameters(), strict=True)
    return all(torch.equal(first, second) for first, second in pairs)


MIXED = [
    played("bank", 0, 0, 1.0, token=40), played("bank", 0, 1, 0.0, token=60), played("library", 1, 0, 1.0, token=80),
    played("library", 1, 1, 0.0, token=100, length=9), played("library", 2, 0, 1.0), played("library", 2, 1, 1.0),
]  # fmt: skip


def test_what_was_paid_better_becomes_likelier() -> None:
    made = learner()
    with torch.no_grad():
        before = policy.log_probs(made.model, _batch(MIXED[:2]))[0].sum(1)
    for _ in range(5):
        made.reinforce(MIXED, NAMES, ESTIMATORS["erpo"], Objective())
    with torch.no_grad():
        after = policy.log_probs(made.model, _batch(MIXED[:2]))[0].sum(1)
    assert after[0] - before[0] > after[1] - before[1]


def test_the_logs_tell_each_environment_apart() -> None:
    _, told = reinforced([*MIXED, played("bank", 0, 2, 0.0, masked=True)])
    bank, library = told["environments"]["bank"], told["environments"]["library"]
    assert (bank["masked"], bank["reward"], bank["constant"]) == (pytest.approx(1 / 3), 0.5, 0.0)
    assert (library["masked"], library["reward"], library["constant"]) == (0.0, 0.75, 0.5)
    assert bank["advantage"] == pytest.approx(1.0, abs=1e-4) and told["entropy"] > 5


def test_a_masked_trajectory_changes_nothing_whatever_it_was_paid() -> None:
    without, _ = reinforced(MIXED)
    for reward in (0.0, 1.0):
        masked, _ = reinforced([*MIXED, played("bank", 0, 2, reward, masked=True, token=200)])
        assert same(without, masked)


def test_the_size_of_a_portion_changes_nothing_but_roundings() -> None:
    for aggregation in ("tokens", "trajectories", "constant"):
        options: dict[str, Any] = {"objective": {"aggregation": aggregation, "constant_length": 20}}
        (whole, told), (parts, again) = reinforced(MIXED, **options), reinforced(MIXED, learner(portion=10), **options)
        for first, second in zip(whole.model.parameters(), parts.model.parameters(), strict=True):
            torch.testing.assert_close(first, second, atol=1e-5, rtol=1e-3)
        assert told["loss"] == pytest.approx(again["loss"], abs=1e-5)


@pytest.mark.parametrize(
    "episodes",
    [
        [played("bank", 0, trial, float(trial), masked=True) for trial in range(2)],
        [played("bank", 0, trial, 1.0) for trial in range(2)],
    ],
    ids=["all masked", "all worth the same"],
)
def test_without_anything_to_learn_from_nothing_changes(episodes: list[Played]) -> None:
    made, told = reinforced(episodes)
    assert "loss" not in told and same(made, learner())


def test_the_first_update_of_a_step_has_the_ratio_one() -> None:
    made, episodes = learner(), deepcopy(MIXED)
    with torch.no_grad():
        logs = policy.log_probs(made.model, _batch(episodes))[0]
    for one, log in zip(episodes, logs, strict=True):
        one.written.logs[:] = log[: len(one.written.ids)].tolist()
    _, told = reinforced(episodes, made, updates=2)
    assert told["ratio"] == pytest.approx(1, abs=1e-5) and told["ratio_1"] != told["ratio"]


def test_the_divergence_is_measured_from_the_reference() -> None:
    reference = policy.new(SHAPE, 300, seed=3)
    made, told = reinforced(MIXED, objective={"kl": 0.1}, reference=reference)
    assert told["kl"] == pytest.approx(0, abs=1e-6)
    _, told = reinforced(MIXED, made, objective={"kl": 0.1}, reference=reference)
    assert told["kl"] > 1e-6


def test_a_loss_that_is_no_number_stops_and_leaves_the_policy_as_it_was() -> None:
    broken = played("bank", 0, 0, 1.0)
    broken.written.logs[5] = float("nan")
    made = learner()
    with pytest.raises(NotANumber):
        reinforced([broken, MIXED[1]], made)
    assert same(made, learner())


def test_imitation_makes_what_it_saw_likelier() -> None:
    made = learner()
    episodes = [one.written for one in MIXED]
    surprises = [made.imitate(episodes, observations=0.1) for _ in range(40)]
    assert surprises[-1] < surprises[0] - 1


def test_the_policy_is_the_mean_of_the_last_steps() -> None:
    made = Learner(policy.new(SHAPE, 300, seed=3), 1e-2, average=0.75)
    episodes = [one.written for one in MIXED]
    made.imitate(episodes)
    mean = made.model.get_input_embeddings().weight.detach().clone()
    for _ in range(4):
        made.imitate(episodes)
        mean.lerp_(made.model.get_input_embeddings().weight.detach(), 0.25)
    assert made.learned is not made.model and made.learned.lm_head.weight is made.learned.model.embed_tokens.weight
    torch.testing.assert_close(made.learned.get_input_embeddings().weight, mean)
    assert not torch.allclose(mean, made.model.get_input_embeddings().weight)
    assert learner().learned.training is False


def _batch(episodes: list[Played]) -> Batch:
    return batch([one.written for one in episodes])
