"""The facts of a briefing as they can be asked for."""

from __future__ import annotations

import calendar
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from forgec.users.glossary import Glossary
from forgec.users.phrases import phrase
from forgec.users.questions import sentences
from forgec.users.values import said, spoken
from forgec.users.wording import FILLING, ORDINALS, concept, content, meanings, plain_words, tokens
from forgec_runtime import Briefing, Known

NUMBER, NAME, FULL_NAME, ADDRESS, EMAIL = (concept(word) for word in ("number", "name", "fullname", "address", "email"))
USER, USERNAME, AUTHOR = (concept(word) for word in ("user", "username", "author"))
TITLE, DESCRIPTION = concept("title"), concept("description")
FIRST, LAST = concept("firstname"), concept("lastname")
NEW, MONTH = concept("new"), concept("month")
IDENTIFYING = frozenset({NUMBER, NAME, TITLE})
"""What tells which one something is: whoever asks which ticket asks for its number."""
POSTAL = frozenset(map(concept, ("street", "city", "town", "state", "country", "zip", "address1", "address2")))


@dataclass(frozen=True, eq=False)
class Topic:
    """A fact as it can be asked for."""

    name: str
    value: Any
    doc: tuple[str, ...]
    """The words in which the user knows it."""
    base: frozenset[str]
    """The concepts of its name and of what it is to the user."""
    heads: frozenset[str]
    """Nouns that ask for it when they stand for themselves."""
    verbs: frozenset[str]
    """Verbs that ask for it: "how do you pay"."""
    told: frozenset[str]
    """What else it is described with: of "the novel you waited for", waiting."""
    opens: str
    """The question word that it is described with."""
    ordinals: frozenset[int]
    more: frozenset[str]
    """What the environment says of a parameter or column of its name, and of the tables that have it."""
    values: frozenset[str]
    """What such a parameter may be."""
    objects: frozenset[str]
    """What the tools that take such a parameter are for: of `lend_book`, book."""
    uses: frozenset[str]
    """What these tools do."""
    near: frozenset[str]
    """The words of the sentences of intent and requests that say its value."""
    told_in: frozenset[int]
    """The places of these sentences among all."""
    fallback: bool
    """Whether such a sentence says what is to be done when something else is not possible."""
    wanted: bool
    """Whether it is described as what the user wants."""

    known: frozenset[str]
    """All of these, and the words of its value: what may be said of it."""
    tried: bool
    """Whether it is described as what the user gives first, before it gives what is right."""

    @property
    def is_new(self) -> bool:
        return NEW in self.base and not self.tried

    @property
    def is_number(self) -> bool:
        return isinstance(self.value, (int, float, Decimal)) and not isinstance(self.value, bool)


def topics(briefing: Briefing, words: Glossary) -> list[Topic]:
    """Those of the facts that have a value."""
    facts = [fact for fact in briefing.facts if fact.value is not None]
    series = [_series(fact.name) for fact in facts]
    postal = sum(bool(meanings(fact.name.replace("_", " ")) and _base(fact) & POSTAL) for fact in facts) > 1
    found = []
    for (stem_, tail), fact in zip(series, facts, strict=True):
        mates = [mate for (other, _), mate in zip(series, facts, strict=True) if stem_ and other == stem_]
        ends = [mate for (_, other), mate in zip(series, facts, strict=True) if tail and other == tail]
        found.append(_topic(fact, mates, ends, briefing, words, postal))
    return found


def _topic(
    fact: Known, mates: Sequence[Known], ends: Sequence[Known], briefing: Briefing, words: Glossary, postal: bool
) -> Topic:
    doc = phrase(_TIME.sub("", fact.doc))
    named = _known_as(fact.name, words)
    base = _base(fact).union(*map(_base, mates))
    numbered = (
        phrase(fact.doc).ordinals
        or _counted(fact.name, [one.name for one in briefing.facts])
        or frozenset[int]().union(*(phrase(end.doc).ordinals for end in ends))
    )
    objects = frozenset[str]().union(*(words.objects.get(name, ()) for name in named))
    told = meanings(" ".join([briefing.intent, *(request.text for request in briefing.requests)]))
    heads = frozenset[str]().union(
        *(_heads(one, words, words.things.intersection(told), bool(mates)) for one in (fact, *mates))
    )
    if EMAIL in heads and not postal:
        heads |= {ADDRESS}
    if USERNAME in base:
        heads |= {USERNAME, USER}
    if heads & {NAME, FULL_NAME, USERNAME}:
        heads |= {NAME, FULL_NAME}
        users = any(USER in words.owners.get(name, ()) for name in named)
        heads |= {USERNAME} if users else set()
    near, told_in, fallback = _near(fact, briefing)
    more = frozenset[str]().union(*(words.words.get(n, frozenset()) | words.owners.get(n, frozenset()) for n in named))
    values = frozenset[str]().union(*(words.values.get(name, ()) for name in named))
    uses = frozenset[str]().union(*(words.uses.get(name, ()) for name in named))
    verbs = frozenset(doc.rest) if doc.wh and not doc.nouns else frozenset[str]()
    value = meanings(spoken(fact.value)) if isinstance(fact.value, str) else ()
    return Topic(
        name=fact.name, value=fact.value, doc=plain_words(fact.doc or fact.name), base=base, heads=heads,
        verbs=verbs | heads, told=frozenset(doc.rest), opens=doc.wh, ordinals=numbered, more=more - base, values=values,
        objects=objects, uses=uses, near=near - base, told_in=told_in, fallback=fallback, wanted=_wanted(fact),
        known=base | more | heads | objects | near | set(value), tried=_TRIED.search(fact.doc) is not None,
    )  # fmt: skip


def _base(fact: Known) -> frozenset[str]:
    """The concepts that a fact is described with."""
    name = _bare(fact.name)
    if not fact.doc and name in ("first", "last"):
        name = f"{name}_name"
    described = tokens(fact.doc)
    named = [word for word in tokens(name.replace("_", " ")) if word not in ORDINALS and word not in FILLING]
    base = {concept(word) for word in named if len(word) > 1} | set(content(described))
    return frozenset(base | {concept(word) for word in described if word in ("where", "whose", "who", "done", "state")})


def _heads(fact: Known, words: Glossary, things: frozenset[str], in_series: bool) -> frozenset[str]:
    doc = phrase(_TIME.sub("", fact.doc))
    name = _bare(fact.name)
    if not fact.doc and name in ("first", "last"):
        name = f"{name}_name"
    parts = [part for part in tokens(name.replace("_", " ")) if part not in FILLING | {"new", "id"} and len(part) > 1]
    heads = {concept(part) for part in parts} if len(parts) == 1 or not fact.doc else set[str]()
    if doc.nouns:
        heads -= set(doc.rest)
    if name.endswith("_id") and parts:
        heads |= {concept(parts[-1])} if doc.nouns else {concept(parts[-1]), NUMBER}
    heads |= _columns_of(fact, words)
    if fact.value in calendar.month_name:
        heads.add(MONTH)
    whole_number = isinstance(fact.value, int) and not isinstance(fact.value, bool)
    if doc.wh == "whose":
        heads.add(AUTHOR)
    elif doc.wh in ("what", "how") and doc.rest and not doc.direct:
        heads.update(doc.rest)
    elif doc.wh == "what" and _wanted(fact):
        heads |= {TITLE, doc.head, *words.things}
    elif doc.head:
        heads.add(doc.head)
        if doc.head == NUMBER and len(doc.nouns) > 1:
            heads.add(doc.nouns[-2])
        if doc.head in IDENTIFYING:
            heads.update({*doc.of[:1]} & (words.things | words.subjects))
        elif doc.head == concept("what"):
            heads.update(doc.of[:1])
        if doc.head == TITLE and doc.of:
            heads |= words.owners.get(name, frozenset())
    if whole_number and (not doc.nouns or doc.nouns == (NUMBER,) or in_series):
        heads |= {NUMBER, *things}
    elif whole_number and heads & things:
        heads.add(NUMBER)
    return frozenset(heads - {""})


def _columns_of(fact: Known, words: Glossary) -> frozenset[str]:
    """The nouns of the parameters and columns that may have its value and few others."""
    if not isinstance(fact.value, str):
        return frozenset()
    value = fact.value.casefold()
    named = (tokens(name.replace("_", " ")) for name, some in words.values.items() if value in some)
    return frozenset(concept(parts[-1]) for parts in named if parts)


def _counted(name: str, names: Sequence[str]) -> frozenset[int]:
    """The place of a fact among those named alike: of `order_id_2`, 2."""
    found = re.fullmatch(r"[a-z_]+_([0-9]+)", name)
    if found:
        return frozenset({int(found[1])})
    return frozenset({1}) if f"{name}_2" in names or f"{name}_3" in names else frozenset()


def _wanted(fact: Known) -> bool:
    words = set(tokens(fact.doc))
    return "you" in words and bool(words & {"want", "like", "wish"} or {"are", "after"} <= words)


def _known_as(name: str, words: Glossary) -> list[str]:
    """The parameters and columns that a fact is named after."""
    stem_ = _bare(name)
    bare = stem_.removeprefix("new_")
    parts = stem_.split("_")
    names = {stem_, bare, parts[0], parts[-1], f"{bare}_name", f"{bare}_id"}
    return sorted(names & (words.words.keys() | words.values.keys() | words.owners.keys()))


def _series(name: str) -> tuple[str, str]:
    """What facts such as `ramp_a` or `n2`, which share a description, have in common, and their end."""
    found = re.fullmatch(r"([a-z_]+?)(?:_([a-z])|(?<!_)([0-9]+))", name)
    return (found[1], found[2] or found[3]) if found else ("", "")


def _bare(name: str) -> str:
    """A name without its end: of `order_id_2`, `order_id`."""
    return _series(name)[0] or re.sub(r"_[0-9]+$", "", name)


_TIME = re.compile(r", the \w+ time$")
_TRIED = re.compile(r"\byou (?:give|try|say) first\b")
_FALLBACK = re.compile(r"(?<=[.)']) (?=If (?:that|it)\b|When (?:that|it)\b)")


def _near(fact: Known, briefing: Briefing) -> tuple[frozenset[str], frozenset[int], bool]:
    """The words of the texts that say its value, the places of these texts, and whether they are for when something
    else is not possible.
    """
    near: set[str] = set()
    places: set[int] = set()
    fallback = False
    texts = [(sentence, False) for sentence in sentences(" ".join(briefing.intent.split()))]
    for request in briefing.requests:
        texts += [(one, place > 0) for place, one in enumerate(_FALLBACK.split(" ".join(request.text.split())))]
    for place, (text, otherwise) in enumerate(texts):
        if said(fact.value, [text]):
            places.add(place)
            near.update(meanings(text))
            fallback = fallback or otherwise
    return frozenset(near), frozenset(places), fallback
