"""What the scripted user makes of labelled messages: `python -m tests.users.counting [FILE...]` prints the figures.

An agent sends the message to a user that has told nothing yet. If the user asks back, the agent answers as one does
that knows what it asked for: yes, or which of them it means, or no.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from forgec.dialogue import Message, Utterance
from forgec.llm.spending import Meter
from forgec.users.asking import Asking
from forgec.users.scripted import ScriptedUser
from forgec.users.user import UserPart
from forgec_runtime import Reward
from tests.users.labelled import Labelled, briefing, messages, read, words

RIGHT = ("at once", "after yes", "after a choice", "asked in vain")
OUTCOMES = (*RIGHT, "missed", "unasked")
"""Just the facts that were asked for were told: at once, after the user had asked back about just these, after it had
let the agent choose among more, or with a question about others only; not all of them were; it told one that was not
asked for.
"""


def reader(environment: str, task: str) -> Asking:
    return Asking(briefing(environment, task), words(environment))


def outcome(message: Labelled) -> str:
    """What comes of a labelled message."""
    asks = set(message.asks)
    user = of(message.environment, message.task)
    first = answers(user, message.text)[-1]
    told, back = set(first.reveals), set(first.asks_back)
    if back:
        meant = asks & back
        docs = [fact.doc or fact.name for fact in user.part.briefing.facts if fact.name in meant]
        reply = "Yes, please." if meant == back else f"I mean {' and '.join(docs)}." if meant else "No."
        told |= set(answers(user, reply)[-1].reveals)
    if not told <= asks:
        return "unasked"
    if told != asks:
        return "missed"
    if not back:
        return "at once"
    return "after yes" if back <= asks else "after a choice" if meant else "asked in vain"


async def _unpaid() -> Reward:
    return Reward(0.0)


def of(name: str, task: str) -> ScriptedUser:
    """The user of a task, which has opened the dialogue and has no tools."""
    user = ScriptedUser(UserPart(reader(name, task), [], name, task, 0, 0, "", _unpaid, Meter()))
    asyncio.run(user.open())
    return user


def answers(user: ScriptedUser, *texts: str) -> list[Utterance]:
    """What a user says to texts of an agent, one after the other."""

    async def all_of_them() -> list[Utterance]:
        return [await user.answer([Message(role="assistant", content=text)]) for text in texts]

    return asyncio.run(all_of_them())


def outcomes(labelled: Iterable[Labelled]) -> Counter[str]:
    return Counter(outcome(message) for message in labelled)


def main(files: Sequence[str]) -> None:
    """A line for each set, and with files one for each file; then what the rules make of the transcripts."""
    from tests.users import test_errors

    sets: dict[str, list[Labelled]] = defaultdict(list)
    for message in [one for file in files for one in read(Path(file))] or messages():
        sets[message.half].append(message)
    print(f"{'messages':<20}{'':>5}", *(f"{name:>14}" for name in OUTCOMES))
    for name, labelled in sets.items():
        found = outcomes(labelled)
        print(f"{name[-20:]:<20}{len(labelled):>5}", *(f"{found[one]:>14}" for one in OUTCOMES))
    for half in () if files else dict.fromkeys(one["half"] for one in test_errors.TRANSCRIPTS):
        precision, recall, wrong = test_errors.figures(half)
        print(f"transcripts, {half}: precision {precision:.3f}, recall {recall:.3f}", *wrong, sep="\n    ")


if __name__ == "__main__":
    main(sys.argv[1:])
