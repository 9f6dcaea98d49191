"""A malicious policy finds nothing in a bounded time; `make fuzz` gives it longer."""

from pathlib import Path

import pytest

from forgec_runtime import load_environment
from tests.hostile.policy import play

PACKAGES = sorted((Path(__file__).parents[2] / "generated").iterdir())


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_a_malicious_policy_breaks_nothing(package: Path) -> None:
    counts = play(load_environment(package), "ci", 1_500)
    assert sum(counts.values()) == 1_500
    assert counts["ok"]
    assert counts["refused"] + counts["invalid"] > 100


def test_its_calls_follow_from_the_seed() -> None:
    first, again, other = (play(load_environment(PACKAGES[0]), seed, 100) for seed in ("a", "a", "b"))
    assert first == again
    assert first != other
