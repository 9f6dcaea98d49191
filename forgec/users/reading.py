"""How likely is it that a message asks for a fact? What was learned from labelled messages says so.

A part of a message asks for a fact if it asks for something, and what it asks for is the fact: two logistic models over
`features`, one for each, whose product it is. A message asks for a fact as much as the part of it that does most. The
weights are in `weights.tsv`; `python -m tests.users.learning` learns them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from forgec.users.features import asking, meaning, parts
from forgec.users.topics import Topic, shared

ASKS = 0.5
"""From which sum of weights a part asks for something that the user may not even know."""
_DEMANDS = re.compile(
    r"\W*(?:(?:please|kindly|could you|can you|would you)\W+)*(?:tell|give|provide|share|specify|enter|send|confirm)\b"
    r"|\W*i(?:'ll| will)? (?:(?:just|still|also) )*(?:need|require) (?:a few|some|the following)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Weights:
    """What each feature counts for; those that are not there count for nothing."""

    asking: Mapping[str, float]
    meaning: Mapping[str, float]


@cache
def weights() -> Weights:
    """Those that the package has."""
    return read(files("forgec.users") / "weights.tsv")


def read(file: Traversable) -> Weights:
    """The weights of a file: a line for each, with its model and its feature, and tabs between them."""
    models: dict[str, dict[str, float]] = {"asking": {}, "meaning": {}}
    for line in file.read_text(encoding="utf-8").splitlines():
        model, feature, weight = line.split("\t")
        models[model][feature] = float(weight)
    return Weights(**models)


def likely(message: str, topics: Sequence[Topic]) -> dict[str, float]:
    """The probability that a message asks for each fact, by its name."""
    learned, common = weights(), shared(topics)
    found = {topic.name: 0.0 for topic in topics}
    for part in parts(message):
        asks = _logistic(sum(learned.asking.get(name, 0.0) for name in asking(part)))
        for topic, features in zip(topics, meaning(part, message, topics, common), strict=True):
            means = sum(learned.meaning.get(name, 0.0) * number for name, number in sorted(features.items()))
            found[topic.name] = max(found[topic.name], asks * _logistic(means))
    return found


def wants_to_know(sentence: str) -> bool:
    """Whether a sentence asks for something to be told, whatever it is."""
    learned = weights()
    asks = any(sum(learned.asking.get(name, 0.0) for name in asking(part)) > ASKS for part in parts(sentence))
    return asks or _DEMANDS.match(sentence) is not None


def _logistic(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, value))))
