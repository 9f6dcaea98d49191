"""Which facts can a part of a question mean? Those whose noun it has, if what stands beside it can be said of them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from forgec.users.glossary import Glossary
from forgec.users.phrases import ADJECTIVES, NEUTRAL, Phrase
from forgec.users.topics import (
    ADDRESS,
    AUTHOR,
    DESCRIPTION,
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
from forgec.users.values import spoken
from forgec.users.wording import concept, content, tokens

_WHERE, _AREA, _REASON, _PAY, _AMOUNT, _METHOD = (
    concept(word) for word in ("where", "area", "reason", "pay", "amount", "method")
)
_MANY_HAVE = frozenset((NUMBER, *map(concept, ("code", "date"))))
"""What so many things have that it has to be said of which: a membership has a number of its own."""
BY_VERB, BY_NOUN, ALIKE = 3, 2, 1
"""How sure it is that a part means a fact: it names what is done with it, it has its noun, or it is only like it."""


class Matcher:
    """Compares parts of questions with the facts of one briefing."""

    def __init__(self, topics: Iterable[Topic], words: Glossary, spoken_of: frozenset[str]) -> None:
        self.topics = list(topics)
        self.things, self.subjects = words.things, words.subjects
        self.verbs = frozenset[str]().union(*words.uses.values())
        self.spoken_of = spoken_of
        """The words of all that the user was told."""
        self.postal = [topic for topic in self.topics if topic.base & POSTAL and EMAIL not in topic.base]
        self.names = [topic for topic in self.topics if topic.heads & {FIRST, LAST}]
        self.heads = frozenset[str]().union(*(topic.heads for topic in self.topics))

        self.known = self.heads | self.spoken_of | self.things | NEUTRAL
        """What can be said of the user's facts."""

    def match(self, part: Phrase) -> list[Topic]:
        """The facts that a part fits best, which may be several; none where it fits none."""
        whole = self.whole(part)
        if whole or (part.head == ADDRESS and len(self.postal) > 1 and EMAIL not in part.concepts):
            return whole
        if part.owner in self.heads and len(part.nouns) > 1:
            part = part.about(part.owner)
        scored = [(self.score(topic, part), topic) for topic in self.topics]
        fitting = _of_one_time([topic for score, topic in scored if score > 0], part)
        best = max((score for score, topic in scored if topic in fitting), default=0.0)
        found = [topic for score, topic in scored if topic in fitting and score > best - 1e-9]
        numbered = [topic for topic in found if topic.ordinals & part.ordinals]
        return numbered or found

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
        ordinal = bool(topic.ordinals & part.ordinals) and not part.several
        return level + 0.08 * same + 0.04 * near + 0.3 * ordinal

    def level(self, topic: Topic, part: Phrase) -> int:
        """How sure it is that a part asks for a fact; 0 where it does not."""
        if part.wh in ("whose", "who", "whom", "where", "why"):
            return self._by_question_word(topic, part) if self._explained(part, topic) else 0
        if part.quantity and not part.head:
            return BY_NOUN if _PAY in part.rest and _AMOUNT in topic.heads else 0
        return self._by_verb(topic, part) or self._by_noun(topic, part) or self._by_description(topic, part)

    def _by_verb(self, topic: Topic, part: Phrase) -> int:
        """ "What shall the ticket say", "how do you pay", "describe the problem"."""
        asked = set(part.rest) & topic.verbs - {ADDRESS}
        if part.wh == "how" and _METHOD in topic.heads:
            asked |= set(part.rest) & (topic.base - topic.heads)
        if not asked or (part.head and part.direct and part.verb not in asked):
            return 0
        known = topic.base | topic.more | topic.objects | topic.near | topic.heads | self.things | NEUTRAL
        return BY_VERB if {*part.nouns, *part.of, *part.on} <= known else 0

    def _by_noun(self, topic: Topic, part: Phrase) -> int:
        if not part.head or not self._explained(part, topic):
            return 0
        if not part.direct and part.wh and set(part.rest) & {DESCRIPTION, TITLE} and NUMBER in topic.heads:
            return 0  # "what shall the ticket say" is not for its number
        if part.head in topic.heads or self._names(part, topic):
            return BY_NOUN
        alike = part.head in (topic.base - self.things) | topic.told and topic.opens != "whose"
        alike = alike or (part.head in self.things and bool(set(part.rest) & (topic.told - topic.heads)))
        return ALIKE if alike and part.wh in ("which", "what") and part.direct else 0

    def _by_description(self, topic: Topic, part: Phrase) -> int:
        """By what else the user was told of a fact."""
        open_ = part.wh in ("which", "what")
        if open_ and topic.opens == "which" and part.head and not self.things & set(part.nouns):
            return ALIKE if set(part.nouns) <= self.spoken_of else 0
        if part.wh and part.wh == topic.opens and part.concepts & topic.base and self._explained(part, topic):
            return ALIKE
        if part.one and len(set(part.rest) & topic.base) > 1:
            return ALIKE
        vague = not part.head or (not part.direct and part.head in NEUTRAL | self.spoken_of)
        if open_ and vague and set(part.rest) & self.subjects:  # "what would you like to borrow"
            wanted = topic.wanted and topic.opens in ("", "what")
            taken = set(part.rest) & (topic.uses | topic.near) - self.things - NEUTRAL
            return ALIKE if wanted or (taken and topic.heads & self.things) else 0
        return ALIKE if not part.head and not part.rest and part.ordinals & topic.ordinals and not topic.is_new else 0

    def _by_question_word(self, topic: Topic, part: Phrase) -> int:
        if part.wh == "why":
            return BY_NOUN if _REASON in topic.heads else 0
        if part.wh == "where":
            return self._by_place(topic, part)
        if AUTHOR in topic.heads and (part.wh == "whose" or AUTHOR in part.rest):
            return BY_NOUN
        if part.head in topic.heads and part.direct and part.wh == "who":
            return BY_NOUN
        return ALIKE if topic.opens == "who" and part.concepts & (topic.base | topic.near) else 0

    def _by_place(self, topic: Topic, part: Phrase) -> int:
        if not {_WHERE, _AREA} & (topic.base | topic.heads | topic.more):
            return 0
        if part.personal and not set(part.rest) <= self.spoken_of | NEUTRAL:
            return 0  # "where do you live"
        if set(part.nouns) & self.things:
            return ALIKE if set(part.nouns) & topic.base - self.things else 0
        return ALIKE if not part.personal or set(part.nouns) <= self.spoken_of | NEUTRAL else 0

    def _names(self, part: Phrase, topic: Topic) -> bool:
        """Whether a part asks for the name, title, number or amount of what a fact stands for."""
        if not part.beside & topic.heads:
            return False
        if part.head in (NAME, TITLE):
            return isinstance(topic.value, str) and not topic.heads & {EMAIL, NUMBER}
        return (part.head == NUMBER and NUMBER in topic.heads) or (part.head == _AMOUNT and topic.is_number)

    def _explained(self, part: Phrase, topic: Topic) -> bool:
        """Whether all that stands beside the noun of a part can be said of a fact."""
        known = topic.base | topic.more | topic.heads | topic.objects | topic.near
        if isinstance(topic.value, str):
            known = known | frozenset(content(tokens(spoken(topic.value))))
        beside = part.beside
        if part.head in _MANY_HAVE:
            before = set(part.nouns[:-1]) <= (known - topic.near) | topic.base | topic.heads | ADJECTIVES
            return before and beside <= known | ADJECTIVES and set(part.on) <= known | NEUTRAL
        if part.head in topic.heads and set(part.nouns[:-1]) & topic.base:
            beside = frozenset(part.nouns[:-1])  # "the last four digits", of whatever
        if part.head not in IDENTIFYING | {ADDRESS}:
            known = known | self.spoken_of | topic.uses
        return beside | set(part.on) <= known | NEUTRAL


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
