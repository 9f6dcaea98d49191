"""Learns the weights with which the scripted user reads: `python -m tests.users.learning` writes them anew.

What is made likely are the labels of all messages but those that are held out, with a penalty for large weights, and
one for weights at all, so that fewer are left. The same messages and the same torch give the same file. With
`--held-out SET...` other sets are left out as well, it prints what comes of them, and nothing is written.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from unittest.mock import patch

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy, embedding_bag, logsigmoid

from forgec.users import reading
from forgec.users.features import asking, meaning, parts
from forgec.users.reading import Weights
from forgec.users.topics import shared, topics
from tests.users.counting import outcomes
from tests.users.labelled import HELD_OUT, Labelled, briefing, framed, messages

WEIGHTS = Path(__file__).parents[2] / "forgec" / "users" / "weights.tsv"
SEEN = 3
"""In how many messages a feature must have been seen."""
RIDGE, LASSO = 1e-4, 5e-5
STEPS, RATE = 120, 0.05
SMALL = 0.02
"""Weights below this are left out."""


class Samples:
    """Messages as numbers: a row for each part, and one for each part and fact."""

    def __init__(self, labelled: Iterable[Labelled]) -> None:
        self.labelled = list(labelled)
        self.facts: list[tuple[int, str]] = []
        """The message and the name of each fact."""
        self.asking: list[list[tuple[str, float]]] = []
        self.meaning: list[list[tuple[str, float]]] = []
        self.part: list[int] = []
        """Of each row of `meaning`, the row of `asking`."""
        self.fact: list[int] = []
        """Of each row of `meaning`, the fact."""
        for place, one in enumerate(self.labelled):
            known = topics(briefing(one.environment, one.task))
            common, start = shared(known), len(self.facts)
            self.facts += [(place, topic.name) for topic in known]
            for part in parts(one.text):
                for offset, found in enumerate(meaning(part, one.text, known, common)):
                    self.meaning.append(sorted(found.items()))
                    self.part.append(len(self.asking))
                    self.fact.append(start + offset)
                self.asking.append([(name, 1.0) for name in asking(part)])
        self.labels = torch.tensor([float(name in self.labelled[place].asks) for place, name in self.facts])

    def seen(self) -> tuple[list[str], list[str]]:
        """The features of both models that are seen in enough messages, sorted."""
        of_message: list[tuple[set[str], set[str]]] = [(set(), set()) for _ in self.labelled]
        for row, part, fact in zip(self.meaning, self.part, self.fact, strict=True):
            asked, meant = of_message[self.facts[fact][0]]
            asked.update(name for name, _ in self.asking[part])
            meant.update(name for name, _ in row)
        counts = Counter[str](), Counter[str]()
        for some in of_message:
            for count, names in zip(counts, some, strict=True):
                count.update(names)
        first, second = ([name for name in sorted(count) if count[name] >= SEEN] for count in counts)
        return first, second


def _sums(rows: Sequence[Sequence[tuple[str, float]]], names: Sequence[str]) -> Callable[[Tensor], Tensor]:
    """What rows come to, by the weights of their features."""
    places = {name: place for place, name in enumerate(names)}
    kept = [[(places[name], number) for name, number in row if name in places] for row in rows]
    indices = torch.tensor([place for row in kept for place, _ in row], dtype=torch.long)
    numbers = torch.tensor([number for row in kept for _, number in row], dtype=torch.float)
    offsets = torch.tensor([len(row) for row in kept]).cumsum(0).roll(1)
    offsets[0] = 0

    def summed(weights: Tensor) -> Tensor:
        bags = embedding_bag(indices, weights[:, None], offsets, mode="sum", per_sample_weights=numbers)
        return bags.squeeze(1)

    return summed


def likely(samples: Samples, names: Sequence[Sequence[str]]) -> Callable[[Sequence[Tensor]], Tensor]:
    """For each message and fact, whether it is asked for: as `forgec.users.reading.likely` has it, by weights."""
    asked, meant = _sums(samples.asking, names[0]), _sums(samples.meaning, names[1])
    part, fact = torch.tensor(samples.part), torch.tensor(samples.fact)

    def forward(weights: Sequence[Tensor]) -> Tensor:
        both = torch.exp(logsigmoid(asked(weights[0]))[part] + logsigmoid(meant(weights[1])))
        missed = torch.log1p(-both.clamp(max=1 - 1e-6))
        return 1 - torch.exp(torch.zeros(len(samples.facts)).index_add(0, fact, missed))

    return forward


def learn(samples: Samples) -> tuple[tuple[list[str], list[str]], list[Tensor]]:
    """The names of the features of both models, and their weights."""
    names = samples.seen()
    weights = [torch.zeros(len(some), requires_grad=True) for some in names]
    optimizer = torch.optim.Adam(weights, lr=RATE)
    forward = likely(samples, names)
    for _ in range(STEPS):
        optimizer.zero_grad()
        found = forward(weights).clamp(1e-6, 1 - 1e-6)
        loss = binary_cross_entropy(found, samples.labels, reduction="sum") / len(samples.labelled)
        for some in weights:
            loss = loss + RIDGE * some.square().sum() + LASSO * some.abs().sum()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return names, [some.detach().mul(100).round().div(100) for some in weights]


def write(names: Sequence[Sequence[str]], weights: Sequence[Tensor]) -> None:
    lines = [
        f"{model}\t{name}\t{weight:g}"
        for model, some, learned in zip(("asking", "meaning"), names, weights, strict=True)
        for name, weight in zip(some, learned.tolist(), strict=True)
        if abs(weight) >= SMALL
    ]
    WEIGHTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--held-out", nargs="*", default=[], metavar="SET")
    chosen = parser.parse_args().held_out
    torch.set_num_threads(1)
    seen = [one for one in messages() if one.half not in {*HELD_OUT, *chosen}]
    names, weights = learn(Samples([*seen, *framed(seen)]))
    if not chosen:
        write(names, weights)
    learned = Weights(*(dict(zip(some, one.tolist(), strict=True)) for some, one in zip(names, weights, strict=True)))
    with patch.object(reading, "weights", lambda: learned):
        for half in chosen or HELD_OUT:
            print(half, dict(outcomes(one for one in messages() if one.half == half)))


if __name__ == "__main__":
    main()
