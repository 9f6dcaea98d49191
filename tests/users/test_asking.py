"""What agents ask for, in their own words: two hundred messages, labelled before there was anything to read them.

Half of them, every second one, were looked at while the rules were made; the other half were not, until the rules first
met them: 96 of 100 were read right, and 2 would have had an unasked fact told. The sixty of `afterwards` were written
then, to be hard: 52 were read right, and 6 would have had one told. What is here is what came of mending that.
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


@pytest.mark.parametrize("half", ["development", "held out", "afterwards"])
def test_the_right_facts_are_found_in_nine_of_ten_messages(half: str) -> None:
    count = sum(message["half"] == half for message in MESSAGES)
    misread, _ = wrong(half)
    assert count == (60 if half == "afterwards" else 100)
    assert len(misread) <= count / 10, misread


@pytest.mark.parametrize("half", ["development", "held out", "afterwards"])
def test_no_fact_is_told_that_was_not_asked_for(half: str) -> None:
    assert wrong(half)[1] == []
