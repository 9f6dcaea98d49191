"""How weights follow their gradients: AdamW, and Muon for the matrices of a policy that begins with nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter
from torch.optim import AdamW, Optimizer
from transformers import Qwen3ForCausalLM

MOMENTUM = 0.95
ITERATIONS = 5
FIFTH_ORDER = (3.4445, -4.7750, 2.0315)
"""Of the iteration that makes a matrix nearly orthogonal, as Muon has it."""
DECAY = 0.01
"""Of weights."""


class Muon(Optimizer):
    """Steps of equal size in all directions of a matrix (Jordan et al., 2024), each as long as one of AdamW would be.

    In single precision: PyTorch's own counts in bfloat16, which is slow where a processor has none.
    """

    def __init__(self, matrices: Iterable[Parameter], lr: float) -> None:
        super().__init__(matrices, {"lr": lr})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """Change the matrices by their gradients."""
        for group in self.param_groups:
            for matrix in group["params"]:
                if matrix.grad is None:
                    continue
                state = self.state[matrix]
                if not state:
                    state["momentum"] = torch.zeros_like(matrix)
                state["momentum"].lerp_(matrix.grad, 1 - MOMENTUM)
                change = orthogonal(matrix.grad.lerp(state["momentum"], MOMENTUM))
                matrix.mul_(1 - group["lr"] * DECAY)
                matrix.add_(change, alpha=-0.2 * math.sqrt(max(matrix.shape)) * group["lr"])


def orthogonal(matrix: Tensor) -> Tensor:
    """The nearest matrix whose singular values are all about 1, found by Newton-Schulz iterations."""
    wide = matrix.T if matrix.shape[0] > matrix.shape[1] else matrix
    found: Tensor = wide / wide.norm().clamp(min=1e-7)
    first, third, fifth = FIFTH_ORDER
    for _ in range(ITERATIONS):
        square = found @ found.T
        found = first * found + (third * square + fifth * square @ square) @ found
    return found.T if matrix.shape[0] > matrix.shape[1] else found


class Descent:
    """The optimizers of a policy, which take their steps together."""

    def __init__(self, model: Qwen3ForCausalLM, rate: float, matrices: float | None = None) -> None:
        """`rate` is AdamW's, of all weights; with a rate for `matrices` these are Muon's, but for the embedding."""
        inner = {
            name for name, one in model.named_parameters()
            if matrices is not None and one.dim() == 2 and "embed" not in name
        }  # fmt: skip
        outer = [one for name, one in model.named_parameters() if name not in inner]
        self._parts: list[tuple[Optimizer, float]] = [
            (AdamW(outer, lr=rate, betas=(0.9, 0.98), weight_decay=DECAY), rate)
        ]
        if matrices is not None:
            chosen = [one for name, one in model.named_parameters() if name in inner]
            self._parts.append((Muon(chosen, lr=matrices), matrices))

    def step(self, share: float) -> None:
        """Change the weights, at a `share` of the rates, and forget the gradients."""
        for optimizer, rate in self._parts:
            for group in optimizer.param_groups:
                group["lr"] = rate * share
            optimizer.step()
        self.forget()

    def forget(self) -> None:
        """Forget the gradients."""
        for optimizer, _ in self._parts:
            optimizer.zero_grad()

    def state(self) -> dict[str, Tensor]:
        """All that it remembers, by name."""
        return {
            f"{part}.{number}.{name}": value
            for part, (optimizer, _) in enumerate(self._parts)
            for number, moments in optimizer.state_dict()["state"].items()
            for name, value in moments.items()
        }

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Go on from a `state`. Raises `ValueError` where it is of other optimizers."""
        found: list[dict[int, dict[str, Tensor]]] = [{} for _ in self._parts]
        for name, value in state.items():
            part, number, kind = name.split(".")
            if int(part) >= len(found):
                raise ValueError("the checkpoint is of another optimizer")
            found[int(part)].setdefault(int(number), {})[kind] = value
        for (optimizer, _), moments in zip(self._parts, found, strict=True):
            content = optimizer.state_dict()
            content["state"] = moments
            optimizer.load_state_dict(content)
