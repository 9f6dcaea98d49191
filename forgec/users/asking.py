"""What does a message ask for? The facts that it certainly means, and those that it may mean.

How likely each is comes from `reading`. What is almost certain is told; what is likely enough that one would ask back
is `thin`, or, where it is one of several facts of a kind, `unclear`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property

from forgec.users.glossary import Glossary
from forgec.users.reading import likely, wants_to_know
from forgec.users.topics import Topic, topics
from forgec.users.wording import MAX_TEXT, plain_words, sentences, tokens
from forgec_runtime import Briefing

SURE = 0.95
"""From which probability a fact is told."""
POSSIBLE = 0.2
"""From which it is asked back about."""
MAX_ASKED_BACK = 3
"""About how many facts at most; where all are of one kind, about all of it."""
_ARTICLE = re.compile(r"^(?:the|your)\s+", re.IGNORECASE)
_NUMBER = re.compile(r"\W*\d+[.)]")
"""Of an item of a list, which is a sentence of its own as it ends with a full stop."""
_MANY = frozenset(("all", "both", "each", "every", "two", "three", "four", "five", "six"))


@dataclass(frozen=True)
class Reading:
    """What a message asks for. All names are those of facts."""

    asked: tuple[str, ...]
    """What it asks for without a doubt, in the order of the briefing."""
    thin: tuple[str, ...] = ()
    """What it seems to ask for besides, on evidence that is not enough to tell it."""
    unclear: tuple[tuple[str, ...], ...] = ()
    """Those of a kind of which one is asked for, and the message does not tell which."""

    def without(self, names: Collection[str]) -> Reading:
        """What is in doubt apart from what these facts answer."""
        thin = tuple(name for name in self.thin if name not in names)
        return replace(self, thin=thin, unclear=tuple(one for one in self.unclear if not set(one) & set(names)))


class Asking:
    """Finds the facts that messages ask for, among those of one briefing."""

    def __init__(self, briefing: Briefing, words: Glossary) -> None:
        self.briefing, self.words = briefing, words
        self._docs = {fact.name: fact.doc for fact in briefing.facts}
        self._chances: dict[str, dict[str, float]] = {}

    @cached_property
    def topics(self) -> list[Topic]:
        return topics(self.briefing)

    def alike(self, name: str) -> frozenset[str]:
        """The facts that are described as this one is, which no question can tell apart; it is among them."""
        doc = self._docs[name]
        return frozenset(other for other, its in self._docs.items() if doc and its == doc) | {name}

    def several(self, text: str, name: str) -> bool:
        """Whether a message asks for more than one of the facts that are described as this one is."""
        words = tokens(text)
        doc = tokens(self._docs[name])
        return bool(_MANY.intersection(words)) or any(word.endswith("s") and word[:-1] in doc for word in words)

    def asked(self, text: str) -> tuple[str, ...]:
        """The names of the facts that a message asks for without a doubt, in the order of the briefing."""
        return self.read(text).asked

    def read(self, text: str, told: frozenset[str] = frozenset()) -> Reading:
        """What a message asks for, when some facts are told already."""
        text = text[-MAX_TEXT:]
        plainly = self._plainly(text)
        named = {name for some in plainly for name in some}
        if all(plainly):
            return Reading(tuple(topic.name for topic in self.topics if topic.name in named))
        chances = self._likely(text)
        possible = sorted((name for name in chances if chances[name] > POSSIBLE), key=lambda name: -chances[name])
        rivals = {topic.name: set(topic.rivals) for topic in self.topics}
        sure = named | {
            name for name in possible
            if chances[name] > SURE and all(chances[one] > SURE for one in rivals[name].intersection(possible))
            and (len(self.alike(name)) == 1 or self.several(text, name))
        }  # fmt: skip
        others = {name: rivals[name] - told - self.alike(name) if name in told else () for name in possible}
        doubted = [name for name in possible if name not in sure and not others[name]]
        first = doubted[:MAX_ASKED_BACK]
        if all(first[0] in (name, *rivals[name]) for name in first):
            first = [name for name in doubted if first[0] in (name, *rivals[name])]
        groups = {tuple(one for one in chances if one in {name, *rivals[name]} and one in first) for name in first}
        return Reading(
            tuple(name for name in chances if name in sure),
            tuple(name for name in chances if (name,) in groups),
            tuple(sorted(group for group in groups if len(group) > 1)),
        )

    def _likely(self, text: str) -> dict[str, float]:
        """It is remembered: the user reads a message, and who looks at what the user did."""
        if text not in self._chances:
            self._chances[text] = likely(text, self.topics)
        return self._chances[text]

    def _plainly(self, text: str) -> list[tuple[str, ...]]:
        """The facts of each sentence that is a plain request. In a list it is one only if the list is asked for."""
        found, in_list, wanted = list[tuple[str, ...]](), False, True
        for sentence in sentences(text):
            if _NUMBER.fullmatch(sentence):
                continue
            if sentence.endswith(":"):
                in_list, wanted = True, any(map(wants_to_know, sentence.split(",")))
            found.append(self._named(sentence, in_list) if wanted else ())
        return found

    def _named(self, sentence: str, in_list: bool) -> tuple[str, ...]:
        """The facts of a request that is nothing but their descriptions, with semicolons between several. In a list
        these may go without what they begin with, "the" or "your".
        """
        items = [plain_words(item) for item in sentence.split(";")]
        named = tuple(name for name, forms in self._forms.items() if not forms[in_list].isdisjoint(items))
        return named if len(named) == len(items) else ()

    @cached_property
    def _forms(self) -> dict[str, tuple[frozenset[tuple[str, ...]], frozenset[tuple[str, ...]]]]:
        """The words that name each fact, in a sentence and in a list."""
        found = {}
        for topic in self.topics:
            whole = frozenset(filter(None, (topic.doc,)))
            bare = plain_words(_ARTICLE.sub("", self._docs[topic.name]))
            found[topic.name] = (whole, whole.union(filter(None, (bare,))))
        return found
