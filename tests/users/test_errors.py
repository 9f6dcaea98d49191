"""User errors: transcripts that were labelled before there was anything to find errors with.

Half of them were looked at while the rules were made; the other half were not. The twenty of `later` were written when
the rules had been there for long, by somebody who knew how messages are read, but not how errors are found.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from forgec.dialogue import Message
from forgec.users.asking import Asking
from forgec.users.errors import Finding, findings
from forgec.users.glossary import glossary
from forgec_runtime import Environment, load_environment

ROOT = Path(__file__).parents[2]
TRANSCRIPTS = [json.loads(line) for line in (Path(__file__).parent / "transcripts.jsonl").read_text().splitlines()]


@cache
def environment(name: str) -> Environment:
    return load_environment(ROOT / "generated" / name)


def found(one: dict[str, Any]) -> list[Finding]:
    env = environment(one["environment"])
    messages = [Message(role=role, content=text) for role, text in one["messages"]]
    return findings(messages, one["end"], Asking(env.reset(one["task"]).briefing, glossary(env)))


def figures(half: str) -> tuple[float, float, list[str]]:
    """Precision and recall of a half, and what was decided wrongly. An error of another kind counts as found."""
    right = claimed = there = 0
    wrong = []
    for one in TRANSCRIPTS:
        if one["half"] == half:
            sure = [finding for finding in found(one) if finding.sure]
            right += bool(sure and one["error"])
            claimed += bool(sure)
            there += bool(one["error"])
            if bool(sure) != bool(one["error"]):
                wrong.append(f"{one['task']}: {one['error']}, found {sure}")
    return right / claimed, right / there, wrong


@pytest.mark.parametrize("half", ["development", "held out", "later"])
def test_errors_of_users_are_found_and_others_are_not(half: str) -> None:
    assert len(TRANSCRIPTS) == 83
    precision, recall, wrong = figures(half)
    assert precision >= 0.9, wrong
    assert recall >= 0.7, wrong


def test_long_texts_are_read_in_bounded_time() -> None:
    """Quadratic patterns would take minutes for these."""
    env = environment("library")
    asking = Asking(env.reset("settle_the_overdue").briefing, glossary(env))
    for text in ("a@" * 50_000, "1-" * 50_000, "1.2." * 25_000, "x" * 100_000):
        messages = [Message(role="assistant", content=text), Message(role="user", content=text)]
        findings(messages, "satisfied", asking)


def verdicts(task: str, *said: tuple[str, str]) -> list[str]:
    return [one.kind for one in found({"environment": "library", "task": task, "messages": said, "end": "turns"})]


OPENS, ASKS = ("user", "I want to settle my fines."), ("assistant", "What is your e-mail address?")
BACK, YES = ("user", "Do you mean my e-mail address?"), ("assistant", "Yes, please.")


def test_who_asks_back_keeps_nothing_back() -> None:
    told = ("user", "walter.quist@example.org")
    assert verdicts("settle_the_overdue", OPENS, ASKS, BACK, YES, told) == []
    assert verdicts("settle_the_overdue", OPENS, ASKS, BACK) == []


def test_what_it_asks_back_is_of_its_task() -> None:
    said = [("user", "I need a ticket."), ("assistant", "Your username?"), ("user", "Do you mean my name at the desk?")]
    assert found({"environment": "tickets", "task": "room_for_one_more", "messages": said, "end": "turns"}) == []


def test_who_does_not_tell_what_it_asked_back_about_keeps_it_back() -> None:
    refuses = ("user", "I'd rather not say.")
    assert verdicts("settle_the_overdue", OPENS, ASKS, BACK, YES, refuses) == ["withheld"]
