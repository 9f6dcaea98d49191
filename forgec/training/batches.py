"""Episodes as tokens, and several of them as tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor

from forgec.training.tokenizer import PAD


@dataclass
class Written:
    """One episode as a policy read and wrote it. The three lists are equally long and only ever grow."""

    ids: list[int] = field(default_factory=list)
    mask: list[bool] = field(default_factory=list)
    """Which tokens the policy drew; all others it was given."""
    logs: list[float] = field(default_factory=list)
    """The log-probabilities that they were drawn with; 0 for others."""

    def give(self, ids: Sequence[int]) -> None:
        """Add tokens that the policy is given."""
        self.ids += ids
        self.mask += [False] * len(ids)
        self.logs += [0.0] * len(ids)

    def draw(self, token: int, log: float) -> None:
        """Add a token that it drew."""
        self.ids.append(token)
        self.mask.append(True)
        self.logs.append(log)

    def imitate(self, ids: Sequence[int]) -> None:
        """Add tokens that it is to draw."""
        self.ids += ids
        self.mask += [True] * len(ids)
        self.logs += [0.0] * len(ids)

    @property
    def drawn(self) -> int:
        return sum(self.mask)


class Batch(NamedTuple):
    """Episodes side by side, all [B, T], padded at the right."""

    ids: Tensor
    mask: Tensor
    logs: Tensor


def batch(episodes: Sequence[Written]) -> Batch:
    """Episodes as tensors."""
    longest = max(len(one.ids) for one in episodes)
    ids = torch.full((len(episodes), longest), PAD)
    mask = torch.zeros((len(episodes), longest), dtype=torch.bool)
    logs = torch.zeros((len(episodes), longest))
    for row, one in enumerate(episodes):
        ids[row, : len(one.ids)] = torch.tensor(one.ids)
        mask[row, : len(one.ids)] = torch.tensor(one.mask)
        logs[row, : len(one.ids)] = torch.tensor(one.logs)
    return Batch(ids, mask, logs)


def portions(episodes: Sequence[Written], tokens: int) -> Iterator[list[int]]:
    """The places of episodes in groups of similar length, none of more than `tokens` tokens with their padding."""
    order = sorted(range(len(episodes)), key=lambda place: (len(episodes[place].ids), place))
    group: list[int] = []
    for place in order:
        if group and (len(group) + 1) * len(episodes[place].ids) > tokens:
            yield group
            group = []
        group.append(place)
    if group:
        yield group
