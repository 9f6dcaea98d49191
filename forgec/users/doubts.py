"""What the user asks back: which fact is meant where a message seems to ask for one; and what comes of the answer.

It asks about a fact once. Told yes, or asked for the same again, it tells it; told no, it takes it for not asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from forgec.users.asking import Reading
from forgec.users.speech import first_person
from forgec.users.wording import FILLING, ORDINALS, concept, listed, tokens
from forgec_runtime import Known

MAX_NAMED = 25
"""How many words an answer has at most that does no more than name a fact."""

_LEAD = r"\W*(?:(?:oh|ah|ok|okay|well|sorry|hm+|thanks|thank you)\W+)*"
_END = r"(?=\W*$|[,.;:!])"
_YES = re.compile(
    rf"{_LEAD}(?:"
    r"(?:yes|yeah|yep|yup|sure|correct|exactly|indeed|precisely|absolutely|of course|i do|i mean|that one)\b|"
    r"that(?:'s| is) (?:right|correct|true|it|so|the|your|what)\b|"
    rf"right{_END}|(?:both|all)(?:{_END}| (?:of|please|three|the above)\b)|"
    rf"please(?:{_END}| (?:do|tell|give|share|provide|send|say|go|both|all|that|the|your)\b(?! me a\b)))",
    re.IGNORECASE,
)
_NO = re.compile(
    rf"{_LEAD}(?:no|nope|neither|none|(?:(?:please|i|of course|absolutely|certainly|definitely|that's|that is)\W+)?"
    r"(?:not|never|do not|don't|did not|didn't|forget|ignore))\b",
    re.IGNORECASE,
)
_BARE_NO = re.compile(rf"{_LEAD}(?:no|nope|neither|none){_END}", re.IGNORECASE)
"""A no that says nothing of what comes behind it."""
_THE_ONE = re.compile(
    rf"{_LEAD}(?:(?:yes|please|i mean|i need)\W+)?(?:the )?(\w+)(?: one)?(?:\W+please)?\W*", re.IGNORECASE
)
_ALL = re.compile(r"\b(?:both|all)\b", re.IGNORECASE)
_VERBS = listed("is are was were has have had will would can could do does did i've we've i'll we'll")
"""What a text has that says more than a name."""

Best = Callable[[Sequence[str]], str]
"""Gives of several facts the one that the dialogue is about."""


def agrees(text: str) -> bool:
    """Whether an answer begins with a yes."""
    return _begins(_YES, text) and not _begins(_NO, text)


def _begins(pattern: re.Pattern[str], text: str) -> bool:
    return pattern.match(text.replace("\u2019", "'")) is not None


def label(fact: Known) -> str:
    """What a fact is, as the user says it: by its name, where its description has no words."""
    return first_person(fact.doc) if tokens(fact.doc) else fact.name.replace("_", " ")


@dataclass
class Doubts:
    """What the user of an episode has asked back about."""

    facts: Mapping[str, Known]
    best: Best
    pending: tuple[str, ...] = ()
    """What it asked about last, and has no answer to yet."""
    choice: bool = False
    """Whether it asked which one of these is meant."""
    asked_about: set[str] = field(default_factory=set)
    denied: set[str] = field(default_factory=set)

    def heard(self, text: str) -> str:
        """What of a text is to be read: of an answer, what stands behind a no."""
        no = _BARE_NO.match(text) if self.pending else None
        return text[no.end() :] if no else text

    def settled(self, text: str, reading: Reading) -> set[str]:
        """The facts that the agent means, by its answer: yes, one of them by its name, or the same question again."""
        pending, self.pending = self.pending, ()
        if not pending:
            return set()
        if _begins(_NO, text):
            self.denied.update(pending)
            return set()
        yes, named = agrees(text), self._named(text, pending) or self._placed(text, pending)
        again = set(pending).intersection(reading.asked, reading.thin, *reading.unclear)
        words = tokens(text)
        if not (yes or again or (named and len(words) <= MAX_NAMED and not _VERBS & set(words))):
            return set()
        if self.choice and not named and not (yes and _ALL.search(text)):
            return {self.best(pending)}
        return set(named or pending)

    def _named(self, text: str, pending: Sequence[str]) -> tuple[str, ...]:
        """Those of some facts that a text names: by all words of what they are, or by those that set them apart."""
        left, labels = f" {' '.join(tokens(text))} ", {name: self._words(name) for name in pending}
        literal = list[tuple[str, ...]]()
        for words in sorted(set(labels.values()), key=lambda some: (-len(some), some)):
            shorter = left.replace(f" {' '.join(words)} ", " , ")
            literal += [words] if shorter != left else []
            left = shorter
        if literal:
            return tuple(name for name in pending if labels[name] in literal)
        own = {name: frozenset(map(concept, words)) for name, words in labels.items()}
        common = frozenset.intersection(*own.values()) if len(pending) > 1 else FILLING
        heard = frozenset(map(concept, tokens(text))) - common
        most = max(len(words & heard) for words in own.values())
        return tuple(name for name in pending if len(own[name] & heard) == most > 0)

    def _placed(self, text: str, pending: Sequence[str]) -> tuple[str, ...]:
        """The one whose place a text tells, where it asked which one is meant: "the first one"."""
        found = _THE_ONE.fullmatch(text) if self.choice else None
        place = ORDINALS.get(found[1].casefold(), 0) if found else 0
        return tuple(pending[place - 1 : place]) if place else ()

    def _words(self, name: str) -> tuple[str, ...]:
        """The words of a description, but for what it begins with."""
        words = tokens(self.facts[name].doc) or tokens(name.replace("_", " "))
        return tuple(words[1:] if words[:1] in (["the"], ["your"]) and words[1:] else words)

    def about(self, reading: Reading, known: set[str]) -> tuple[set[str], tuple[str, ...]]:
        """Of what a message seems to ask for: the facts that can be told all the same, as it was asked about them
        before or they are told already, and those to ask back about.
        """
        thin = set(reading.thin) - self.denied
        groups = [left for group in reading.unclear if (left := [one for one in group if one not in self.denied])]
        self.choice = not thin and len(groups) == 1 and not self.asked_about.issuperset(groups[0])
        alike = len({label(self.facts[name]) for group in groups for name in group}) == 1
        self.choice = self.choice and not alike
        thin.update(groups[0] if self.choice else map(self.best, groups))
        told = set() if self.choice else thin & (self.asked_about | known)
        self.pending = tuple(name for name in self.facts if name in thin - told)
        self.asked_about.update(self.pending)
        return told, self.pending

    def question(self, also: bool) -> str:
        """How it asks about what is pending: by what it is, never by its value."""
        labels = list(dict.fromkeys(label(self.facts[name]) for name in self.pending))
        if self.choice:
            return f"Which do you need: {_listed(labels, 'or')}?"
        return f"Do you {'also ' if also else ''}mean {_listed(labels, 'and')}?"


def _listed(labels: Sequence[str], joint: str) -> str:
    return f" {joint} ".join(filter(None, (", ".join(labels[:-1]), labels[-1])))
