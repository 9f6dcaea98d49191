"""What does a message ask for? Its questions and requests, and the facts that they mean.

A message is cut into what it asks (`questions`), that into parts with a noun each (`phrases`), and the parts are
compared with the facts (`matching`). Here the parts are read together: "one" and "it" stand for what was named before,
of a group such as an address only those are taken that are listed behind it, and of facts that a part may mean equally
the one is chosen that the message is about (`choosing`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from forgec.users.choosing import Choice
from forgec.users.glossary import Glossary
from forgec.users.matching import ALIKE, NOTHING, STRONG, Match, Matcher, Meant
from forgec.users.phrases import ADJECTIVES, Phrase, mentioned, phrase
from forgec.users.questions import EXCEPT, PARTS, Question, may_ask, questions
from forgec.users.topics import NUMBER, Topic, topics
from forgec.users.values import said, spoken
from forgec.users.wording import concept, meanings, plain_words
from forgec_runtime import Briefing

MAX_PARTS = 40
"""How many parts of a question are read."""
MAX_MENTIONED = 12
"""How many of the things that were named last "it" may stand for."""

_BOTH_NAMES = re.compile(r"\bfirst (?:name )?and (?:the |your )?(?:last names?|surname|family name)\b", re.IGNORECASE)
_SOMEBODY = re.compile(r"\b(?:that|which) (?!I\b)([A-Z]\w+) (?:has|had|is|was|uses|used|gave)\b")
"""Who has what is asked about: "the address that Ann has given us"."""
_OTHERS = re.compile(r"\b(?:his|her|their)\b(?! (?:numbers?|titles?|names?)\b)", re.IGNORECASE)
"""What is asked about is somebody else's; not "the tickets and their numbers"."""
_AND_NUMBER = re.compile(r"\W*(?:what|which) number\W*", re.IGNORECASE)
_LISTING = frozenset("(:-\u2013\u2014")
"""What stands before the parts of something that are asked for: "your address (street and city)"."""
_ABOUT = re.compile(r"\W*(?:for|about|regarding|concerning|on) (?:the|your|that|this)\b", re.IGNORECASE)
_CHECKS = re.compile(r"\b(?:is (?:it|that|this)|correct|right)\b[^?]*\?", re.IGNORECASE)
"""How an agent asks whether what it says is so: "your name: is it Ann Lee?" """
_REST = re.compile(r"\b(?:rest|remaining|others?|missing|left)\b", re.IGNORECASE)
_FINAL = re.compile(r"\blast\b(?P<many> (?:two|three|four|five))?(?! time)", re.IGNORECASE)
_IT_MAY = frozenset(map(concept, ("say", "called", "titled", "spell", "read", "slowly", "carefully", "mean")))
"""What "it" may do in a question for what it stands for: "what should it say"."""
_WISHES = re.compile(r"\b(?:would you like|do you want|do you wish|should)\b", re.IGNORECASE)
_EITHER = re.compile(
    r"\b(?:on or off|off or on|yes or no|or not|(?:en|dis)abled or (?:en|dis)abled)\b|"
    r"\byes/no\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Reading:
    """What a message asks for. All names are those of facts."""

    asked: tuple[str, ...]
    """What it asks for without a doubt, in the order of the briefing."""
    thin: tuple[str, ...] = ()
    """What it seems to ask for besides, on evidence that is not enough to tell it."""
    unclear: tuple[tuple[str, ...], ...] = ()
    """Those of which one is asked for, and the message does not tell which."""

    def without(self, names: Collection[str]) -> Reading:
        """What is in doubt apart from what these facts answer."""
        thin = tuple(name for name in self.thin if name not in names)
        return replace(self, thin=thin, unclear=tuple(one for one in self.unclear if not set(one) & set(names)))


class Asking:
    """Finds the facts that messages ask for, among those of one briefing."""

    def __init__(self, briefing: Briefing, words: Glossary) -> None:
        self.briefing, self.words = briefing, words
        self._docs = {fact.name: fact.doc for fact in briefing.facts}
        self._read: dict[tuple[str, frozenset[str]], Reading] = {}

    @cached_property
    def topics(self) -> list[Topic]:
        return topics(self.briefing, self.words)

    @cached_property
    def matcher(self) -> Matcher:
        told = self.briefing
        texts = [told.intent, *(one.text for one in told.requests), *(fact.doc for fact in told.facts)]
        return Matcher(self.topics, self.words, frozenset(word for text in texts for word in meanings(text)))

    def alike(self, name: str) -> frozenset[str]:
        """The facts that are described as this one is, which no question can tell apart; it is among them."""
        doc = self._docs[name]
        return frozenset(other for other, its in self._docs.items() if doc and its == doc) | {name}

    def asked(self, text: str) -> tuple[str, ...]:
        """The names of the facts that a message asks for without a doubt, in the order of the briefing."""
        return self.read(text).asked

    def read(self, text: str, told: frozenset[str] = frozenset()) -> Reading:
        """What a message asks for, when some facts are told already. It is remembered: the user reads it, and who looks
        at what the user did.
        """
        if (text, told) not in self._read:
            self._read[text, told] = self._reading(text, told)
        return self._read[text, told]

    def _reading(self, text: str, told: frozenset[str]) -> Reading:
        listed = self._listed(text)
        if listed:
            return Reading(listed)
        asking = list[Meant]()
        asked = list(questions(text))
        for question in asked:
            asking += self._question(question, text, told, [topic for meant in asking for topic in meant.topics])
        if not asking:
            asking = [meant for question in asked for meant in self._hinted(question, text)]
        found: list[Topic] = []
        doubted: list[Topic] = []
        unclear: list[Sequence[Topic]] = []
        for meant in asking:
            earlier = [topic for topic in meant.topics if topic in found]
            settled = earlier if len(meant.topics) > 1 and earlier else meant.topics
            if len(settled) > 1 and not meant.whole and len(earlier) != len(settled):
                unclear.append(settled)
            elif meant.evidence >= STRONG:
                found += settled
            else:
                doubted += settled
        names = {topic.name for topic in found}
        thin = {topic.name for topic in doubted} - names
        groups = [tuple(topic.name for topic in group) for group in unclear]
        return Reading(
            tuple(topic.name for topic in self.topics if topic.name in names),
            tuple(topic.name for topic in self.topics if topic.name in thin),
            tuple(group for group in groups if not (names | thin) & set(group)),
        )

    def _listed(self, text: str) -> tuple[str, ...]:
        """The facts of a list with semicolons between them, each in the very words of its description."""
        items = [plain_words(item) for item in text.split(";")] if ";" in text else []
        listed = tuple(topic.name for topic in self.topics if topic.doc in items)
        return listed if len(listed) == len(items) > 1 else ()

    def _hinted(self, question: Question, message: str) -> list[Meant]:
        """What a question seems to ask for none of whose parts means a fact."""
        left = [topic for topic in self.topics if not said(topic.value, [message])]
        if not question.asked and may_ask(question.sentence):
            meant = self._parts(question.sentence, Choice(self.matcher, question, message, frozenset(), ()))
            return [replace(one, evidence=ALIKE) for one in meant if all(topic in left for topic in one.topics)]
        if not question.asked or _OTHERS.search(question.asked):
            return []
        asked = phrase(question.asked)
        heard = meanings(question.asked)
        if asked.foreign or (asked.head in self.matcher.heads and not asked.beside <= self.matcher.known):
            return []  # it names something else
        texts = [question.asked, question.sentence]
        if asked.wh or asked.it or asked.one:
            texts.append(_last(question.before))
        elif not heard:
            return []
        found = next(filter(None, (self.matcher.hinted(asked, meanings(text), left) for text in texts)), [])
        return [Meant(found, ALIKE)] if found else []

    def _question(
        self, question: Question, message: str, told: frozenset[str], earlier: Sequence[Topic]
    ) -> list[Meant]:
        """What the parts of a question mean."""
        offered = [topic for topic in self.topics if _offered(topic, question.sentence)]
        among = Choice(self.matcher, question, message, told, earlier)
        choice = [among.one(Match(offered, STRONG), phrase(question.sentence), ())] if offered else []
        chosen = {topic.name for topic in offered}
        both = "first name, last name" if self.matcher.names else "full name"
        body = _BOTH_NAMES.sub(both, question.asked)
        values = [topic.value for topic in self.topics if isinstance(topic.value, str)]
        if any(not any(name in value for value in values) for name in _SOMEBODY.findall(body)):
            return choice
        if not question.asked or (_OTHERS.search(body) and not re.search(r"\byours?\b", body, re.IGNORECASE)):
            return choice
        meant = self._parts(body, among)
        return choice + [one for one in meant if not any(topic.name in chosen for topic in one.topics)]

    def _parts(self, body: str, choice: Choice) -> list[Meant]:
        meant: list[Meant] = []
        question = choice.question
        named = list[Phrase]()
        pieces = ["", *PARTS.split(body)[: 2 * MAX_PARTS]]
        texts = pieces[1::2]
        parts = [phrase(text) for text in texts]
        group, opened, clause = Meant((), 0.0), False, False
        for place, (joint, text, part) in enumerate(zip(pieces[::2], texts, parts, strict=False)):
            if _lacks_noun(part):
                behind = next((other for other in parts[place + 1 :] if other.nouns or other.rest), None)
                part = part.standing_for(behind) if behind is not None else part
            match = self._part(part, named, question.before)
            if not match.topics and ADJECTIVES.issuperset(part.nouns):
                match = self._left(part, text, choice)
            if EXCEPT.match(joint + text):
                meant = _without(meant, match)
                continue
            if part.nouns:
                named.append(part)
            within = clause and not part.wh and joint.strip().casefold() in ("and", "or")
            clause = part.wh == "which" and bool(part.rest)
            checked = question.sentence if _CHECKS.search(question.sentence) else ""
            match = match.without(
                topic for topic in match.topics if said(topic.value, [text if NUMBER in topic.heads else checked])
            )
            if _AND_NUMBER.fullmatch(text) and meant and not any(NUMBER in topic.heads for topic in meant[-1].topics):
                continue  # "which street, and what number"
            leads = part.head in self.matcher.things and texts[place + 1 :] and _ABOUT.match(text)
            if not match.topics or within or leads:
                continue
            opened = (opened and joint != ")") or joint.strip() in _LISTING
            beside = [topic for others in meant for topic in others.topics]
            named_of_it = [topic for topic in match.topics if opened and topic in group.topics]
            if joint.strip().casefold() == "or" and part.ordinals and not part.nouns and meant:
                meant[-1] = Meant([*meant[-1].topics, *match.topics], match.evidence)  # "the first or the second"
            elif named_of_it:
                meant = [one for one in meant if one is not group]
                meant.append(Meant(named_of_it, match.evidence, whole=True))
            elif self.matcher.whole(part):
                group, opened = Meant(match.topics, match.evidence, whole=True), False
                meant.append(group)
            elif part.several:
                meant.append(choice.several(match, part))
            else:
                meant.append(choice.one(match, part, beside))
        return meant

    def _left(self, part: Phrase, text: str, choice: Choice) -> Match:
        """Of "the third", "the last two" and "the others": those of the facts that are numbered, by what was said."""
        rest, last = _REST.search(text), _FINAL.search(text)
        if not (part.ordinals or rest or last):
            return NOTHING
        numbered = [topic for topic in self.topics if topic.ordinals]
        alike = max(
            ([other for other in numbered if other.base == one.base] for one in numbered), key=len, default=[]
        )  # fmt: skip
        if part.ordinals:
            return Match([topic for topic in alike if topic.ordinals & part.ordinals], ALIKE)
        if last:
            count = part.count if last["many"] else 1
            return Match(alike[-count:], ALIKE)
        left = [one for one in alike if one.name not in choice.told and not said(one.value, [choice.message])]
        return Match(left if len(left) < len(alike) else (), ALIKE)

    def _part(self, part: Phrase, named: Sequence[Phrase], before: str) -> Match:
        """The facts that a part means, with what was named before it."""
        found = self.matcher.match(part)
        if found.topics or part.nouns:
            return found
        it = part.it and set(part.rest) <= _IT_MAY
        if part.one or part.ordinals or it:
            earlier = [one for one in _earlier(named, before) if not (it and one.several)]
            things = [other for other in earlier if other.head in self.matcher.things]
            return self._first(part.standing_for(other) for other in (*things, *earlier)).thinner()
        return NOTHING

    def _first(self, parts: Iterable[Phrase]) -> Match:
        """What the first of several parts means that means anything."""
        return next((found for found in map(self.matcher.match, parts) if found.topics), NOTHING)


def _earlier(named: Sequence[Phrase], before: str) -> list[Phrase]:
    """What was named before, the last first."""
    written = [phrase("your email")] if "@" in before else []
    return [*written, *mentioned(before)[-MAX_MENTIONED:], *named][::-1]


def _last(before: str) -> str:
    """What was said last."""
    return next((line for line in reversed(before.split("\n")) if line.strip()), "")


def _without(meant: Sequence[Meant], excepted: Match) -> list[Meant]:
    """What parts mean but for what is not asked for; nothing is sure if it is not known what that is."""
    left = [
        replace(one, topics=[topic for topic in one.topics if topic not in excepted.topics],
                whole=one.whole and bool(excepted.topics))
        for one in meant
    ]  # fmt: skip
    return [one for one in left if one.topics]


def _lacks_noun(part: Phrase) -> bool:
    """Whether a part is but the beginning of "your old and your new address"."""
    return not (part.nouns or part.rest or part.one) and bool(part.ordinals or part.new or part.old)


def _offered(topic: Topic, sentence: str) -> bool:
    """Whether a question offers the choice between values, of which one may be that of the fact."""
    if isinstance(topic.value, bool):
        same = len(set(meanings(sentence)) & topic.base)
        return same > 0 if _EITHER.search(sentence) else same > 1 and _WISHES.search(sentence) is not None
    if not (sentence.rstrip().endswith("?") or "whether" in sentence):
        return False
    text = sentence.casefold().replace("_", " ")
    if not (" or " in text or text.count(",") > 1) or not isinstance(topic.value, str):
        return False
    values = (value.replace("_", " ") for value in topic.values)
    heard = [value for value in values if value in text]
    if sum(re.search(rf"\b{re.escape(value)}\b", text) is not None for value in heard) > 1:
        return True
    own = spoken(topic.value).casefold().replace("_", " ")
    if own not in text:
        return False
    value = re.escape(own)
    if text.endswith(" or?"):
        return re.search(rf"(?:, |\b(?:and|or) |: ){value}s?\b|\b{value}s?(?:,| and\b| or\b)", text) is not None
    before, behind = r"\bor (?:(?:the|an?|by|in|was|it|is) )*", r"(?: (?!number)\w+)? or\b"
    listed = rf"{before}{value}\b|\b{value}{behind}|\b(?:in|by|it) {value}, or\b"
    return re.search(listed, text) is not None
