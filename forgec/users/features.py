"""What in a part of a message speaks for it that something is asked for, and that it is a certain fact.

Each is a name and a number; `reading` weighs them. They are the words of the part, of its sentence and of those before,
and how far they are those of the fact: of its name and description, and of what the user was told about it. Names of
facts and words of a domain stand in features only where messages were learned from, so that all else holds for others,
too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from forgec.users.topics import Topic
from forgec.users.values import said
from forgec.users.wording import FILLING, ORDINALS, concept, sentences, stem, tokens

MAX_PARTS = 60
"""How many parts at the end of a message are read."""

_PART = re.compile(
    r"\s*(?:[,;:()\u2013\u2014]|\s-\s|"
    r"\b(?=(?:and|or|but|so|because|then|if|as well as|plus|along with)\b))\s*",
    re.IGNORECASE,
)
_OWNED = re.compile(r"\b(your|my|our|his|her|their|[\w-]+'s)\s+((?:[\w-]+\s*){1,3})", re.IGNORECASE)
_NOBODY = frozenset(("what", "who", "where", "when", "how", "why", "that", "it", "there", "here", "let", "he", "she"))
"""What stands before an `'s` that means `is`, or `us`."""
_OF = re.compile(r"\bof (your|my|our|his|her|their|the|an?)\s+([\w-]+)", re.IGNORECASE)
_ITEM = re.compile(r"\s*(?:[-*\u2022]|\d+[.)])")
_QUESTION_WORDS = frozenset(("who", "whose", "whom", "where", "when", "why", "how", "what", "which"))
_RIVALRY = (
    "near sentence", "near part", "named sentence", "named part", "own sentence", "own part", "covered sentence",
    "covered part", "place sentence",
)  # fmt: skip
"""The numbers by which facts are compared with each other."""


@dataclass(frozen=True)
class Span:
    """A stretch of a message."""

    text: str
    plain: tuple[str, ...]
    """Its words."""
    words: tuple[str, ...]
    """Their stems."""
    concepts: frozenset[str]
    """The concepts of those that carry a meaning."""
    places: frozenset[int]
    """The ordinals among them."""
    owned: tuple[tuple[str, frozenset[str]], ...]
    """Whose something is, and the concepts of what it is: of "your order number", your."""
    of: tuple[tuple[str, str], ...]
    """What something is of: of "the number of your order", your order."""


@dataclass(frozen=True)
class Part:
    """A part of a sentence, between commas and conjunctions, and where it stands."""

    own: Span
    sentence: Span
    earlier: Span | None
    """The sentence before."""
    beside: tuple[str, ...]
    """The words of the part before, in the same sentence."""
    last: bool
    """Whether it ends its sentence."""
    closing: bool
    """Whether its sentence is the last one."""

    @property
    def question(self) -> bool:
        return self.sentence.text.endswith("?")


def parts(message: str) -> list[Part]:
    """The parts of a message that have words, the last `MAX_PARTS`."""
    spans = [(_span(one), [_span(part) for part in _PART.split(one)]) for one in sentences(message)]
    spans = [(sentence, [part for part in some if part.words]) for sentence, some in spans]
    spans = [(sentence, some) for sentence, some in spans if some]
    found = []
    for place, (sentence, some) in enumerate(spans):
        for index, part in enumerate(some):
            found.append(
                Part(
                    own=part,
                    sentence=sentence,
                    earlier=spans[place - 1][0] if place else None,
                    beside=some[index - 1].words if index else (),
                    last=index == len(some) - 1,
                    closing=place == len(spans) - 1,
                )
            )
    return found[-MAX_PARTS:]


def _span(text: str) -> Span:
    words = tokens(text)
    return Span(
        text.strip(),
        tuple(words),
        tuple(stem(word) for word in words),
        frozenset(concept(word) for word in words if word not in FILLING),
        frozenset(ORDINALS[word] for word in words if word in ORDINALS),
        tuple(
            (owner.casefold(), frozenset(map(concept, tokens(thing))))
            for owner, thing in _OWNED.findall(text)
            if owner.casefold().removesuffix("'s") not in _NOBODY
        ),
        tuple((owner.casefold(), concept(thing.casefold())) for owner, thing in _OF.findall(text)),
    )


def asking(part: Part) -> list[str]:
    """What speaks for it that a part asks to be told something, whatever it is; each counts once."""
    own, whole = part.own.words, part.sentence.words
    ends = "?" if part.question else "."
    found = {f"word {word}" for word in own} | {f"pair {pair}" for pair in _pairs(own)}
    found |= {f"sentence {word}" for word in whole} | {f"sentence pair {pair}" for pair in _pairs(whole)}
    found |= {f"beside {word}" for word in part.beside}
    found |= {f"earlier {word}" for word in part.earlier.words} if part.earlier else set()
    found |= {f"begins {own[0]}", f"begins {' '.join(own[:2])}", f"begins {own[0]} {ends}"}
    found |= {f"opens {whole[0]}", f"opens {' '.join(whole[:2])}", f"opens {' '.join(whole[:2])} {ends}"}
    found |= {f"ends {ends}", f"last {part.last}", f"closing {part.closing}", f"length {min(len(own), 8)}"}
    if _ITEM.match(part.sentence.text):
        found.add("item")
    if part.sentence.text.endswith(":"):
        found.add("opens a list")
    if part.earlier and part.earlier.text.endswith(":"):
        found.add("listed")
    return sorted(found)


def _pairs(words: Sequence[str]) -> Iterable[str]:
    return (f"{one} {other}" for one, other in zip(("^", *words), (*words, "$"), strict=True))


def meaning(part: Part, message: str, topics: Sequence[Topic], common: Counter[str]) -> list[dict[str, float]]:
    """What speaks for it that a part means a fact, for each of `topics`; `common` counts their concepts."""
    found = [_meaning(part, message, topic, len(topics), common) for topic in topics]
    places = {topic.name: place for place, topic in enumerate(topics)}
    for name in _RIVALRY:
        numbers = [one.get(name, 0.0) for one in found]
        for place, topic in enumerate(topics):
            rest = max((number for other, number in enumerate(numbers) if other != place), default=0.0)
            rivals = [numbers[places[rival]] for rival in topic.rivals if rival in places]
            _compare(found[place], "all", name, numbers[place], rest)
            if rivals:
                _compare(found[place], "rivals", name, numbers[place], max(rivals))
    return found


def _compare(found: dict[str, float], among: str, name: str, own: float, other: float) -> None:
    if own != other:
        found[f"{'more' if own > other else 'less'} than {among}: {name}"] = 1.0


def _meaning(part: Part, message: str, topic: Topic, count: int, common: Counter[str]) -> dict[str, float]:
    found = {"any": 1.0, "facts": count / 8, f"type {topic.type}": 1.0, f"time {topic.time}": 1.0,
             f"described {topic.opening}": 1.0}  # fmt: skip
    spans = [("part", part.own), ("sentence", part.sentence)]
    for where, span in [*spans, ("earlier", part.earlier)] if part.earlier else spans:
        named = span.concepts & topic.base
        others = span.concepts & topic.others
        for what, words in (("named", named), ("near", span.concepts & topic.near), ("others", others)):
            if words:
                found[f"{what} {where}?"] = 1.0
                found[f"{what} {where}"] = min(len(words), 4) / 2
        if named:
            found[f"own {where}"] = min(sum(1 / common[word] for word in sorted(named)), 3.0)
            found[f"covered {where}"] = len(named) / len(topic.base)
        if topic.head in span.concepts:
            found[f"head {where}"] = 1.0
    unknown = part.own.concepts - topic.base - topic.near - topic.values
    found["unknown"] = min(len(unknown), 5) / 5
    for where, span in spans:
        if span.places:
            said_so = "place" if span.places & topic.places else "other place" if topic.places else "no place"
            found[f"{said_so} {where}"] = 1.0
    if topic.places:
        found[f"is {min(topic.places)}"] = 1.0
    if said(topic.value, [message]):
        within = [where for where, span in spans if said(topic.value, [span.text])]
        found |= {f"told {where}": 1.0 for where in within or ("elsewhere",)}
    if topic.rivals:
        found["has rivals"] = 1.0
    for word in set(part.own.words):
        found[f"{topic.time}: {word}"] = 1.0
        for base in topic.base:
            found[f"{base}: {word}"] = 1.0
    _questioned(found, part, topic)
    _owned(found, part.own, topic)
    for base in topic.base:
        found[f"base {base}"] = 1.0
    return found


def _questioned(found: dict[str, float], part: Part, topic: Topic) -> None:
    """Question words, and whether what stands behind one is of the fact."""
    words = part.own.plain
    for place, word in enumerate(words):
        if word in _QUESTION_WORDS:
            found[f"{word} for {topic.type}"] = 1.0
            found[f"{word} for {topic.opening}..."] = 1.0
            noun = next((concept(one) for one in words[place + 1 :] if one not in FILLING), "")
            whose = (
                "nothing" if not noun
                else "its own" if noun in topic.base
                else "another's" if noun in topic.others
                else "near" if noun in topic.near
                else "unknown"
            )  # fmt: skip
            found[f"{'what' if word == 'which' else word} + {whose}"] = 1.0


def _owned(found: dict[str, float], span: Span, topic: Topic) -> None:
    """Whose it is: "your number" and "the number of your order" are the user's, "the courier's number" is not."""
    for owner, thing in span.owned:
        if topic.base & thing:
            noun = owner.removesuffix("'s")
            known = concept(noun) in topic.base | topic.near | topic.values
            found[f"owned by {noun if noun == owner else 'what is known' if known else 'another'}"] = 1.0
    for owner, noun in span.of:
        found[f"of {owner} {'known' if noun in topic.base or noun in topic.near else 'unknown'}"] = 1.0
    for before, word in pairwise(span.plain):
        if before not in FILLING and concept(word) in topic.base:
            known = concept(before) in topic.base or concept(before) in topic.near
            found["known before" if known else "unknown before"] = 1.0
