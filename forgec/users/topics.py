"""The facts of a briefing as they can be asked for: by what they are called, and by what is said of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from forgec.users.values import said
from forgec.users.wording import ORDINALS, meanings, plain_words, sentences, tokens
from forgec_runtime import Briefing, Known

_PLACE = re.compile(r"_?(\d+)$|_[a-z]$")
"""The end of a name by which it differs from others of its kind: `order_id_2`, `n3`, `ramp_a`."""
_TIME = re.compile(r"^(?:new|old|current)_")


@dataclass(frozen=True, eq=False)
class Topic:
    """A fact as it can be asked for."""

    name: str
    value: Any
    base: frozenset[str]
    """The concepts of its name and its description."""
    head: str
    """The last of its name."""
    near: frozenset[str]
    """The other concepts of the sentences of intent and requests that say its value."""
    others: frozenset[str]
    """Those of the names and descriptions of all other facts."""
    values: frozenset[str]
    """Those of its value."""
    places: frozenset[int]
    """Which one it is of its kind, counted from 1, where there are several."""
    time: str
    """Whether it is to be, and whether another fact is to be that is called so: `new`, `plain`, `plain/new`."""
    doc: tuple[str, ...]
    """The words of its description."""
    opening: str
    """The first word of its description: of `how many nights you stay`, how."""
    type: str
    """What its value is: `bool`, `number`, `text` or `date`."""
    rivals: tuple[str, ...]
    """The names of the other facts of its kind, and of those that are described as it is."""


def topics(briefing: Briefing) -> list[Topic]:
    """Those of the facts that have a value."""
    facts = [fact for fact in briefing.facts if fact.value is not None]
    told = [briefing.intent, *(request.text for request in briefing.requests)]
    texts = [one for text in told for one in sentences(" ".join(text.split()))]
    named = {fact.name: frozenset(meanings(f"{_words(fact.name)} {fact.doc}")) for fact in facts}
    kinds = {fact.name: kind(fact.name) for fact in facts}
    places = {fact.name: _places(fact) for fact in facts}
    new = {fact.name for fact in facts if "new" in tokens(f"{_words(fact.name)} {fact.doc}")}
    heads = {fact.name: next(reversed(meanings(_words(fact.name))), "") for fact in facts}
    found = []
    for fact in facts:
        rivals = tuple(
            other.name for other in facts
            if other is not fact and (kinds[other.name] == kinds[fact.name] or (fact.doc and other.doc == fact.doc))
        )  # fmt: skip
        first = not places[fact.name] and any(places[other] - {1} for other in rivals)
        changes = any(other in new for other in heads if other != fact.name and heads[other] == heads[fact.name])
        base = named[fact.name]
        near = {word for text in texts if said(fact.value, [text]) for word in meanings(text)}
        found.append(
            Topic(
                name=fact.name,
                value=fact.value,
                base=base,
                head=heads[fact.name],
                near=frozenset(near) - base,
                others=frozenset[str]().union(*(named[other] for other in named if other != fact.name)) - base,
                values=frozenset(meanings(fact.value)) if isinstance(fact.value, str) else frozenset(),
                places=frozenset({1}) if first else places[fact.name],
                time=("new" if fact.name in new else "plain") + ("/new" if changes else ""),
                doc=plain_words(fact.doc),
                opening=next(iter(tokens(fact.doc)), ""),
                type=_type(fact.value),
                rivals=rivals,
            )
        )
    return found


def shared(among: Sequence[Topic]) -> Counter[str]:
    """How many facts each concept of their names and descriptions has."""
    return Counter(word for topic in among for word in topic.base)


def kind(name: str) -> str:
    """What a fact is named after: of `new_email_2`, email."""
    return _TIME.sub("", _bare(name))


def _bare(name: str) -> str:
    return _PLACE.sub("", name)


def _words(name: str) -> str:
    return _bare(name).replace("_", " ")


def _places(fact: Known) -> frozenset[int]:
    numbered = _PLACE.search(fact.name)
    place = {int(numbered[1])} if numbered and numbered[1] else set[int]()
    return frozenset(place | {ORDINALS[word] for word in tokens(fact.doc) if word in ORDINALS})


def _type(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float, Decimal)):
        return "number"
    return "text" if isinstance(value, str) else "date"
