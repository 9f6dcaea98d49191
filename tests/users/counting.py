"""What the scripted user makes of labelled messages: `python -m tests.users.counting [FILE...]` prints the figures.

An agent sends the message to a user that has told nothing yet. If the user asks back, the agent answers as one does
that knows what it asked for: yes, or which of them it means, or no.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from forgec.dialogue import Message, Utterance
from forgec.llm.spending import Meter
from forgec.users.asking import Asking
from forgec.users.glossary import glossary
from forgec.users.scripted import ScriptedUser
from forgec.users.user import UserPart
from forgec_runtime import Environment, Reward, load_environment

ROOT = Path(__file__).parents[2]
MESSAGES = [json.loads(line) for line in (Path(__file__).parent / "messages.jsonl").read_text().splitlines()]

OUTCOMES = ("at once", "after yes", "after a choice", "missed", "asked in vain", "unasked")
"""Just the facts that were asked for were told at once, after the user had asked back about just these, or after it had
let the agent choose; not all of them; it asked back about what was not asked for; it told what was not asked for.
"""


@cache
def environment(name: str) -> Environment:
    return load_environment(ROOT / "generated" / name)


@cache
def asking(name: str, task: str) -> Asking:
    env = environment(name)
    return Asking(env.reset(task).briefing, glossary(env))


def outcome(message: Mapping[str, Any]) -> str:
    """What comes of a labelled message."""
    asks = set(message["asks"])
    user = of(message["environment"], message["task"])
    first = answers(user, message["text"])[-1]
    told, back = set(first.reveals), set(first.asks_back)
    if back:
        meant = asks & back
        docs = [fact.doc or fact.name for fact in user.part.briefing.facts if fact.name in meant]
        reply = "Yes, please." if meant == back else f"I mean {' and '.join(docs)}." if meant else "No."
        told |= set(answers(user, reply)[-1].reveals)
    if not told <= asks:
        return "unasked"
    if back and not back <= asks and (told != asks or not meant):
        return "asked in vain"
    if told != asks:
        return "missed"
    return "at once" if not back else "after yes" if back <= asks else "after a choice"


async def _unpaid() -> Reward:
    return Reward(0.0)


def of(name: str, task: str) -> ScriptedUser:
    """The user of a task, which has opened the dialogue and has no tools."""
    user = ScriptedUser(UserPart(asking(name, task), [], name, task, 0, 0, "", _unpaid, Meter()))
    asyncio.run(user.open())
    return user


def answers(user: ScriptedUser, *texts: str) -> list[Utterance]:
    """What a user says to texts of an agent, one after the other."""

    async def all_of_them() -> list[Utterance]:
        return [await user.answer([Message(role="assistant", content=text)]) for text in texts]

    return asyncio.run(all_of_them())


def outcomes(messages: Sequence[Mapping[str, Any]]) -> Counter[str]:
    return Counter(outcome(message) for message in messages)


def main(files: Sequence[str]) -> None:
    """A line for each set, and with files one for each file; then what the rules make of the transcripts."""
    from tests.users import test_errors

    sets = {name: [json.loads(line) for line in Path(name).read_text().splitlines() if line.strip()] for name in files}
    if not files:
        for message in MESSAGES:
            sets.setdefault(message["half"], []).append(message)
    print(f"{'messages':<20}{'':>5}", *(f"{name:>14}" for name in OUTCOMES))
    for name, messages in sets.items():
        found = outcomes(messages)
        print(f"{name[-20:]:<20}{len(messages):>5}", *(f"{found[one]:>14}" for one in OUTCOMES))
    for half in () if files else dict.fromkeys(one["half"] for one in test_errors.TRANSCRIPTS):
        precision, recall, wrong = test_errors.figures(half)
        print(f"transcripts, {half}: precision {precision:.3f}, recall {recall:.3f}", *wrong, sep="\n    ")


if __name__ == "__main__":
    main(sys.argv[1:])
