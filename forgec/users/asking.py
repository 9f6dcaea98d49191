"""What does a message ask for? Its questions and requests, and the facts that they mean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import pairwise
from typing import Any

from forgec.users.glossary import Glossary
from forgec.users.wording import FILLING, ORDINALS, concept, content, tokens
from forgec_runtime import Briefing, Known
from forgec_runtime.says import said, spoken

MAX_TEXT = 5_000
"""How many characters at the end of a message are read."""
ENOUGH = 0.9
"""The least score of a fact that is asked for."""

_SENTENCE = re.compile(r"[^.!?\n]*(?:\.(?=\w)[^.!?\n]*)*[.!?]*\n?")
_ABBREVIATED = re.compile(r"\b(?:i\.e\.|e\.g\.|etc\.)", re.IGNORECASE)
_WH = r"(?:what|which|whose|who|whom|where|when|how|why)(?:'s|\u2019s)?"
_GIVE = (
    r"(?:provide|give|tell|share|send|enter|type|state|confirm|specify|supply|let me (?:know|have)|list|name|sign in|"
    r"log in|login|say|describe|indicate|clarify|reply|spell|include|verify)"
)
_WANTS = re.compile(
    rf"\bplease(?: \w+ly)? {_GIVE}\b|\b{_GIVE}\b.*\bplease\b|^\W*(?:and |now |then |just |first |so |\w+, )*{_GIVE}\b"
    rf"|\b(?:can|could|would|will) (?:you|i|we) (?:please |kindly |also |just |perhaps |possibly )*"
    rf"(?:{_GIVE}|have|get|ask|see|know|mind)\b"
    r"|\b(?:may|might) (?:i|we) (?:please |kindly |also |just )*(?:have|get|ask|know|see)\b"
    rf"|\b(?:i|we|i'll|i'd|we'll)(?: will| would| do| just| also| only| first| still|'ll|'d)* "
    rf"(?:need|require|(?:have to|need to|must|want to) know)\b|\b{_GIVE} me\b"
    r"|\bdo you (?:know|have|remember|recall)\b|\blet me know\b|\bby (?:giving|telling|providing|sharing)\b"
    r"|\bplease ?:|\bdetails?,? please\b|\bplease,? (?:your|the)\b",
    re.IGNORECASE,
)
_YES_OR_NO = re.compile(
    r"^\W*(?:(?:and|so|now|then|just to confirm|okay|ok|great|thanks|sure|otherwise|alternatively)\W+)*"
    r"(?:do|does|did|is|are|was|were|shall|should|would|will|can|could|may|might|have|has|am|must)(?:n't|n\u2019t)? ",
    re.IGNORECASE,
)
_HOLDS = re.compile(rf"\b{_WH}\b", re.IGNORECASE)
_PURPOSE = re.compile(
    r"\b(?:so (?:that )?(?:i|we)\b|in order to|(?:to|and) (?:verify|look|locate|find|get started|sign you|log you|"
    r"authenticate|identify|proceed|pull|access|help|clear|go on|continue|confirm that)\b|before (?:i|we)\b|because\b|"
    r"since\b|while i\b|when i\b|and i(?:'ll| will| can)\b)",
    re.IGNORECASE,
)
_PARTS = re.compile(
    r"([,;:()/]|\band\b|\bor\b|\bas well as\b|\balong with\b|\btogether with\b|\bplus\b|\s[-\u2013\u2014]\s)", re.I
)
_SAME_AGAIN = re.compile(r"\s*(?:the ones?|that is|namely|meaning)\b", re.IGNORECASE)
"""What begins a part that says the one before it again, more closely."""
_BOTH_NAMES = re.compile(r"\bfirst and (?:the |your )?last names?\b", re.IGNORECASE)
_OTHERS = re.compile(r"\b(?:his|her|their)\b(?! (?:numbers?|titles?|names?)\b)", re.IGNORECASE)
"""What is asked about is somebody else's; not "the tickets and their numbers"."""
_OF_THE = re.compile(r"\b(?:number|code|date|address) of (?:the|this|that) (\w+)", re.IGNORECASE)
_ASKED_OF = {concept(word) for word in ("name", "date", "address")}
"""What a question is for when they stand at its end: "your colleague's name"."""
_GENERIC = {concept(word) for word in ("number", "code", "date", "address")}
"""Heads that mean nothing without the word before them."""
_NUMBERS = (int, float, Decimal)


@dataclass(frozen=True)
class Topic:
    """A fact as it can be asked for."""

    name: str
    base: frozenset[str]
    """The concepts of its name and of what it is to the user."""
    head: str
    """The first of those of what it is to the user."""
    more: frozenset[str]
    """Those of what the environment says of a parameter or column of its name."""
    values: frozenset[str]
    """What such a parameter may be."""
    near: frozenset[str]
    """Those of the sentences of the intent that say its value."""
    ordinals: frozenset[int]
    value: Any
    opens: str
    """The question word that it is described with."""


class Asking:
    """Finds the facts that messages ask for, among those of one briefing."""

    def __init__(self, briefing: Briefing, words: Glossary) -> None:
        self.topics = _topics(briefing, words)
        texts = [briefing.intent, *(one.text for one in briefing.requests), *(fact.doc for fact in briefing.facts)]
        self.subjects = words.subjects.union(*(content(tokens(text)) for text in texts))

    def asked(self, text: str) -> tuple[str, ...]:
        """The names of the facts that a message asks for, in the order of the briefing."""
        found: set[str] = set()
        for sentence in sentences(text):
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
        chosen, before = list[Topic](), list[Topic]()
        pieces = ["", *_PARTS.split(body)]
        for joint, part in zip(pieces[::2], pieces[1::2], strict=True):
            words = tokens(part)
            found = self._part(words)
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
        yield from (topic.name for topic in chosen)

    def _part(self, words: list[str]) -> list[Topic]:
        """The facts that a part of a question means: those with the best score, if it is good enough."""
        heard, numbered = content(words), ordinals(words)
        scored = [(self._score(topic, words, heard, numbered), topic) for topic in self.topics]
        best = max((score for score, _ in scored), default=0.0)
        if best < ENOUGH:
            near = [topic for topic in self.topics if len(topic.near & set(heard)) >= 2 and _fits(topic, words)]
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
        if own and own <= _GENERIC and self._other_kind(topic, words, heard):
            return 0.0
        if _of_another_kind(topic, words, heard, own):
            return 0.0
        score = len(own) + 0.5 * len(own) / max(len(topic.base), 1)
        score += 0.6 * min(len((said_words & topic.more) - own), 2)
        score += 0.4 if any(concept(word) in said_words for word in tokens(spoken_words(topic.value))) else 0.0
        score += 0.5 if topic.opens and topic.opens in words else 0.0
        score += 0.5 if heard and heard[0] in topic.base and _open(words) else 0.0  # the head: "which note"
        if topic.ordinals & numbered:
            score += 0.9
        elif numbered and topic.ordinals and not own:
            return 0.0
        return score

    def _other_kind(self, topic: Topic, words: list[str], heard: list[str]) -> bool:
        """Whether a general word, such as number, stands behind one that this environment knows nothing of."""
        of = _OF_THE.search(" ".join(words))
        if of is not None and concept(of[1]) not in topic.base | topic.more:
            return True
        for i, word in enumerate(heard):
            if word in _GENERIC and i and heard[i - 1] not in topic.base | topic.more | self.subjects:
                return True
        return False


def sentences(text: str) -> list[str]:
    """The sentences of a message, without those that are empty."""
    plain = _ABBREVIATED.sub(" ", text[-MAX_TEXT:])
    return [found.strip() for found in _SENTENCE.findall(plain) if found.strip(" \n.!?-*")]


def wants_to_know(sentence: str) -> bool:
    """Whether a sentence asks for something to be told, and not for a yes or a no."""
    if _WANTS.search(sentence):
        return True
    if not sentence.rstrip().endswith("?"):
        return False
    if _YES_OR_NO.match(sentence):
        return False
    return _HOLDS.search(sentence) is not None or _fragment(sentence)


def asked_part(sentence: str) -> str:
    """The part of a question behind what it begins with and without what the answer is for."""
    starts = [found.start() for found in (_WANTS.search(sentence), _HOLDS.search(sentence)) if found]
    body = sentence[min(starts) :] if starts else sentence
    tail = _PURPOSE.search(body, 1)
    if tail is not None and content(tokens(body[: tail.start()])):
        body = body[: tail.start()]
    return body if content(tokens(body)) else sentence


def ordinals(words: Sequence[str]) -> frozenset[int]:
    """The places in a list that are named: of "the second ticket", 2."""
    found = set()
    for i, word in enumerate(words):
        if word in ORDINALS and (
            len(words) <= 3 if i == 0 else words[i - 1] in ("the", "your", "and", "of", "a", "for")
        ):  # fmt: skip
            found.add(ORDINALS[word])
    return frozenset(found)


def spoken_words(value: Any) -> str:
    """A text value as it is said; nothing for other values."""
    return value if isinstance(value, str) else ""


def _fragment(sentence: str) -> bool:
    """Whether a question is a bare noun: "And your password, please?" """
    words = tokens(sentence.rsplit(":")[-1])
    if len(words) > 9:
        return False
    if re.match(r"\W*(?:(?:and|also|next|now|finally)\W+)*(?:the|your)\b", sentence, re.IGNORECASE):
        return not {"is", "are", "was", "were", "correct", "right"} & set(words)
    return not {"you", "i", "we", "is", "are", "that", "anything", "something", "else", "correct", "right"} & set(words)


def _open(words: Sequence[str]) -> bool:
    return bool({"what", "which"} & set(words))


def _of_another_kind(topic: Topic, words: list[str], heard: list[str], own: set[str]) -> bool:
    """Whether the noun that a question is for is none of the topic's, which has but a word beside it."""
    related = topic.base | topic.more
    if heard and heard[-1] in _ASKED_OF and heard[-1] not in related and topic.head not in own:
        return True
    if len(own) != 1 or topic.head in own or topic.ordinals & ordinals(words):
        return False
    related = related | set(content(tokens(spoken_words(topic.value))))
    for before, word in pairwise(words):
        if before in ("which", "what") and word not in FILLING and concept(word) not in related:
            return not related & set(heard[1:2])
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
        return isinstance(topic.value, date) or bool({"when", "why"} & topic.base)
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
    beside = re.search(rf"(?:\bor {re.escape(value)}\b|\b{re.escape(value)} or\b)", text)
    return beside is not None and isinstance(topic.value, str)


def _topics(briefing: Briefing, words: Glossary) -> list[Topic]:
    facts = [fact for fact in briefing.facts if fact.value is not None]
    series = [_series(fact.name) for fact in facts]
    own = [_described(fact) for fact in facts]
    topics = []
    for (stem_, tail), fact, (base, numbered, opens) in zip(series, facts, own, strict=True):
        if stem_:
            bases = [b for (other, _), (b, _, _) in zip(series, own, strict=True) if other == stem_]
            base = frozenset().union(base, *bases)
        if tail and not numbered:
            numbered = frozenset().union(
                *(n for (_, other), (_, n, _) in zip(series, own, strict=True) if other == tail)
            )  # fmt: skip
        known = _known_as(fact.name, words)
        more = frozenset[str]().union(*(words.words.get(name, ()) for name in known))
        values = frozenset[str]().union(*(words.values.get(name, ()) for name in known))
        mates = [mate for (other, _), mate in zip(series, facts, strict=True) if stem_ and other == stem_]
        heads = (_head(mate) for mate in (fact, *mates))
        head = next(filter(None, heads), "")
        near = _near(fact, briefing) - base
        topics.append(Topic(fact.name, base, head, more - base, values, near, numbered, fact.value, opens))
    return topics


def _head(fact: Known) -> str:
    return next(iter(content(tokens(fact.doc or fact.name))), "")


def _known_as(name: str, words: Glossary) -> list[str]:
    """The parameters and columns that a fact is named after."""
    parts = name.split("_")
    names = {name, parts[0], parts[-1], f"{name}_name", f"{name}_id"}
    return sorted(names & (words.words.keys() | words.values.keys()))


def _series(name: str) -> tuple[str, str]:
    """What facts that differ in a number or a letter at their end have in common, and that end."""
    found = re.fullmatch(r"([a-z_]+?)_?([0-9]+|(?<=_)[a-z])", name)
    return (found[1], found[2]) if found else ("", "")


def _described(fact: Known) -> tuple[frozenset[str], frozenset[int], str]:
    """The concepts that a fact is described with, the places in a list, and the question word."""
    name, doc = _series(fact.name)[0] or fact.name, fact.doc
    if not doc and name in ("first", "last"):
        name = f"{name}_name"
    described = tokens(doc)
    named = [word for word in tokens(name.replace("_", " ")) if word not in ORDINALS and word not in FILLING]
    base = {concept(word) for word in named if len(word) > 1} | set(content(described))
    base |= {concept(word) for word in described if word in ("where", "whose", "who", "done", "other")}
    if base & {concept("firstname"), concept("lastname"), concept("name")}:
        base.add(concept("fullname"))
    opens = described[0] if described and described[0] in ("which", "who", "how") else ""
    return frozenset(base), ordinals(described), opens


def _near(fact: Known, briefing: Briefing) -> frozenset[str]:
    texts = [briefing.intent, *(request.text for request in briefing.requests)]
    return frozenset(
        word for text in texts for sentence in sentences(" ".join(text.split()))
        if said(fact.value, [sentence]) for word in content(tokens(sentence))
    )  # fmt: skip
