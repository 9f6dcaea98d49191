"""Whether a value was said, in the forms that people write."""

from datetime import date, datetime
from decimal import Decimal

import pytest

from forgec_runtime.says import Unsayable, said, spoken

DAY, MOMENT = date(2025, 3, 22), datetime(2025, 3, 22, 14, 30)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("M1", "Your number is **m1**."),
        ("The C Programming Language", "It is the c  programming\nlanguage."),
        ("#W1", "Order #W1 is on its way"),
        ("pending (item modified)", "now pending (item modified)!"),
        ("credit_card", "You paid by credit card."),
        ("Mia's", "Mia\u2019s account"),
        ("a-b", "a\u2011b"),
        ("Mia", "1.Mia 2.Ola"),
        (Decimal("4.50"), "You owe $4.50."),
        (Decimal("4.5"), "4.500 in all"),
        (1234.5, "That makes 1,234.5."),
        (1234, "€1,234!"),
        (0.1 + 0.2, "0.3"),
        (5, "the numbers 1,5,7"),
        (5, "5."),
        (30, "30GB"),
        (-5, "-$5 and $-5"),
        (Decimal("0.5"), "about .5"),
        (3, "I closed three tickets."),
        (0, "Zero, I am afraid"),
        (12, "twelve"),
        (20, "There are TWENTY of them: twenty."),
        (21, "twenty-one"),
        (42, "forty\u2011two, or forty two"),
        (2, "two and three"),
        (3, "between two and three"),
        (Decimal("3.00"), "three euros"),
        (1, "1, one of them"),
        (DAY, "due 2025-03-22."),
        (DAY, "due on 2025-03-22T10:00"),
        (DAY, "due March 22nd, 2025"),
        (DAY, "due Mar. 22 2025"),
        (DAY, "due on the 22nd of March 2025"),
        (DAY, "due 3/22/2025"),
        (DAY, "due 03/22/2025"),
        (date(2025, 9, 2), "Sept. 2, 2025"),
        (MOMENT, "at 2:30 PM on March 22, 2025"),
        (MOMENT, "2025-03-22T14:30:00"),
        (MOMENT, "March 22, 2025 at 14:30"),
        (True, "Yes, you may."),
        (False, "No."),
        (["9.50", "Mug"], "A mug costs 9.50"),
    ],
)
def test_said(value: object, message: str) -> None:
    assert said(value, [message])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("M1", "Your number is M10."),
        ("M1", "XM1"),
        ("M1", "M1-2 and M1.5"),
        ("2025-03", "2025-03-22"),
        ("pending", "pending_review"),
        (Decimal("4.5"), "14.5, 4.51, 4.5.1"),
        (5, "2025-03-05"),
        (5, "-5"),
        (5, "item-5, M5, 5x"),
        (5, "10:05"),
        (234, "1,234"),
        (Decimal("0.3"), "0.30000001"),
        (10, "10k"),
        (3, "thirty-three, twenty three, the third, three-day, three_a, threefold, ninety-three-ish"),
        (3, "three hundred, three thousand and five, a hundred and three, three dozen, three\u2013four"),
        (3, "three and a half, three point five, two point three, three quarters, three-quarters, minus three"),
        (3, "nineteen three, three four five"),
        (5, "three thousand and five"),
        (20, "twenty-three, twenty first, twenty twenty-five, twenty\u2013three, twenty three-day passes"),
        (25, "twenty twenty-five"),
        (84, "nineteen eighty-four"),
        (1, "Which one? No one knows. One moment, please: one of them"),
        (2.5, "two or three"),
        (12, "a dozen"),
        (0, "no tickets, none, nothing"),
        (DAY, "2025-03-2"),
        (DAY, "March 22"),
        (date(2025, 3, 2), "March 22, 2025"),
        (date(2025, 3, 2), "13/2/2025"),
        (datetime(2025, 3, 22, 2, 30), "March 22, 2025 at 2:30 pm"),
        (MOMENT, "March 22, 2025"),
        (True, "yesterday"),
        (False, "nothing is known"),
        (["M1", "M2"], "M1 only"),
    ],
)
def test_not_said(value: object, message: str) -> None:
    assert not said(value, [message])


def test_parts_of_a_list_may_be_said_in_different_messages() -> None:
    assert said(["M1", "M2"], ["M2 first", "then M1"])


def test_nothing_is_said_without_messages() -> None:
    assert not said("M1", [])


@pytest.mark.parametrize("value", [None, "", "  ", [], [None], {"a": 1}, [{"a": 1}], float("nan")])
def test_what_cannot_be_said_is_refused(value: object) -> None:
    with pytest.raises(Unsayable):
        spoken(value)


@pytest.mark.parametrize(
    "value",
    ["M1", Decimal("1E+3"), Decimal("-4.50"), 1e-7, 12345678, True, False, DAY, MOMENT, MOMENT.replace(microsecond=60)],
)
def test_what_gold_says_counts_as_said(value: object) -> None:
    assert said(value, [spoken(value)])
    assert said([value, value], [spoken([value, value])])
