"""What is drawn by lot: within its bounds, as often as it should be, and the same wherever it is drawn."""

from __future__ import annotations

import datetime
from collections import Counter
from decimal import Decimal as Exact
from fractions import Fraction

import pytest

from forgec.worlds import lots
from forgec.worlds.lots import NoLot, lot
from forgec_runtime.types import Date, Decimal, Double, Integer, Timestamp, Type

MANY = [lot("test", i) for i in range(4_000)]
LEAST, MOST = 0, (1 << lots.BITS) - 1


def test_a_lot_is_a_hash_of_its_names() -> None:
    assert lot("seed", 1) == lot("seed", "1") != lot("seed", "2")
    assert lot("ab", "c") != lot("a", "bc")
    assert hex(lot("members", "name", 1))[2:14] == "837a741f342a"


@pytest.mark.parametrize(
    ("low", "high", "type_"),
    [
        (3, 8, Integer()),
        (-9_007_199_254_740_991, 9_007_199_254_740_991, Integer()),
        (Exact("-0.05"), Exact("0.05"), Decimal(6, 2)),
        (0.25, 0.75, Double()),
        (datetime.date(2024, 2, 28), datetime.date(2024, 3, 1), Date()),
        (datetime.datetime(2024, 2, 28, 23, 59, 58), datetime.datetime(2024, 2, 29), Timestamp()),
    ],
    ids=str,
)
def test_both_bounds_are_reached(low: object, high: object, type_: Type) -> None:
    assert lots.between(LEAST, low, high, type_) == low
    assert lots.between(MOST, low, high, type_) == high
    assert lots.between(MOST, low, low, type_) == low
    with pytest.raises(NoLot):
        lots.between(LEAST, high, low, type_)


def test_all_between_the_bounds_are_drawn_equally_often() -> None:
    found = Counter(lots.between(drawn, 1, 5, Integer()) for drawn in MANY)
    assert sorted(found) == [1, 2, 3, 4, 5]
    assert all(700 < number < 900 for number in found.values())


def test_a_bell_curve() -> None:
    found = [lots.bell(drawn, Exact(100), Exact(15), Integer()) for drawn in MANY]
    mean = Fraction(sum(found), len(found))
    deviation = float(sum((one - mean) ** 2 for one in found) / len(found)) ** 0.5
    assert 99 < mean < 101
    assert 14 < deviation < 16
    assert lots.bell(LEAST, Exact(100), Exact(15), Integer()) == 10
    assert lots.bell(MOST, Exact("0.5"), Exact("0.25"), Decimal(4, 2)) == Exact("2.00")
    with pytest.raises(NoLot, match=r"decimal\(4, 2\) does not hold 200.00"):
        lots.bell(MOST, Exact(140), Exact(10), Decimal(4, 2))


def test_chances() -> None:
    assert 0.27 < sum(lots.happens(drawn, Exact("0.3")) for drawn in MANY) / len(MANY) < 0.33
    assert not any(lots.happens(drawn, Exact(0)) for drawn in (LEAST, MOST))
    assert all(lots.happens(drawn, Exact(1)) for drawn in (LEAST, MOST))


def test_weights() -> None:
    found = Counter(lots.one_of(drawn, (Fraction(1), Fraction(0), Fraction("0.5"))) for drawn in MANY)
    assert sorted(found) == [1, 3]
    assert 1.8 < found[1] / found[3] < 2.2
    assert lots.one_of(MOST, (Fraction(1), Fraction(2))) == 2


def test_skew() -> None:
    found = Counter(lots.skewed(drawn, 10) for drawn in MANY)
    assert sorted(found) == list(range(10))
    assert 1.7 < found[0] / found[1] < 2.3
    assert lots.skewed(MOST, 10) == 9
    assert lots.skewed(MOST, 1) == 0
