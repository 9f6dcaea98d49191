"""What agents ask for, in their own words: messages, each labelled with the facts that it asks for.

Two hundred were labelled before there was anything to read them: every second one was looked at while the rules were
made, the others were not, until the rules first met them. The sixty of `afterwards` were written then, to be hard.
The two hundred of `unseen` were written later, by somebody who had not read the rules, and the sixty of `last` when
all of those had been mended. The thirteen times two hundred that are blind are of people who had not read them
either, and were met one after the other; those from `blind g` on are written more freely. The 98 of `more` were
written before the third of these, and the 272 of `groups` after the fifth, by somebody who knew the rules, to have
too much told. What the rules made of each when they first met them stands in docs/rollouts.md.
"""

from __future__ import annotations

import pytest

from forgec.users.asking import Asking
from forgec.users.glossary import glossary
from tests.users.counting import MESSAGES, asking, environment, outcomes

SETS = {
    "development": (100, 96, 100),
    "held out": (100, 90, 98),
    "afterwards": (60, 55, 56),
    "unseen": (200, 186, 196),
    "last": (60, 54, 60),
    "blind a": (200, 183, 193),
    "blind b": (200, 177, 194),
    "blind c": (200, 176, 195),
    "more": (98, 90, 96),
    "blind d": (200, 176, 192),
    "blind e": (200, 183, 193),
    "groups": (272, 177, 227),
    "blind g": (200, 157, 184),
    "blind h": (200, 173, 192),
    "blind m1": (200, 157, 178),
    "blind m2": (200, 165, 191),
    "blind m3": (200, 172, 189),
    "blind m4": (200, 163, 191),
    "blind i": (200, 156, 179),
    "blind j": (200, 139, 168),
}  # fmt: skip
"""Of each set: how many messages there are, how many of them are answered right at once, and how many in the end."""


@pytest.mark.parametrize("half", SETS)
def test_the_right_facts_are_told_and_never_one_that_was_not_asked_for(half: str) -> None:
    count, at_once, in_the_end = SETS[half]
    found = outcomes([message for message in MESSAGES if message["half"] == half])
    assert found.total() == count
    assert found["unasked"] == 0
    assert found["asked in vain"] <= count / 10
    assert found["at once"] >= at_once
    assert found["at once"] + found["after yes"] + found["after a choice"] >= in_the_end


def test_of_all_messages_nine_in_ten_are_answered_right() -> None:
    found = outcomes(MESSAGES)
    right = found["at once"] + found["after yes"] + found["after a choice"]
    assert right >= 0.93 * len(MESSAGES)
    assert found["at once"] >= 0.83 * len(MESSAGES)


@pytest.mark.parametrize(
    "text",
    [
        "Please never tell me your password.",
        "I can do that without your password.",
        "You do not need to give me your user name again.",
        "No need to tell me how urgent it is, I see it in the title.",
        "Your ticket:\n- Title: Lift stops between floors\n- Priority: 4",
        "What is your new e-mail address?",
        "What is your room number?",
    ],
)
def test_what_a_message_says_it_does_not_need_is_not_told(text: str) -> None:
    assert asking("tickets", "room_for_one_more").asked(text) == ()


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("4 and 6 are dealt with. What's the third one that you wrote down?", ("n3",)),
        ("I've heard 4, 6, 13 and 17. Which are the last two?", ("n5", "n6")),
        ("I have 4, 6, 13 and 17. Which ones are missing?", ("n5", "n6")),
    ],
)
def test_what_is_numbered_is_meant_by_what_was_said(text: str, meant: tuple[str, ...]) -> None:
    reading = asking("tickets", "the_weekly_sweep").read(text)
    assert (reading.asked, reading.thin) == ((), meant)


def test_what_was_told_is_not_among_the_others() -> None:
    reader = asking("tickets", "the_weekly_sweep")
    assert reader.read("And the others, please?", frozenset({"n1", "n2", "n3", "n4"})).thin == ("n5", "n6")


def test_all_that_is_listed_in_its_own_words_is_asked_for() -> None:
    """As the gold agent asks: it has never to be asked back."""
    for name in ("library", "mock", "phone", "retail", "tickets"):
        for task in environment(name).tasks:
            facts = environment(name).reset(task).briefing.facts
            if facts:
                text = "Could you please tell me " + "; ".join(fact.doc or fact.name for fact in facts) + "?"
                reading = asking(name, task).read(text)
                assert (set(reading.asked), reading.thin, reading.unclear) == ({fact.name for fact in facts}, (), ())


def test_each_fact_is_found_by_what_it_is_called() -> None:
    """All facts of all tasks, asked for in the words of their documentation, and spoken of without being asked for."""
    asks = ("Please tell me {}.", "Could you give me {}, please?", "I need {} to go on.")
    others = ("Thank you, I have {} now.", "I don't need {}.", "Shall I change {}?", "I will check {} now.")
    missed, told, count = list[str](), list[str](), 0
    for name in ("library", "mock", "phone", "retail", "tickets"):
        env = environment(name)
        for task in env.tasks:
            reader = Asking(env.reset(task).briefing, glossary(env))
            for fact in env.reset(task).briefing.facts:
                if fact.value is None or not fact.doc or " or " in f" {fact.doc}" or "," in fact.doc:
                    continue
                count += 1
                readings = [reader.read(text.format(fact.doc)) for text in asks]
                if not all(fact.name in (*one.asked, *one.thin, *sum(one.unclear, ())) for one in readings):
                    missed.append(f"{task}: {fact.name}")
                told += [f"{task}: {text}" for text in others if reader.asked(text.format(fact.doc))]
    assert count > 500
    assert len(missed) <= count / 40, missed
    assert told == []


def test_of_several_facts_the_one_is_told_that_a_message_is_about() -> None:
    reader = asking("library", "lend_book_e8daa097")
    assert reader.asked("Which book are you bringing back?") == ("title",)
    assert reader.asked("Which book would you like me to lend you?") == ("title_2",)
    assert reader.read("What is the title of the book?").asked == ("title_2",)
    doubtful = reader.read("Which book is it?")
    assert (doubtful.asked, doubtful.unclear) == ((), (("title", "title_2"),))


def test_a_fact_that_is_an_empty_text_is_asked_for_as_all_others() -> None:
    assert asking("tickets", "create_ticket_c5aa1ab1").asked("What was done about ticket 8?") == ("new_resolution",)


@pytest.mark.parametrize(
    "text", ["I need for the ticket:\n\n- **Title**\n- **Priority** (1 to 5)", "Title and priority, please."]
)
def test_a_list_is_asked_for(text: str) -> None:
    assert asking("tickets", "room_for_one_more").asked(text) == ("title", "priority")
