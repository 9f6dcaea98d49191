"""Of several facts that a part of a question may mean equally, those that it is about.

By what the user has been told of each: the words of its request, its description, and what else stands there. Where
that does not settle which, none is: an unasked fact is worse than a question back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from forgec.users.matching import ALIKE, OTHER, Match, Matcher, Meant
from forgec.users.phrases import ADJECTIVES, NEUTRAL, Phrase
from forgec.users.questions import Question
from forgec.users.topics import Topic
from forgec.users.values import said
from forgec.users.wording import meanings

_AGAIN = re.compile(
    r"\b(?:again|another|different|once more|unknown|invalid|double-check|\w+n't|not|no|nothing|none|nobody|nowhere)\b",
    re.IGNORECASE,
)
"""How an agent asks for something other than what it was given."""
_ELSE = re.compile(r"\b(?:instead|alternatively?|otherwise|in (?:its|their) (?:stead|place))\b", re.IGNORECASE)


@dataclass(frozen=True)
class Choice:
    """What a question is about, and the message that it stands in."""

    matcher: Matcher
    question: Question
    message: str
    told: frozenset[str]
    """The facts that were told already."""
    earlier: Sequence[Topic]
    """What the questions before it ask for."""

    @property
    def before(self) -> str:
        """The sentence before the question."""
        return next((line for line in reversed(self.question.before.split("\n")) if line.strip()), "")

    def one(self, match: Match, part: Phrase, beside: Sequence[Topic]) -> Meant:
        """Of several that a part may mean those that it is about, by what the user has been told of each."""
        found, evidence = list(match.topics), match.evidence
        if len(found) < 2:
            return Meant(found, evidence)
        if any(topic.tried for topic in found):
            again = _AGAIN.search(self.message) is not None or any(
                topic.name in self.told or said(topic.value, [self.message]) for topic in found if topic.tried
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
        before = "" if any(map(str.isdigit, self.before)) else self.before
        around = (frozenset(meanings(text)) for text in (self.question.sentence, before))
        for heard, enough in ((part.concepts, evidence), *((words, ALIKE) for words in around)):
            scores = [len((heard & (topic.near | topic.base)) - common) for topic in found]
            if max(scores) > min(scores):
                found = [topic for topic, score in zip(found, scores, strict=True) if score == max(scores)]
                evidence = min(evidence, enough)
        return Meant(found, evidence)

    def several(self, match: Match, part: Phrase) -> Meant:
        """Of several that are asked for those that the question is about, and whether it is known which."""
        found = _otherwise(list(match.topics), self.message)
        own = frozenset((*part.rest, *part.nouns[:-1], *part.of, *part.on))
        named = _about(found, [topic.base for topic in found], own)
        found = named or found
        together = (
            frozenset.intersection(*(topic.told_in for topic in found)) or len({topic.base for topic in found}) == 1
        )
        clear = own <= (NEUTRAL.union(*(topic.base for topic in named)) if named else self.matcher.known)
        heard = own if part.count else own | frozenset(meanings(self.question.sentence))
        about = _about(found, [topic.near | topic.base for topic in found], heard)
        found = about or found
        sure = part.count == len(found) or (not part.count and not about and bool(named or together) and clear)
        return Meant(found, match.evidence if sure else min(match.evidence, ALIKE), whole=True)

    def _of_request(self, found: list[Topic], beside: Sequence[Topic]) -> list[Topic]:
        """Of several facts those of the request of which a question has a value, or another fact."""
        things = (topic for topic in self.matcher.topics if topic.heads & self.matcher.things)
        for others in ([topic for topic in things if said(topic.value, [self.question.sentence])], beside):
            places = frozenset[int]().union(*(topic.told_in for topic in others))
            found = [topic for topic in found if topic.told_in & places] or found
        return found


def _otherwise(found: list[Topic], message: str) -> list[Topic]:
    """Of several facts those for when something else is not possible, if that is what a message is about."""
    return [topic for topic in found if topic.fallback and _ELSE.search(message)] or found


def _about(found: list[Topic], said_of: Sequence[frozenset[str]], heard: Iterable[str]) -> list[Topic]:
    """Of several facts those that words speak of, by what is said of each, if these do not speak of all of them."""
    apart = frozenset(heard) - frozenset.intersection(*said_of) - ADJECTIVES
    scores = [len(apart & its) for its in said_of]
    about = [topic for topic, score in zip(found, scores, strict=True) if score == max(scores) > 0]
    return about if len(about) < len(found) else []
