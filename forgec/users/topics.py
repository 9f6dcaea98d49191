"""The facts of a briefing as they can be asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from forgec.users.glossary import Glossary
from forgec.users.questions import sentences
from forgec.users.wording import FILLING, ORDINALS, concept, content, tokens
from forgec_runtime import Briefing, Known
from forgec_runtime.says import said


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
    owners: frozenset[str]
    """Those of the tables that have such a column."""
    values: frozenset[str]
    """What such a parameter may be."""
    near: frozenset[str]
    """Those of the sentences of the intent that say its value."""
    ordinals: frozenset[int]
    value: Any
    opens: str
    """The question word that it is described with."""
    wanted: bool
    """Whether it is described as what the user wants."""


def topics(briefing: Briefing, words: Glossary) -> list[Topic]:
    """Those of the facts that have a value."""
    facts = [fact for fact in briefing.facts if fact.value is not None]
    series = [_series(fact.name) for fact in facts]
    own = [_described(fact) for fact in facts]
    found = []
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
        owners = frozenset[str]().union(*(words.owners.get(name, ()) for name in known))
        mates = [mate for (other, _), mate in zip(series, facts, strict=True) if stem_ and other == stem_]
        heads = (_head(mate) for mate in (fact, *mates))
        head = next(filter(None, heads), "")
        near, wanted = _near(fact, briefing) - base, _wanted(fact)
        more -= base
        found.append(Topic(fact.name, base, head, more, owners, values, near, numbered, fact.value, opens, wanted))
    return found


def _wanted(fact: Known) -> bool:
    words = set(tokens(fact.doc))
    return "you" in words and bool(words & {"want", "like", "wish"} or {"are", "after"} <= words)


def _head(fact: Known) -> str:
    return next(iter(content(tokens(fact.doc or fact.name))), "")


def _known_as(name: str, words: Glossary) -> list[str]:
    """The parameters and columns that a fact is named after."""
    parts = name.split("_")
    names = {name, parts[0], parts[-1], f"{name}_name", f"{name}_id"}
    return sorted(names & (words.words.keys() | words.values.keys() | words.owners.keys()))


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
    base |= {concept(word) for word in described if word in ("where", "whose", "who", "done", "other", "state")}
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


def ordinals(words: Sequence[str]) -> frozenset[int]:
    """The places in a list that are named: of "the second ticket", 2."""
    found = set()
    for i, word in enumerate(words):
        if word in ORDINALS and (
            len(words) <= 3 if i == 0 else words[i - 1] in ("the", "your", "and", "of", "a", "for")
        ):  # fmt: skip
            found.add(ORDINALS[word])
    return frozenset(found)
