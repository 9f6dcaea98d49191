from __future__ import annotations

import torch

from forgec.training import policy
from forgec.training.descent import Descent, orthogonal
from forgec.training.policy import Shape

SHAPE = Shape(width=32, layers=1, heads=2, kv_heads=1, feed_forward=32, context=64)


def test_all_directions_of_a_matrix_become_about_equally_long() -> None:
    torch.manual_seed(0)
    for shape in ((8, 8), (5, 12), (12, 5)):
        left, sizes, right = torch.linalg.svd(torch.randn(shape), full_matrices=False)
        matrix = left @ torch.diag(sizes.clamp(min=0.2)) @ right
        found = orthogonal(matrix)
        assert found.shape == shape
        values = torch.linalg.svdvals(found)
        assert values.min() > 0.6 and values.max() < 1.3
        assert ((left @ right) * found).sum() / found.norm() / (left @ right).norm() > 0.97
    assert not orthogonal(torch.zeros(4, 3)).any()


def test_matrices_go_their_own_way_and_the_embedding_does_not() -> None:
    models = {rate: policy.new(SHAPE, 300, seed=1) for rate in (None, 0.01)}
    for rate, model in models.items():
        torch.manual_seed(3)
        for weight in model.parameters():
            weight.grad = torch.randn(weight.shape)
        Descent(model, 0.001, rate).step(1.0)
    pairs = zip(models[None].named_parameters(), models[0.01].parameters(), strict=True)
    same = {name for (name, one), other in pairs if torch.equal(one, other)}
    assert "model.embed_tokens.weight" in same and "model.norm.weight" in same
    assert not any(name.endswith("_proj.weight") for name in same)


def test_a_descent_goes_on_from_its_state() -> None:
    found = []
    for stops in (False, True):
        model = policy.new(SHAPE, 300, seed=1)
        descent = Descent(model, 0.001, 0.01)
        for step in range(4):
            torch.manual_seed(step)
            for weight in model.parameters():
                weight.grad = torch.randn(weight.shape)
            descent.step(0.5)
            if stops:
                state = {name: value.clone() for name, value in descent.state().items()}
                descent = Descent(model, 0.001, 0.01)
                descent.load(state)
        found.append([*model.parameters()])
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))
