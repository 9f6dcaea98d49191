"""A user without a model: tells what it is asked for, asks for one thing after the other, and then is content.

The same words in the same dialogue, in every process.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from forgec.dialogue import Message, Transcript, Utterance
from forgec.users.asking import Reading
from forgec.users.doubts import Doubts, label
from forgec.users.instructed import Instructions
from forgec.users.reading import wants_to_know
from forgec.users.speech import first_person
from forgec.users.user import UserPart
from forgec.users.values import said, spoken
from forgec.users.wording import meanings, sentences

PATIENCE = 3
"""After how many answers in a row that led to nothing new it gives up."""
MAX_CONFIRMED = 30
"""How many questions it answers with a yes or a no."""

CONTENT = "Thank you, that is all."
GIVES_UP = "This leads nowhere. Thank you, that is all."
UNKNOWN = "I do not know that, or I do not understand. What do you need to know?"
NOT_HEARD = "I did not hear anything. Please go on."
GO_ON = "I see. Please go on with what I have asked for."

_REFUSES = re.compile(
    r"\bI (?:am|do|will|would|can|may|could)(?: rather)? not\b(?! (?:mind|argue|know|think|care|sure))"
    r"|\bI (?:don't|won't|can't|refuse)\b|\bnever\b|\brather not\b",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"\b(?:anything|something|what) else\b|\bany (?:other|further|more) (?:questions?|requests?)\b"
    r"|\bfurther assistance\b|\bmore help\b"
    r"|\bhelp you (?:further|with anything)\b|\bhow (?:can|may) i (?:help|assist)\b",
    re.IGNORECASE,
)


class ScriptedUser:
    """Plays by rules alone: what it says are its texts, its facts, and a few words of its own."""

    def __init__(self, part: UserPart) -> None:
        self.part = part
        self.waiting = [first_person(one.text) for one in part.briefing.requests]
        self.facts = {fact.name: fact for fact in part.briefing.facts}
        self.wants = [first_person(one) for one in sentences(" ".join(part.briefing.intent.split()))]
        self.told: set[str] = set()
        self.made: list[str] = []
        """The requests that it has made, the last one first."""
        self.dead_ends = 0
        self.confirmed: Counter[str] = Counter()
        self.doubts = Doubts(self.facts, self._best)
        self._instructions: Instructions | None = None

    @property
    def instructions(self) -> Instructions:
        if self._instructions is None:
            self._instructions = Instructions(self.part.tools)
        return self._instructions

    async def open(self) -> Utterance:
        parts = [part for part in (first_person(self.part.briefing.intent), self._next_request()) if part]
        return Utterance(text="\n".join(parts) or "Hello.")

    async def answer(self, transcript: Transcript) -> Utterance:
        seen = _results(transcript)
        if seen:
            self.dead_ends = 0
            return Utterance(text="\n".join(message.content for message in seen))
        text = transcript[-1].content
        if not text.strip():
            return Utterance(text=NOT_HEARD)
        reading = self.part.asking.read(self.doubts.heard(text), frozenset(self.told))
        asked = self._meant(text, reading)
        calls = self.instructions.named(text) or (() if asked else self.instructions.meant(text))
        return Utterance(calls=calls) if calls else await self._reply(text, reading, asked)

    async def _reply(self, text: str, reading: Reading, asked: set[str]) -> Utterance:
        questions = [one for one in sentences(text) if one.rstrip().endswith("?") or wants_to_know(one)]
        closing = any(_CLOSING.search(one) for one in questions)
        if not closing or asked:
            told, doubted = self.doubts.about(reading.without(asked), self.told)
            asked |= told
            if asked or doubted:
                return self._tell([name for name in self.facts if name in asked], doubted)
        if closing or not questions:
            return await self._statement()
        question = questions[-1]
        wish = self._wish(question)
        if wants_to_know(question):
            return self._stuck(wish or UNKNOWN)
        self.confirmed[question] += 1
        refusal = wish if wish and _REFUSES.search(wish) else ""
        answer = f"No. {refusal}" if refusal else "Yes, please."
        if self.confirmed[question] > 1 or self.confirmed.total() > MAX_CONFIRMED:
            return self._stuck(answer)
        return self._told(answer)

    def _tell(self, asked: Sequence[str], doubted: tuple[str, ...]) -> Utterance:
        """Tells facts, and asks back about those of which it is in doubt."""
        new = bool(doubted) or not self.told.issuperset(asked)
        self.told.update(asked)
        answer = "; ".join(f"{label(self.facts[name])}: {spoken(self.facts[name].value)}" for name in asked)
        if doubted:
            question = self.doubts.question(also=bool(asked))
            answer = f"{answer.removesuffix('.')}. {question}" if answer else question
        return self._told(answer, tuple(asked), doubted) if new else self._stuck(answer, tuple(asked))

    async def _statement(self) -> Utterance:
        """What it says to something that asks nothing: the next request, or, once all are met, that it is content."""
        request = self._next_request()
        if request:
            return self._told(request)
        if (await self.part.judge()).value == 1.0:
            return Utterance(text=CONTENT, done=True)
        return self._stuck(GO_ON)

    def _wish(self, question: str) -> str:
        """The sentence of its intent that a question is about, if there is one."""
        heard = set(meanings(question))
        scored = [(len(heard & set(meanings(one))), -place) for place, one in enumerate(self.wants)]
        score, place = max(scored, default=(0, 0))
        return self.wants[-place] if score >= 2 else ""

    def _next_request(self) -> str:
        if not self.waiting:
            return ""
        self.made.insert(0, self.waiting.pop(0))
        return self.made[0]

    def _meant(self, text: str, reading: Reading) -> set[str]:
        """The facts that are asked for, or meant by the answer to what it asked back. Of those that are described alike
        and asked for so, which no question can tell apart, it is the one that the dialogue is about.
        """
        chosen = {*reading.asked, *self.doubts.settled(text, reading)}
        for group in reading.unclear:
            named = set(meanings(self.facts[group[0]].doc)) <= set(meanings(text))
            if named and self.part.asking.alike(group[0]).issuperset(group):
                several = self.part.asking.several(text, group[0])
                left = [name for name in group if name not in chosen] or group
                chosen.update(group if several else [self._best(left)])
        return chosen

    def _best(self, group: Sequence[str]) -> str:
        """Of several facts that of the request that was made last, one that was not told yet before the others."""
        for request in self.made:
            spoken_of = [name for name in group if said(self.facts[name].value, [request])]
            if spoken_of:
                return next((name for name in spoken_of if name not in self.told), spoken_of[0])
        return next((name for name in group if name not in self.told), group[0])

    def _told(self, text: str, reveals: tuple[str, ...] = (), asks_back: tuple[str, ...] = ()) -> Utterance:
        self.dead_ends = 0
        return Utterance(text=text, reveals=reveals, asks_back=asks_back)

    def _stuck(self, text: str, reveals: tuple[str, ...] = ()) -> Utterance:
        self.dead_ends += 1
        if self.dead_ends > PATIENCE:
            return Utterance(text=GIVES_UP, done=True, gives_up=True)
        return Utterance(text=text, reveals=reveals)


def _results(transcript: Transcript) -> list[Message]:
    """The results of its calls that it has not spoken of yet."""
    found: list[Message] = []
    for message in reversed(transcript):
        if message.role != "tool":
            break
        found.append(message)
    return found[::-1]
