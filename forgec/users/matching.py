"""Which facts can a part of a question mean? Those whose noun it has, if what stands beside it can be said of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from forgec.users.glossary import Glossary
from forgec.users.kinds import named
from forgec.users.phrases import ADJECTIVES, NEUTRAL, Phrase
from forgec.users.topics import (
    ADDRESS,
    AUTHOR,
    EMAIL,
    FIRST,
    FULL_NAME,
    IDENTIFYING,
    LAST,
    NAME,
    NUMBER,
    POSTAL,
    TITLE,
    Topic,
)
from forgec.users.wording import concept, meanings

_WHERE, _AREA, _REASON, _PAY, _AMOUNT, _METHOD = (
    concept(word) for word in ("where", "area", "reason", "pay", "amount", "method")
)
_OWED = frozenset(map(concept, ("owe", "cost", "due", "pay", "willing")))
OTHER = concept("other")
_MANY_HAVE = frozenset((NUMBER, *map(concept, ("code", "date"))))
"""What so many things have that it has to be said of which: a membership has a number of its own."""
_NAMING = IDENTIFYING | {ADDRESS}
BY_VERB, BY_NOUN, ALIKE = 3, 2, 1
"""How sure it is that a part means a fact: it names what is done with it, it has its noun, or it is only like it."""
STRONG = BY_NOUN
"""From which evidence on a fact is told; on less the user asks back."""

HINT = 2.0
"""How much a question has to speak of a fact for the user to ask back about it."""


@dataclass(frozen=True)
class Match:
    """The facts that a part of a question fits equally well, and the evidence for it."""

    topics: Sequence[Topic]
    evidence: float

    def thinner(self) -> Match:
        """The same on evidence that is not enough."""
        return replace(self, evidence=min(self.evidence, ALIKE))

    def without(self, excepted: Iterable[Topic]) -> Match:
        left = list(excepted)
        return replace(self, topics=[topic for topic in self.topics if topic not in left])


NOTHING = Match((), 0.0)


@dataclass(frozen=True)
class Meant:
    """What a part of a question means."""

    topics: Sequence[Topic]
    evidence: float
    whole: bool = False
    """Whether all of these are meant, and not one of them."""


class Matcher:
    """Compares parts of questions with the facts of one briefing."""

    def __init__(self, topics: Iterable[Topic], words: Glossary, spoken_of: frozenset[str]) -> None:
        self.topics = list(topics)
        self.things, self.subjects = words.things, words.subjects
        self.verbs = frozenset[str]().union(*words.uses.values())
        self.identified = frozenset(concept(name.removesuffix("_id")) for name in words.words if name.endswith("_id"))
        """What has a number of its own."""
        self.spoken_of = spoken_of
        """The words of all that the user was told."""
        self.postal = [topic for topic in self.topics if topic.base & POSTAL and EMAIL not in topic.base]
        self.names = [topic for topic in self.topics if topic.heads & {FIRST, LAST}]
        self.heads = frozenset[str]().union(*(topic.heads for topic in self.topics))

        self.values = frozenset(
            word for one in self.topics if isinstance(one.value, str) for word in meanings(one.value)
        )
        """The words of all that the user could tell."""
        self.known = self.heads | self.spoken_of | self.things | NEUTRAL
        """What can be said of the user's facts."""

    def match(self, part: Phrase) -> Match:
        """The facts that a part fits best, which may be several; none where it fits none."""
        if part.foreign:
            return NOTHING
        if part.owner in self.heads and len(part.nouns) > 1:
            part = part.about(part.owner)
        whole = self.whole(part)
        if whole or (part.head == ADDRESS and len(self.postal) > 1 and EMAIL not in part.concepts):
            return Match(whole, STRONG)
        scored = [(self.score(topic, part), topic) for topic in self.topics]
        fitting = _of_one_time([topic for score, topic in scored if score > 0], part)
        best = max((score for score, topic in scored if topic in fitting), default=0.0)
        found = [topic for score, topic in scored if topic in fitting and score > best - 1e-9]
        numbered = [topic for topic in found if topic.ordinals & part.ordinals]
        found = found if OTHER in part.rest else numbered or found
        if found and not any(self._is_done(topic, part) for topic in found):
            best = min(best, ALIKE)
        return Match(found, best) if found else self._by_kind(part)

    def _is_done(self, topic: Topic, part: Phrase) -> bool:
        """Whether what a part says is done can be done with the fact: not so "the book that you return"."""
        named = topic.base | topic.heads
        if named & self.identified and frozenset(part.nouns[:-1]) & self.identified - named:
            return False
        own = topic.known - topic.near if topic.wanted else topic.known
        return (
            not frozenset(part.rest)
            & self.verbs
            & self.spoken_of - own - topic.uses - topic.told - topic.verbs - topic.heads
        )

    def _by_kind(self, part: Phrase) -> Match:
        """The facts of the kind that its noun is of, where none has the noun itself."""
        if part.head in self.heads:
            return NOTHING
        done = part.rest if part.wh in ("what", "which") and not part.nouns else ()
        for head in (head for word in (part.head, *done) for head in named(word)):
            found = self.match(part.about(head)) if head in self.heads else NOTHING
            if found.topics:
                return found.thinner()
        return NOTHING

    def whole(self, part: Phrase) -> list[Topic]:
        """The parts of an address or a name that is asked for as one."""
        if part.head == ADDRESS and len(self.postal) > 1 and EMAIL not in part.concepts:
            new = [topic for topic in self.postal if topic.is_new != part.old]
            found = new if new or part.old else self.postal
            done = set(part.rest) if part.wh and part.personal else set()
            clear = self._explained(part, self.postal[0]) and done <= self.known | self.subjects
            return found if len(found) > 1 and clear else []
        if part.head in (NAME, FULL_NAME) and len(self.names) == 2 and self._explained(part, self.names[0]):
            return self.names
        return []

    def score(self, topic: Topic, part: Phrase) -> float:
        """How well a part fits a fact; 0 where it does not ask for it."""
        level = self.level(topic, part)
        if not level or not _fits(topic, part):
            return 0.0
        same = len((part.concepts & topic.base) - self.things) + len(part.beside & topic.base & self.things)
        near = 0 if part.several else min(len(set(part.rest) & topic.near), 3)
        ordinal = bool(topic.ordinals & part.ordinals) and not part.several and OTHER not in part.rest
        return level + 0.08 * same + 0.04 * near + 0.3 * ordinal

    def level(self, topic: Topic, part: Phrase) -> int:
        """How sure it is that a part asks for a fact; 0 where it does not."""
        if part.head in self.heads - self.things - topic.heads:
            return self._by_noun(topic, part)  # it is about another fact
        if part.wh in ("whose", "who", "whom", "where", "why"):
            return self._by_question_word(topic, part) if self._explained(part, topic) else 0
        vague = not part.head or part.head in ADJECTIVES
        if part.quantity and (vague or part.head == _PAY):
            paid = _PAY in part.concepts and _AMOUNT in topic.heads
            return BY_NOUN if paid else ALIKE if vague and topic.is_number and NUMBER not in topic.heads else 0
        return self._by_verb(topic, part) or self._by_noun(topic, part) or self._by_description(topic, part)

    def hinted(self, part: Phrase, words: Iterable[str], among: Iterable[Topic]) -> list[Topic]:
        """The facts that the words of a question speak of most, where no part of it means any."""
        scores: dict[str, float] = {}
        topics = [topic for topic in among if _fits(topic, part)]
        for word in dict.fromkeys(words):
            kinds = frozenset((word, *named(word)))
            weights = [self._weight(topic, kinds) for topic in topics]
            for topic, weight in zip(topics, weights, strict=True):
                scores[topic.name] = scores.get(topic.name, 0.0) + weight / max(1, sum(map(bool, weights)))
        best = max(scores.values(), default=0.0)
        return [topic for topic in topics if best >= HINT and scores[topic.name] > best - 0.01]

    def _weight(self, topic: Topic, words: frozenset[str]) -> float:
        """How much it speaks of a fact that one of these words is said."""
        if words & topic.heads - self.things:
            return 3.0
        if words & topic.base - self.things:
            return 2.0
        return 1.0 if words & (topic.near | topic.uses | topic.told | topic.heads) else 0.0

    def _by_verb(self, topic: Topic, part: Phrase) -> int:
        """ "What shall the ticket say", "how do you pay", "describe the problem"."""
        if part.wh not in ("what", "how", ""):
            return 0
        asked = set(part.rest) & topic.verbs - {ADDRESS}
        if part.wh == "how" and _METHOD in topic.heads:
            asked |= set(part.rest) & (topic.base - topic.heads)
        if not asked or (part.head and part.direct and part.verb not in asked):
            return 0
        return BY_VERB if {*part.nouns, *part.of, *part.on} <= topic.known | self.things | NEUTRAL else 0

    def _by_noun(self, topic: Topic, part: Phrase) -> int:
        if not part.head or (part.wh and not part.direct) or not self._explained(part, topic):
            return 0
        if part.head in topic.heads or self._names(part, topic):
            return BY_NOUN
        alike = part.head in (topic.base - self.things) | topic.told and topic.opens != "whose"
        return ALIKE if alike and part.wh in ("which", "what") else 0

    def _by_description(self, topic: Topic, part: Phrase) -> int:
        """By what else the user was told of a fact."""
        if part.wh == topic.opens == "which" and part.head and not self.things & set(part.nouns):
            return ALIKE if set(part.nouns) <= self.spoken_of else 0
        same = part.wh and part.wh == topic.opens and part.concepts & topic.base
        return ALIKE if same and not part.one and self._explained(part, topic) else 0

    def _by_question_word(self, topic: Topic, part: Phrase) -> int:
        if part.wh == "why":
            return BY_NOUN if _REASON in topic.heads and set(part.nouns) <= topic.known | self.things | NEUTRAL else 0
        if part.wh == "where":
            place = not part.past and {_WHERE, _AREA} & (topic.base | topic.heads | topic.more)
            return ALIKE if place and (not part.personal or set(part.nouns) <= self.spoken_of | NEUTRAL) else 0
        if AUTHOR in topic.heads and (part.wh == "whose" or AUTHOR in part.rest):
            return BY_NOUN
        if part.head in topic.heads and part.direct and part.wh == "who":
            return BY_NOUN
        return ALIKE if topic.opens == "who" and part.concepts & (topic.base | topic.near) else 0

    def _names(self, part: Phrase, topic: Topic) -> bool:
        """Whether a part asks for the name, title, number or amount of what a fact stands for."""
        if not part.beside & topic.heads:
            return False
        if part.head in (NAME, TITLE):
            return isinstance(topic.value, str) and not topic.heads & {EMAIL, NUMBER}
        return (part.head == NUMBER and NUMBER in topic.heads) or (part.head == _AMOUNT and topic.is_number)

    def _explained(self, part: Phrase, topic: Topic) -> bool:
        """Whether all that stands beside the noun of a part can be said of a fact."""
        if part.head in _MANY_HAVE:
            before = frozenset(part.nouns[:-1]) - topic.base - topic.heads - ADJECTIVES - (topic.known - topic.near)
            return not (before or part.beside - topic.known - ADJECTIVES or frozenset(part.on) - topic.known - NEUTRAL)
        left = part.beside.union(part.on) - topic.known - NEUTRAL - self.values
        return not left or (part.head not in _NAMING and not left - self.spoken_of - topic.uses)


def _of_one_time(found: list[Topic], part: Phrase) -> list[Topic]:
    """The facts without those that are to be where what is is asked for, and the other way round."""
    if part.new and not part.old:
        return [topic for topic in found if topic.is_new] or found
    if part.old and not part.new:
        return [topic for topic in found if not topic.is_new]
    return found


def _fits(topic: Topic, part: Phrase) -> bool:
    """Whether a value can be the answer to such a question."""
    if part.quantity:
        return topic.is_number
    if part.wh in ("when", "why"):
        return isinstance(topic.value, date) or bool({part.wh, _REASON} & topic.base)
    return True
