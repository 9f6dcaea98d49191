"""What agents ask for, in their own words: messages, each labelled with the facts that it asks for.

Two hundred were labelled before there was anything to read them: every second one was looked at while the rules were
made, the others were not, until the rules first met them. The sixty of `afterwards` were written then, to be hard. The
two hundred of `unseen` were written later, by somebody who had not read the rules, and the sixty of `last` when all of
those had been mended. What the rules made of each when they first met them stands in docs/rollouts.md; what is tested
here is what came of mending that.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from forgec.users.asking import Asking
from forgec.users.glossary import glossary
from forgec_runtime import Environment, load_environment

ROOT = Path(__file__).parents[2]
MESSAGES = [json.loads(line) for line in (Path(__file__).parent / "messages.jsonl").read_text().splitlines()]


@cache
def environment(name: str) -> Environment:
    return load_environment(ROOT / "generated" / name)


@cache
def asking(name: str, task: str) -> Asking:
    env = environment(name)
    return Asking(env.reset(task).briefing, glossary(env))


def wrong(half: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The messages of a half that are misread, and those of them that would have an unasked fact told."""
    misread, told = [], []
    for message in MESSAGES:
        found = set(asking(message["environment"], message["task"]).asked(message["text"]))
        if message["half"] == half and found != set(message["asks"]):
            misread.append(message | {"found": sorted(found)})
            if not found <= set(message["asks"]):
                told.append(misread[-1])
    return misread, told


COUNTS = {"development": 100, "held out": 100, "afterwards": 60, "unseen": 200, "last": 60}


@pytest.mark.parametrize("half", COUNTS)
def test_the_right_facts_are_found_in_nine_of_ten_messages(half: str) -> None:
    count = sum(message["half"] == half for message in MESSAGES)
    misread, _ = wrong(half)
    assert count == COUNTS[half]
    assert len(misread) <= count / 10, misread


@pytest.mark.parametrize("half", COUNTS)
def test_no_fact_is_told_that_was_not_asked_for(half: str) -> None:
    assert wrong(half)[1] == []


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
    "text", ["I need for the ticket:\n\n- **Title**\n- **Priority** (1 to 5)", "Title and priority, please."]
)
def test_a_list_is_asked_for(text: str) -> None:
    assert asking("tickets", "room_for_one_more").asked(text) == ("title", "priority")
