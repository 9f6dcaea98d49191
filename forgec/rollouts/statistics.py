"""The statistics of runs: small exact formulas, and a bootstrap whose draws are seeded.

A task is what is sampled; its trials belong together. So intervals and tests are over tasks.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from math import comb, lcm, sqrt
from statistics import NormalDist, fmean, stdev

LEVEL = 0.95
"""Of all intervals."""
RESAMPLES = 10_000
SEED = 0
MAX_UNITS = 10_000_000
"""How large the table of the sign-flip test may become; past it the test is not made."""


def pass_at(successes: int, trials: int, k: int) -> float:
    """The chance that of `k` of the trials, drawn without replacement, at least one succeeds: pass@k, unbiased."""
    return 1.0 - comb(trials - successes, k) / comb(trials, k)


def pass_all(successes: int, trials: int, k: int) -> float:
    """The chance that of `k` of the trials, drawn without replacement, all succeed: pass^k, unbiased."""
    return comb(successes, k) / comb(trials, k)


def wilson(mean: float, size: float) -> tuple[float, float]:
    """The Wilson score interval of a proportion seen in a sample of this size."""
    z = NormalDist().inv_cdf(0.5 + LEVEL / 2)
    centre = mean + z * z / (2 * size)
    half = z * sqrt(mean * (1 - mean) / size + z * z / (4 * size * size))
    scale = 1 + z * z / size
    return max((centre - half) / scale, 0.0), min((centre + half) / scale, 1.0)


def interval(tasks: Sequence[Sequence[float]]) -> tuple[float, float]:
    """The Wilson score interval of the mean over tasks, of the rewards of the trials of each.

    With several trials a task the size of the sample is the one that independent episodes would need for the same
    variance over tasks (the number of tasks divided by the design effect), at least the number of tasks.
    """
    means = [fmean(rewards) for rewards in tasks]
    mean, count = fmean(means), len(means)
    episodes = sum(len(rewards) for rewards in tasks)
    size = float(count)
    if episodes > count > 1:
        variance = stdev(means) ** 2 / count
        spread = mean * (1 - mean)
        if spread > 0:
            size = min(max(spread / variance, float(count)), float(episodes)) if variance > 0 else float(episodes)
    return wilson(mean, size)


def bootstrap(differences: Sequence[float]) -> tuple[float, float] | None:
    """The percentile interval of the mean of paired differences, one a task, from resampled tasks.

    None where all are the same: what is drawn from them does not vary, however much other tasks might.
    """
    if len(set(differences)) == 1:
        return None
    chance = random.Random(SEED)
    count = len(differences)
    means = sorted(sum(chance.choices(differences, k=count)) / count for _ in range(RESAMPLES))
    tail = (1 - LEVEL) / 2
    return means[int(tail * RESAMPLES)], means[min(int((1 - tail) * RESAMPLES), RESAMPLES - 1)]


def sign_test(better: int, worse: int) -> float:
    """The exact two-sided p-value that as many pairs are better as are worse: for single trials, McNemar's."""
    count = better + worse
    tail = sum(comb(count, i) for i in range(min(better, worse) + 1))
    return float(min(Fraction(2 * tail, 2**count), Fraction(1)))


def flip_test(pairs: Sequence[tuple[Sequence[float], Sequence[float]]]) -> float | None:
    """The exact two-sided p-value of the mean difference of paired tasks, were the sides of each exchanged by chance.

    Each pair has the rewards of the trials of one task on both sides; rewards are 0 or 1. None where the table of all
    sums would be too large.
    """
    scale = lcm(*(len(side) for pair in pairs for side in pair))
    units = []
    for first, second in pairs:
        difference = Fraction(sum(map(int, second)), len(second)) - Fraction(sum(map(int, first)), len(first))
        units.append(abs(int(difference * scale)) * (1 if difference >= 0 else -1))
    nonzero = [unit for unit in units if unit]
    reach = sum(map(abs, nonzero))
    if reach * len(nonzero) > MAX_UNITS:
        return None
    seen = abs(sum(nonzero))
    ways = {0: 1}
    for unit in map(abs, nonzero):
        after: dict[int, int] = {}
        for total, count in ways.items():
            after[total + unit] = after.get(total + unit, 0) + count
            after[total - unit] = after.get(total - unit, 0) + count
        ways = after
    extreme = sum(count for total, count in ways.items() if abs(total) >= seen)
    return float(Fraction(extreme, 2 ** len(nonzero)))
