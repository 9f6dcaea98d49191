"""What agents ask for, in their own words: what the scripted user makes of messages that nothing was learned from.

The floors are a little below what was measured; docs/rollouts.md has the figures, and those of messages at first sight.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from forgec.users.asking import Asking
from forgec.users.wording import MAX_TEXT
from forgec_runtime import Briefing, Known
from tests.users.counting import RIGHT, outcomes, reader
from tests.users.labelled import HELD_OUT, Labelled, briefing, environment, framed, messages


def share(labelled: list[Labelled], *names: str) -> float:
    """The share of messages that come out so, in percent."""
    found = outcomes(labelled)
    return 100 * sum(found[name] for name in names) / found.total()


@pytest.mark.parametrize("half", HELD_OUT)
def test_of_messages_never_seen_the_right_facts_are_told_in_nine_of_ten(half: str) -> None:
    labelled = [one for one in messages() if one.half == half]
    assert len(labelled) == 200
    assert share(labelled, *RIGHT) >= 90
    assert share(labelled, "at once") >= 40
    assert share(labelled, "asked in vain") <= 12
    assert share(labelled, "unasked") <= 1


def test_what_it_has_learned_from_it_reads_as_well() -> None:
    learned = [one for one in messages() if one.half not in HELD_OUT]
    assert len(learned) > 6_000
    sample = learned[::7]
    assert share(sample, *RIGHT) >= 88
    assert share(sample, "unasked") <= 2


def test_plain_requests_are_met_and_what_is_only_spoken_of_is_not_told() -> None:
    """Frames with facts of all kinds of tasks, which it has learned from."""
    sample = list(framed(messages()))[::4]
    assert share([one for one in sample if one.asks], *RIGHT) >= 95
    assert share([one for one in sample if not one.asks], "unasked") <= 2


@pytest.mark.parametrize(
    ("name", "task", "text", "asks"),
    [
        ("library", "settle_the_overdue", "Could you please provide the email address of your account?", ("email",)),
        ("library", "settle_the_overdue", "Which payment method would you like to use, cash or card?", ("method",)),
        ("tickets", "room_for_one_more", "Please provide your username and password.", ("username", "password")),
        ("tickets", "room_for_one_more", "What should the title of the ticket be?", ("title",)),
        ("retail", "cancel_pending_order_2cc92a58", "Could you please provide the order ID?", ("order_id",)),
        ("phone", "while_it_lasts", "How many gigabytes would you like to add?", ("wanted",)),
    ],
)
def test_what_a_model_asks_plainly_is_told_at_once(name: str, task: str, text: str, asks: tuple[str, ...]) -> None:
    reading = reader(name, task).read(text)
    assert (reading.asked, reading.thin, reading.unclear) == (asks, (), ())


@pytest.mark.parametrize(
    "text",
    [
        "Please never tell me your password.",
        "I can do that without your password.",
        "You do not need to give me your user name again.",
        "Thanks, I have your user name now.",
        "I have closed the ticket. Is there anything else I can do for you?",
    ],
)
def test_what_a_message_says_it_does_not_need_is_not_told(text: str) -> None:
    assert reader("tickets", "room_for_one_more").asked(text) == ()


def test_each_fact_is_found_by_what_it_is_called() -> None:
    """All facts of all tasks, asked for in the words of their documentation."""
    missed, count = list[str](), 0
    for name in ("library", "mock", "phone", "retail", "tickets"):
        for task in environment(name).tasks:
            asking = reader(name, task)
            for fact in briefing(name, task).facts:
                if fact.value is not None and fact.doc:
                    count += 1
                    reading = asking.read(f"Could you give me {fact.doc}, please?")
                    if fact.name not in (*reading.asked, *reading.thin, *sum(reading.unclear, ())):
                        missed.append(f"{task}: {fact.name}")
    assert count > 500
    assert len(missed) <= count / 40, missed


@pytest.mark.parametrize(
    ("opener", "asks"),
    [
        ("Sure! Please provide the following:", True),
        ("To verify that it is you, please share:", True),
        ("I need a few details:", True),
        ("I have changed the following:", False),
        ("Here is what I have on file:", False),
        ("I don't need:", False),
    ],
)
def test_items_of_a_list_are_asked_for_if_the_list_is(opener: str, asks: bool) -> None:
    items = ("1. **Password**", "2. **Name at the desk**", "3. The title")
    asked = reader("tickets", "room_for_one_more").asked("\n".join((opener, *items)))
    assert asked == (("username", "password", "title") if asks else ())


def test_facts_of_a_kind_are_told_apart_or_asked_back_about() -> None:
    known = (Known("o", "#W1", "the order number"), Known("p", "#W2", "the order number"))
    reading = Asking(Briefing("You want two things.", (), known), reader("retail", "swap_the_mug").words).read(
        "Could you give me the order number, please?"
    )
    assert reading.asked in ((), ("o", "p"))
    assert reading.unclear in ((("o", "p"),), ())


def test_who_knows_nothing_is_asked_for_nothing() -> None:
    words = reader("retail", "swap_the_mug").words
    assert Asking(Briefing("You want it.", (), ()), words).asked("What is your name?") == ()
    assert Asking(Briefing("", (), (Known("name", None, "your name"),)), words).asked("What is your name?") == ()


def test_only_the_end_of_a_long_message_is_read() -> None:
    asking = reader("tickets", "room_for_one_more")
    question = "Could you please tell me your username?"
    assert asking.asked("x " * MAX_TEXT + question) == ("username",)
    assert asking.asked(question + " x" * MAX_TEXT) == ()


def test_a_message_is_read_alike_in_every_process() -> None:
    program = (
        "from tests.users.counting import reader; from forgec.users.reading import likely; "
        "print(likely('Which book, and what is your e-mail?', reader('library', 'lend_book_e8daa097').topics))"
    )
    first, second = (
        subprocess.run([sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True)
        for seed in ("1", "2")
    )
    assert first.stdout == second.stdout != b""
