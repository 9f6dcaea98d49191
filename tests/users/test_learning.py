"""The weights with which the scripted user reads: learned from messages, written and read again."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest

from forgec.users import reading
from forgec.users.topics import topics
from tests.users import learning
from tests.users.labelled import briefing, messages


@pytest.fixture
def sample() -> learning.Samples:
    return learning.Samples([one for one in messages() if one.half == "development"])


def test_what_is_learned_makes_the_labels_likely(sample: learning.Samples, tmp_path: Path) -> None:
    names, weights = learning.learn(sample)
    path = tmp_path / "weights.tsv"
    with patch.object(learning, "WEIGHTS", path):
        learning.write(names, weights)
    with patch.object(reading, "weights", lambda: reading.read(path)):
        wrong = 0
        for one in sample.labelled:
            chances = reading.likely(one.text, topics(briefing(one.environment, one.task)))
            wrong += {name for name, chance in chances.items() if chance > 0.5} != set(one.asks)
    assert wrong <= len(sample.labelled) / 20


def test_the_same_messages_give_the_same_weights(sample: learning.Samples) -> None:
    with patch.object(learning, "STEPS", 5):
        (names, first), (again, second) = learning.learn(sample), learning.learn(sample)
    assert names == again
    assert all((one == other).all() for one, other in zip(first, second, strict=True))


def test_weights_are_those_of_the_features_that_are_there() -> None:
    """A feature that was renamed, and not learned anew, counts for nothing."""
    sample = learning.Samples(messages()[::40])
    there = [{name for row in rows for name, _ in row} for rows in (sample.asking, sample.meaning)]
    learned = reading.weights()
    for some, names in ((learned.asking, there[0]), (learned.meaning, there[1])):
        assert len(some.keys() & names) > 0.15 * len(some)
