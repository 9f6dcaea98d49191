"""The clipped objective: what is masked has no part in it."""

from __future__ import annotations

import pytest
import torch

from forgec.training.objective import Aggregation, Objective, policy_loss

OLD = torch.tensor([[-1.0, -2.0, -0.5], [-0.1, -3.0, -1.0]])
MASK = torch.tensor([[True, True, False], [True, False, True]])
GAINS = torch.tensor([1.0, -0.5])
BOTH = torch.tensor([True, True])


def test_the_first_update_is_the_policy_gradient() -> None:
    new = OLD.clone().requires_grad_()
    loss = policy_loss(new, OLD, GAINS, MASK, BOTH, Objective())
    loss.value.backward()  # type: ignore[no-untyped-call]
    assert loss.ratio.item() == 1
    assert loss.clipped.item() == 0
    assert new.grad is not None
    assert torch.allclose(new.grad, torch.tensor([[-0.25, -0.25, 0], [0.125, 0, 0.125]]))


@pytest.mark.parametrize("aggregation", ["tokens", "trajectories", "constant"])
def test_a_masked_trajectory_is_as_if_it_were_not_there(aggregation: Aggregation) -> None:
    objective = Objective(kl=0.1, aggregation=aggregation, constant_length=3)
    spoilt = torch.tensor([[-1.2, -1.7, -0.5], [-torch.inf, torch.nan, 1e30]], requires_grad=True)
    loss = policy_loss(spoilt, OLD, GAINS, MASK, torch.tensor([True, False]), objective, reference=OLD)
    loss.value.backward()  # type: ignore[no-untyped-call]
    assert spoilt.grad is not None
    assert spoilt.grad[1].tolist() == [0, 0, 0]
    alone = policy_loss(spoilt[:1].detach(), OLD[:1], GAINS[:1], MASK[:1], BOTH[:1], objective, reference=OLD[:1])
    assert torch.allclose(loss.value, alone.value)


def test_observations_have_no_gradient() -> None:
    new = (OLD + 0.1).requires_grad_()
    policy_loss(new, OLD, GAINS, MASK, BOTH, Objective(level="sequence")).value.backward()  # type: ignore[no-untyped-call]
    assert new.grad is not None
    assert not new.grad[~MASK].any()
    assert new.grad[MASK].all()


def test_a_gain_counts_up_to_the_clip_and_a_loss_fully() -> None:
    new = (OLD + 1.0).requires_grad_()  # the ratio is e
    loss = policy_loss(new, OLD, GAINS, MASK, BOTH, Objective(clip_low=0.2, clip_high=0.28))
    assert torch.allclose(loss.policy, torch.tensor(-(2 * 1.28 - 2 * 0.5 * torch.e) / 4))
    assert loss.clipped.item() == 0.5
    loss.value.backward()  # type: ignore[no-untyped-call]
    assert new.grad is not None
    assert new.grad[0].tolist() == [0, 0, 0]


def test_the_divergence_is_none_from_itself_and_grows() -> None:
    objective = Objective(kl=1.0)
    same = policy_loss(OLD, OLD, GAINS, MASK, BOTH, objective, reference=OLD)
    apart = policy_loss(OLD, OLD, GAINS, MASK, BOTH, objective, reference=OLD - 1)
    assert same.kl.item() == 0
    assert apart.kl.item() == pytest.approx(torch.e**-1, abs=1e-6)  # exp(-1) + 1 - 1
    assert apart.value.item() == pytest.approx(same.value.item() + apart.kl.item())


def test_the_aggregations_weigh_long_trajectories_differently() -> None:
    mask = torch.tensor([[True, True, True], [True, False, False]])
    losses = [
        policy_loss(OLD, OLD, GAINS, mask, BOTH, Objective(aggregation=one, constant_length=4)).value.item()
        for one in ("tokens", "trajectories", "constant")
    ]
    assert losses == pytest.approx([-(3 - 0.5) / 4, -(1 - 0.5) / 2, -(3 - 0.5) / 8])


def test_nothing_that_counts_is_no_loss() -> None:
    new = OLD.clone().requires_grad_()
    loss = policy_loss(new, OLD, GAINS, MASK, ~BOTH, Objective())
    loss.value.backward()  # type: ignore[no-untyped-call]
    assert loss.value.item() == 0
    assert new.grad is not None
    assert not new.grad.any()


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="differ in shape"):
        policy_loss(OLD, OLD[:1], GAINS, MASK, BOTH, Objective())
    with pytest.raises(ValueError, match="must have the shape"):
        policy_loss(OLD, OLD, GAINS[:1], MASK, BOTH, Objective())
    with pytest.raises(ValueError, match="needs its log-probabilities"):
        policy_loss(OLD, OLD, GAINS, MASK, BOTH, Objective(kl=0.1))
    with pytest.raises(ValueError, match="must not be negative"):
        Objective(clip_low=-0.1)
