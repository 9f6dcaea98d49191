"""What does a message ask for? Its questions and requests, and the facts that they mean."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from itertools import pairwise
from typing import Any

from forgec.users.glossary import Glossary
from forgec.users.questions import PARTS, asked_part, requests, setting, wants_to_know
from forgec.users.topics import Topic, ordinals, topics
from forgec.users.wording import FILLING, ORDINALS, concept, content, tokens
from forgec_runtime import Briefing
from forgec_runtime.says import spoken

ENOUGH = 0.9
"""The least score of a fact that is asked for."""

_SAME_AGAIN = re.compile(r"\s*(?:the ones?|that is|namely|meaning)\b", re.IGNORECASE)
"""What begins a part that says the one before it again, more closely."""
_BOTH_NAMES = re.compile(r"\bfirst and (?:the |your )?last names?\b", re.IGNORECASE)
_OTHERS = re.compile(r"\b(?:his|her|their)\b(?! (?:numbers?|titles?|names?)\b)", re.IGNORECASE)
"""What is asked about is somebody else's; not "the tickets and their numbers"."""
_OF_THE = re.compile(
    r"\b(?:number|code|date|address) of (?:the|this|that|your) (?:(?:first|second|third|other) )?(\w+)", re.IGNORECASE
)
_ASKED_OF = {concept(word) for word in ("name", "date", "address")}
"""What a question is for when they stand at its end: "your colleague's name"."""
_GENERIC = {concept(word) for word in ("number", "code", "date", "address")}
"""Heads that mean nothing without the word before them."""
_NUMBERS = (int, float, Decimal)
_NEW = concept("new")
_OLD_WORDS = {"current", "currently", "old", "existing", "present", "previous", "registered", "file"}
_NEW_WORDS = {"new", "replace", "replaces", "replacing"}
_BECOMES = re.compile(
    r"\b(?:from (?:now|here) on|in (?:the )?future|"
    r"(?:change[ds]?|update[ds]?|switch(?:ed)?|move[ds]?)(?: \w+)? to)\b"
)
"""How what is to be is told from what is."""
_SAY = concept("say")
"""What a text is to say, and what anybody does: it stands for no noun."""
_STATE = re.compile(r"\b(?:the|your|which|what|city|and|new) state\b")
"""Where a state is no verb."""
_TO_PAY = re.compile(r"\bhow much (?:would|do|are|should|shall)\b.*\b(?:you|i)\b.*\b(?:pay|like|want|wish|charge)\b")
_WOULD_HAVE = re.compile(
    r"\bwhat (?:is it (?:that )?)?(?:would you (?:like|want)|do you (?:want|wish)|are you (?:looking|hoping)|"
    r"you(?:'d| would) like|you want)\b.*?\bto (?:borrow|read|lend|rent|buy|order|check out|take (?:home|out))\b"
    r"|\b(?:you(?:'d| would) like|you want|you(?:'re| are) (?:after|looking for|interested in))(?: most| best)?\W*$",
    re.IGNORECASE,
)
"""An open question for what is wanted: not for what is to be done."""
_ADDRESS = {concept(word) for word in ("street", "city", "town", "state", "country", "zip", "address1", "address2")}


class Asking:
    """Finds the facts that messages ask for, among those of one briefing."""

    def __init__(self, briefing: Briefing, words: Glossary) -> None:
        self.topics = topics(briefing, words)
        docs: dict[str, set[str]] = defaultdict(set)
        for fact in briefing.facts:
            docs[fact.doc].add(fact.name)
        self._alike = {fact.name: frozenset(docs[fact.doc]) for fact in briefing.facts if fact.doc}
        texts = [briefing.intent, *(one.text for one in briefing.requests), *(fact.doc for fact in briefing.facts)]
        self.subjects = words.subjects.union(*(content(tokens(text)) for text in texts))

    def alike(self, name: str) -> frozenset[str]:
        """The facts that are described as this one is, which no question can tell apart; it is among them."""
        return self._alike.get(name, frozenset([name]))

    def asked(self, text: str) -> tuple[str, ...]:
        """The names of the facts that a message asks for, in the order of the briefing."""
        found: set[str] = set()
        for sentence in requests(text):
            found.update(self._sentence(sentence))
        return tuple(topic.name for topic in self.topics if topic.name in found)

    def _sentence(self, sentence: str) -> Iterator[str]:
        chosen = [topic for topic in self.topics if _offered(topic, sentence)]
        if chosen:
            yield from (topic.name for topic in chosen)
            return
        if not wants_to_know(sentence):
            return
        body = _BOTH_NAMES.sub("first name, last name", asked_part(sentence))
        if _OTHERS.search(body) and not re.search(r"\byours?\b", body, re.IGNORECASE):
            return
        chosen = self._parts(body) or self._whole(setting(sentence) + body)
        yield from (topic.name for topic in chosen)

    def _whole(self, sentence: str) -> list[Topic]:
        """The facts of a question that is one part, with what stands before it."""
        return self._part(tokens(sentence)) if setting(sentence) else []

    def _would_have(self, sentence: str) -> list[Topic]:
        """The one fact that the user wants, where it is asked what it would like to have."""
        wanted = [topic for topic in self.topics if topic.wanted] if _WOULD_HAVE.search(sentence) else []
        return wanted if len(wanted) == 1 else []

    def _parts(self, body: str) -> list[Topic]:
        """The facts that the parts of a question mean, one after the other."""
        chosen, before = list[Topic](), list[Topic]()
        pieces = ["", *PARTS.split(body)]
        parts = pieces[1::2]
        for place, (joint, part) in enumerate(zip(pieces[::2], parts, strict=True)):
            words = tokens(part)
            if _lacks_noun(words) and place + 1 < len(parts):
                words = words + [word for word in tokens(parts[place + 1]) if not _tells_apart(word)]
            found = self._part(words) or self._would_have(part)
            if not found and before:
                numbered = ordinals(words)
                found = (
                    [topic for topic in self.topics if topic.ordinals & numbered and topic.base & before[0].base]
                    if numbered
                    else []
                )
            if before and joint == "," and _SAME_AGAIN.match(part):
                closer = [topic for topic in found if topic in before]
                chosen = [topic for topic in chosen if topic not in before] + (closer or found or before)
            else:
                chosen += found
            before = found or before
        return chosen

    def _part(self, words: list[str]) -> list[Topic]:
        """The facts that a part of a question means: those with the best score, if it is good enough."""
        heard, numbered = _heard(words), ordinals(words)
        asked = _of_one_time(self.topics, words)
        if concept("address") in heard and "email" not in heard:
            address = [topic for topic in asked if topic.base & _ADDRESS and "email" not in topic.base]
            new = [topic for topic in address if _NEW in topic.base]
            if len(new or address) > 1:
                return new or address
            emails = [topic for topic in asked if "email" in topic.base and (_NEW in topic.base) == _is_new(words)]
            if len(emails) == 1:
                return emails
        scored = [(self._score(topic, words, heard, numbered), topic) for topic in asked]
        best = max((score for score, _ in scored), default=0.0)
        if best < ENOUGH:
            near = [topic for topic in asked if len(topic.near & set(heard)) >= 2 and _fits(topic, words)]
            return near if len(near) == 1 and _open(words) else []
        found = [topic for score, topic in scored if score > best - 1e-9]
        heads = {topic.head for topic in found} & set(heard)
        matched = set(heard) & found[0].base
        found += [topic for score, topic in scored if score >= ENOUGH and topic not in found
                  and topic.head in heads and set(heard) & topic.base == matched]  # fmt: skip
        picked = [topic for topic in found if topic.ordinals & numbered]
        return picked or found

    def _score(self, topic: Topic, words: list[str], heard: list[str], numbered: frozenset[int]) -> float:
        if not _fits(topic, words):
            return 0.0
        said_words = set(heard)
        own = said_words & topic.base
        if own == {_NEW}:
            return 0.0
        if own and own <= _GENERIC and self._other_kind(topic, words, heard):
            return 0.0
        if _of_another_kind(topic, words, heard, own):
            return 0.0
        score = len(own) + 0.5 * len(own) / max(len(topic.base), 1)
        score += 0.6 * min(len((said_words & topic.more) - own), 2)
        score += 0.4 if any(concept(word) in said_words for word in tokens(spoken_words(topic.value))) else 0.0
        score += 0.5 if topic.opens and topic.opens in words else 0.0
        if heard and heard[0] in topic.base and _open(words):  # "which note"
            score += 0.6 if heard[0] == topic.head else 0.4
        if topic.ordinals & numbered:
            score += 0.9 if own or said_words <= topic.more | self.subjects else 0.0
        elif numbered and topic.ordinals and not own:
            return 0.0
        return score

    def _other_kind(self, topic: Topic, words: list[str], heard: list[str]) -> bool:
        """Whether a general word, such as number, stands behind one that this environment knows nothing of."""
        of = _OF_THE.search(" ".join(words))
        known = topic.base | topic.more | topic.owners | (self.subjects if topic.ordinals & ordinals(words) else set())
        if of is not None and concept(of[1]) not in known:
            return True
        for i, word in enumerate(heard):
            if word in _GENERIC and i and heard[i - 1] not in topic.base | topic.more | self.subjects:
                return True
        return False


def spoken_words(value: Any) -> str:
    """A text value as it is said; nothing for other values."""
    return value if isinstance(value, str) else ""


def _heard(words: list[str]) -> list[str]:
    """The concepts of a part of a question, with those that its question word stands for."""
    joined = " ".join(words)
    heard = content(words)
    if _STATE.search(joined) or words == ["state"]:
        heard.append(concept("state"))
    if heard == [concept("name")]:
        heard.append(concept("fullname"))
    if words == ["user"]:
        heard.append(concept("username"))
    if "why" in words:
        heard.append(concept("reason"))
    if _TO_PAY.search(joined):
        heard.append(concept("amount"))
    return heard


def _tells_apart(word: str) -> bool:
    """Whether a word says which of several it is, and not what."""
    return word in _OLD_WORDS or word in _NEW_WORDS or word in ORDINALS


def _lacks_noun(words: list[str]) -> bool:
    """Whether a part is but the beginning of "your old and your new address"."""
    heard = [word for word in words if word not in FILLING or word in ORDINALS]
    return bool(heard) and all(map(_tells_apart, heard))


def _is_new(words: list[str]) -> bool:
    """Whether what is to be is asked for."""
    return bool(_NEW_WORDS & set(words)) or _BECOMES.search(" ".join(words)) is not None


def _of_one_time(found: Sequence[Topic], words: list[str]) -> Sequence[Topic]:
    """The facts without those that are to be where what is is asked for, and the other way round."""
    old = bool(_OLD_WORDS & set(words))
    new = _is_new(words)
    if old == new:
        return found
    if old:
        return [topic for topic in found if _NEW not in topic.base]
    twice = {word for topic in found if _NEW in topic.base for word in topic.base} - {_NEW}
    return [topic for topic in found if _NEW in topic.base or not topic.base & twice]


def _open(words: Sequence[str]) -> bool:
    return bool({"what", "which"} & set(words))


def _of_another_kind(topic: Topic, words: list[str], heard: list[str], own: set[str]) -> bool:
    """Whether the noun that a question is for is none of the topic's, which has but a word beside it."""
    related = topic.base | topic.more
    if heard and heard[-1] in _ASKED_OF and heard[-1] not in related and topic.head not in own:
        return True
    if len(own) != 1 or topic.ordinals & ordinals(words):
        return False
    if topic.head in own and not (own == {_SAY} and "which" in words):
        return False
    if own != {_SAY}:
        related = related | set(content(tokens(spoken_words(topic.value))))
    for before, word in pairwise(words):
        if before in ("which", "what") and word not in FILLING and concept(word) not in related:
            return not (related - {_SAY}) & set(heard[1:2])
    return False


def _fits(topic: Topic, words: list[str]) -> bool:
    """Whether a value can be the answer to such a question."""
    joined = " ".join(words)
    where = concept("where")
    if "how much" in joined or "how many" in joined:
        return isinstance(topic.value, _NUMBERS) and not isinstance(topic.value, bool)
    if re.search(r"\bhow (?:long|often|far|old|soon|big)\b", joined):
        return "long" in topic.base
    if "when" in words or "why" in words:
        return isinstance(topic.value, date) or bool({"when", "why", concept("reason")} & topic.base)
    if "where" in words:
        return where in topic.base | topic.more
    return True


def _offered(topic: Topic, sentence: str) -> bool:
    """Whether a question offers the choice between values, of which one may be that of the fact."""
    if not sentence.rstrip().endswith("?") or " or " not in sentence.casefold():
        return False
    text = sentence.casefold()
    offered = [value for value in topic.values if re.search(rf"\b{re.escape(value)}\b", text)]
    if len(offered) > 1:
        return True
    value = spoken(topic.value).casefold()
    offered_too = re.escape(value)
    beside = re.search(rf"\bor (?:the |an? )?{offered_too}\b|\b{offered_too}(?: \w+)? or\b", text)
    return beside is not None and isinstance(topic.value, str)
