"""Did the user do as it was told? What a transcript and the table of facts settle, and what they leave open."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias

from forgec.dialogue import Message
from forgec.users.asking import Asking
from forgec.users.doubts import agrees, label
from forgec.users.values import said, spoken
from forgec.users.wording import meanings, sentences
from forgec_runtime import Known

Kind: TypeAlias = Literal["invented", "withheld", "contradicted", "outside", "early", "never"]
"""What a user does wrong: it states what it was not given, keeps back what it is asked for, says otherwise than before,
asks for what its task does not have, stops before it has what it wants, or goes on when it has.
"""

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_CODE = re.compile(r"(?<!\w)#?[\w]*\d[\w]*(?:[-.,:/ ](?=[\w]*\d)[\w]*\d[\w]*)*")
_UNKNOWING = re.compile(
    r"\b(?:(?:do|did|can|could|will|would)(?: not|n't)|don\u2019t|cannot|can't|won't|not sure|no idea|"
    r"rather not|prefer not|forgot|forgotten|unsure|not going to (?:say|tell))\b",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"\b(?:thanks|thank you|bye|goodbye|good bye|that is all|that's all|nice day|great day|farewell|take care)\b", re.I
)
_TURNS_ROUND = re.compile(r"\b(?:actually|sorry|no,|i said|i meant|correction\b)", re.IGNORECASE)
_ASKS = re.compile(
    r"\b(?:please|can you|could you|would you|will you|i want|i would like|i'd like|i need|write me|help me)\b"
    r"|^\W*(?:and |also |now )*(?:book|cancel|renew|order|write|tell|buy|send|make|find)\b",
    re.IGNORECASE,
)
UNLIKE, LIKE = 0.34, 0.5
"""The share of the words of a request that the task and the dialogue have: up to the first it is outside, beyond the
second it is not.
"""


@dataclass(frozen=True)
class Finding:
    """What a user did wrong, or may have done: then it is not `sure`."""

    kind: Kind
    turn: int
    """The place of the message among all messages, from 0."""
    text: str
    sure: bool = True


def findings(messages: Sequence[Message], end: str, asking: Asking) -> list[Finding]:
    """What a user did wrong in a dialogue that is over, in the order of its messages."""
    reader = _Reader(asking)
    for turn, message in enumerate(messages):
        reader.read(turn, message)
    reader.close(end)
    return sorted(reader.found, key=lambda one: (one.turn, not one.sure))


class _Reader:
    """Reads a dialogue message by message."""

    def __init__(self, asking: Asking) -> None:
        self.asking, self.briefing = asking, asking.briefing
        briefing = self.briefing
        self.facts = {fact.name: fact for fact in briefing.facts if fact.value is not None}
        texts = [briefing.intent, *(one.text for one in briefing.requests)]
        for fact in self.facts.values():
            texts.append(f"{fact.doc} \n {label(fact)} \n {fact.name.replace('_', ' ')} {spoken(fact.value)}")
        self.known = " \n ".join(texts)
        self.subjects = set(meanings(self.known)) | asking.words.subjects
        self.said: list[str] = []
        self.asked: tuple[str, ...] = ()
        self.doubted: tuple[str, ...] = ()
        """What the user asked back about last."""
        self.owed: dict[str, int] = {}
        self.closings = 0
        self.last = ""
        """What the agent said last."""
        self.turn = 0
        self.found: list[Finding] = []

    def read(self, turn: int, message: Message) -> None:
        if message.role == "tool" and message.by == "user":
            self._learn(message.content)
        elif message.role == "assistant" and not message.tool_calls:
            self._learn(message.content)
            meant = self.doubted if agrees(message.content) else ()
            self.asked, self.last = self.asking.asked(message.content) or meant, message.content
        elif message.role == "user" and message.by != "loop" and not message.tool_calls:
            self._user(turn, message.content, message.asks_back)

    def close(self, end: str) -> None:
        if end in ("satisfied", "gave_up"):
            self._early(end)
        elif self.closings >= 2:
            self._add("never", "it has closed the dialogue more than once, and goes on")
        for name, turn in self.owed.items():
            if not _tells(self.facts[name], self.said) and not any(one.turn == turn for one in self.found):
                self.found.append(Finding("withheld", turn, f"asked for {name}, it may not have told it", sure=False))

    def _told(self, name: str, text: str) -> bool:
        """Whether it has told a fact by now, or just told another that no question tells apart from it."""
        if _tells(self.facts[name], [*self.said, text]):
            return True
        return any(_tells(self.facts[other], [text]) for other in self.asking.alike(name) if other in self.facts)

    def _learn(self, text: str) -> None:
        self.known += " \n " + text
        self.subjects.update(meanings(text))

    def _user(self, turn: int, text: str, asks_back: tuple[str, ...]) -> None:
        self.turn = turn
        untold = [name for name in self.asked if not self._told(name, text)]
        self.closings = self.closings + 1 if self._closes(text) else 0
        self._values(text)
        self.doubted = asks_back or self._asked_back(text, untold)
        if not self.doubted:
            self._withheld(text, untold)
        self._outside(text)
        self.said.append(text)
        self.asked = tuple(untold)

    # -- what it states ----------------------------------------------------------------------------------------

    def _values(self, text: str) -> None:
        for fact in self.facts.values():
            value = re.escape(spoken(fact.value))
            if re.search(
                rf"\b(?:(?:is|are|was|were|it's) not|isn't|isn\u2019t|wasn't)\s+(?:\w+\s+)?{value}(?!\w)", text, re.I
            ):
                self._add("contradicted", f"{spoken(fact.value)!r} is its {fact.doc or fact.name}")
                return
        for value, small in _values_in(text):
            if self._is_known(value):
                continue
            kin = self._kin(value, text)
            if kin is not None and said(kin.value, self.said):
                self._add("contradicted", f"it said {spoken(kin.value)!r} before, and now {value!r}")
            elif kin is not None or not small:
                self._add("invented", f"nothing that it was given or told has {value!r}")
            else:
                self._add("invented", f"nothing that it was given or told has {value!r}", sure=False)
            return
        self._choices(text)
        if _TURNS_ROUND.search(text):
            self._turned(text)

    def _choices(self, text: str) -> None:
        """A value of an enumeration that is not the one it was given."""
        for name in self.asked:
            choices = sorted(self.asking.words.choices(name))
            heard = [value for value in choices if re.search(rf"\b{re.escape(value)}\b", text, re.IGNORECASE)]
            if heard and not said(self.facts[name].value, [text]):
                self._add("invented", f"{heard[0]!r} is not its {name}")

    def _turned(self, text: str) -> None:
        for topic in self.asking.topics:
            words = set(meanings(text))
            if (
                isinstance(topic.value, str)
                and words & topic.base
                and said(topic.value, self.said)
                and re.search(r"\b(?:is|are|was)\b", text)
                and not said(topic.value, [text])
            ):
                self._add("contradicted", f"it said {topic.value!r} before")
                return

    def _is_known(self, value: str) -> bool:
        plain = _plain(value)
        known = {_plain(one) for one, _ in _values_in(self.known)}
        known |= {_plain(spoken(fact.value)) for fact in self.facts.values()}
        if plain in known or said(_number(value), [self.known, *self.said]):
            return True
        return len(plain) > 4 and plain in _plain(self.known)

    def _kin(self, value: str, text: str) -> Known | None:
        """The fact that a value stands for, where it is not the value of it."""
        words = set(meanings(text))
        for fact in self.facts.values():
            own = spoken(fact.value)
            alike = ("@" in value) == ("@" in own) and any(map(str.isdigit, own)) == any(map(str.isdigit, value))
            alike = alike or ("@" in value and "@" in own)
            topic = next(one for one in self.asking.topics if one.name == fact.name)
            near = bool(words & topic.base) or fact.name in self.asked or "@" in value
            if alike and near:
                return fact
        return None

    def _asked_back(self, text: str, untold: Sequence[str]) -> tuple[str, ...]:
        """What it was asked for and asks back about, by its name: that keeps nothing back yet."""
        if not text.rstrip().endswith("?") or _UNKNOWING.search(text):
            return ()
        words = set(meanings(text))
        return tuple(one.name for one in self.asking.topics if one.name in untold and words & one.base)

    # -- what it keeps back, and asks for ----------------------------------------------------------------------

    def _withheld(self, text: str, untold: Sequence[str]) -> None:
        if not untold:
            return
        alternatives = " or " in self.last and len(untold) < len(self.asking.asked(self.last))
        if _UNKNOWING.search(text) and not alternatives and not any(one.turn == self.turn for one in self.found):
            self._add("withheld", f"asked for {', '.join(untold)}, it does not tell")
        elif not alternatives:
            for name in untold:
                self.owed.setdefault(name, self.turn)

    def _outside(self, text: str) -> None:
        for sentence in sentences(text):
            if not (_ASKS.search(sentence) or sentence.rstrip().endswith("?")):
                continue
            heard = set(meanings(sentence))
            share = len(heard & self.subjects) / max(len(heard), 1)
            if len(heard) >= 3 and share <= LIKE:
                self._add("outside", f"{sentence!r} is not of its task", sure=share <= UNLIKE)

    # -- when it stops -----------------------------------------------------------------------------------------

    def _closes(self, text: str) -> bool:
        return _CLOSING.search(text) is not None and not text.rstrip().endswith("?")

    def _early(self, end: str) -> None:
        asked = [name for name in self.asked if not _tells(self.facts[name], self.said)]
        if asked and not any(one.turn == self.turn for one in self.found):
            self._add("early", f"it stops when it is asked for {', '.join(asked)}")
            return
        spoken_of = set(meanings(" ".join(self.said)))
        for request in self.briefing.requests:
            wanted = set(meanings(request.text))
            share = len(wanted & spoken_of) / len(wanted) if wanted else 1.0
            if share < 0.5 and end == "satisfied":
                self._add("early", f"it stops without having asked for {request.name}", sure=share < 0.4)

    def _add(self, kind: Kind, text: str, *, sure: bool = True) -> None:
        self.found.append(Finding(kind, self.turn, text, sure))


def _values_in(text: str) -> list[tuple[str, bool]]:
    """E-mail addresses and whatever has digits in it, and whether it is a small number, which may mean anything."""
    found = [(value.rstrip("."), False) for value in _EMAIL.findall(text)]
    for value in _CODE.findall(_EMAIL.sub(" ", text)):
        parts = value.split(" ") if not re.fullmatch(r"[\d -]{7,}", value) else [value]
        found += [(part, bool(re.fullmatch(r"\d{1,2}(?:[.,]\d+)?(?:st|nd|rd|th)?", part))) for part in parts]
    return found


def _tells(fact: Known, texts: Sequence[str]) -> bool:
    """Whether texts say a fact, however its characters are set apart."""
    own = _plain(spoken(fact.value))
    return said(fact.value, texts) or (len(own) > 4 and own in _plain(" ".join(texts)))


def _plain(value: str) -> str:
    return re.sub(r"[^a-z0-9@]", "", value.casefold())


def _number(value: str) -> Decimal | str:
    return Decimal(value) if re.fullmatch(r"\d+(?:\.\d+)?", value) else value
