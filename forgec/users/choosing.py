"""Of several facts that a part of a question may mean equally, those that it is about.

By what the user has been told of each: the words of its request, its description, and what else stands there. Where
that does not settle which, none is: an unasked fact is worse than a question back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from forgec.users.matching import OTHER, Matcher
from forgec.users.phrases import ADJECTIVES, NEUTRAL, Phrase
from forgec.users.questions import Question
from forgec.users.topics import Topic
from forgec.users.values import said
from forgec.users.wording import meanings

_AGAIN = re.compile(
    r"\b(?:again|another|different|not (?:find|found|right|correct|valid)|(?:no|does not|doesn't|do not|don't|did not|"
    r"didn't) (?:\w+ )*(?:match|find|found|exist|work|fit|recogni[sz]e|know|see)|can't find|cannot find|couldn't find|"
    r"unknown|invalid|double-check|once more)\b",
    re.IGNORECASE,
)
"""How an agent asks for something other than what it was given."""
_YOU = re.compile(r"\byou(?:'\w+)?\b", re.IGNORECASE)
"""What speaks of what the user wants, and not of what is done already."""
_NEXT = re.compile(r"\b(?:next|other|another|also|else)\b", re.IGNORECASE)
"""How it goes on to another request than that of which it spoke."""
_ELSE = re.compile(r"\b(?:instead|alternatively?|otherwise|in (?:its|their) (?:stead|place))\b", re.IGNORECASE)


@dataclass(frozen=True)
class Choice:
    """What a question is about, and the message that it stands in."""

    matcher: Matcher
    question: Question
    message: str
    earlier: Sequence[Topic]
    """What the questions before it ask for."""

    @property
    def before(self) -> str:
        """The sentence before the question."""
        return next((line for line in reversed(self.question.before.split("\n")) if line.strip()), "")

    def one(self, found: list[Topic], part: Phrase, beside: Sequence[Topic]) -> list[Topic]:
        """Of several that a part may mean those that it is about, by what the user has been told of each."""
        if len(found) < 2:
            return found
        if any(topic.tried for topic in found):
            again = _AGAIN.search(self.message) is not None or any(
                said(topic.value, [self.message]) for topic in found if topic.tried
            )
            found = [topic for topic in found if topic.tried != again] or found
        unsaid = [topic for topic in found if not (isinstance(topic.value, str) and said(topic.value, [self.message]))]
        if OTHER in part.rest and len(unsaid) == len(found) == 2:
            unsaid = [topic for topic in found if topic.ordinals & part.ordinals]
        found = unsaid or found
        found = _otherwise(found, self.message)
        kinds = {topic.is_new for topic in found}
        if len(kinds) > 1:
            held = [topic for topic in self.matcher.topics if topic.is_new and isinstance(topic.value, str)]
            new = any(topic.is_new for topic in [*self.earlier, *beside][-1:])
            new = new or any(said(topic.value, [self.message]) for topic in held)
            found = [topic for topic in found if topic.is_new == new]
        found = self._of_request(found, beside)
        common = self.matcher.things | NEUTRAL | frozenset.intersection(*(topic.base for topic in found))
        before = (
            self.before if (part.nouns or _YOU.search(self.before)) and not any(map(str.isdigit, self.before)) else ""
        )
        for heard in (part.concepts, *(frozenset(meanings(text)) for text in (self.question.sentence, before))):
            scores = [len((heard & (topic.near | topic.base)) - common) for topic in found]
            if max(scores) > min(scores):
                found = [topic for topic, score in zip(found, scores, strict=True) if score == max(scores)]
        return found

    def several(self, found: list[Topic], part: Phrase) -> tuple[list[Topic], bool]:
        """Of several that are asked for those that the question is about, and whether it is known which."""
        if not all(topic.near for topic in found):
            return found, part.count in (0, len(found))
        found = _otherwise(found, self.message)
        own = [*part.rest, *part.nouns[:-1], *part.of]
        said_of = [topic.near | topic.base for topic in found]
        about = _about(found, said_of, own)
        if about:
            return about, part.count in (0, len(about))
        if part.count:
            return found, part.count == len(found)
        if set(part.rest) & self.matcher.verbs - frozenset.union(*said_of):
            return found, False  # it is what is done with something else
        for text in (self.question.sentence, self.before):
            others = frozenset(meanings(text)).difference(own, part.nouns)
            about = _about(found, [topic.base for topic in found], others) or _about(found, said_of, others)
            if about:
                return about, True
        near = [topic.near - self.matcher.things for topic in found]
        shared, all_ = frozenset.intersection(*near), frozenset.union(*near)
        return found, set(part.rest) <= self.matcher.known or 2 * len(shared) >= len(all_)

    def _of_request(self, found: list[Topic], beside: Sequence[Topic]) -> list[Topic]:
        """Of several facts those of the request of which a question has a value, or another fact."""
        things = [topic for topic in self.matcher.topics if topic.heads & self.matcher.things]
        spoken_of = [topic for topic in things if said(topic.value, [self.question.sentence])]
        before = [one for one in things if any(map(str.isdigit, self.before)) and said(one.value, [self.before])]
        before = [] if _NEXT.search(f"{self.before} {self.question.sentence}") else before
        for others in (spoken_of, beside, before):
            places = frozenset[int]().union(*(topic.told_in for topic in others))
            found = [topic for topic in found if topic.told_in & places] or found
        return found


def _otherwise(found: list[Topic], message: str) -> list[Topic]:
    """Of several facts those for when something else is not possible, if that is what a message is about."""
    return [topic for topic in found if topic.fallback and _ELSE.search(message)] or found


def _about(found: list[Topic], said_of: Sequence[frozenset[str]], heard: Iterable[str]) -> list[Topic]:
    """Of several facts those that words speak of, by what is said of each, if these do not speak of all of them."""
    apart = frozenset(heard) - frozenset.intersection(*said_of) - ADJECTIVES
    about = [topic for topic, its in zip(found, said_of, strict=True) if apart & its]
    return about if len(about) < len(found) else []
