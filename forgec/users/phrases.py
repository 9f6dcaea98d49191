"""Parts of questions taken apart: the question word, the noun that is asked for, what it is of, and all that is beside.

By the few words that tell where nouns begin and end (articles, prepositions, pronouns, auxiliaries); nothing else is
known of English grammar.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from forgec.users.wording import FILLING, ORDINALS, concept, listed, tokens

WH = listed("what which whose who whom where when how why what's who's where's how's")
DETERMINERS = listed("a an the this that these those your my our his her their its any some each every all both")
_PREPOSITIONS = listed(
    "of on in at to for from by with about as into over under behind regarding concerning towards toward through via "
    "within without between among up down off against"
)
_PRONOUNS = listed(
    "yourself i you we they he she it me us them i'll i'd i'm i've you'd you'll you're you've "
    "we'll we'd we've we're they've they're"
)
_AUXILIARIES = listed(
    "is are was were be been being am do does did have has had having will would shall should can could may might must "
    "ought isn't aren't wasn't don't doesn't didn't"
)
_TELLING = listed(
    "include repeat spell identify verify authenticate clarify indicate reply double gather collect login trouble "
    "spelling repeating telling giving confirming providing sharing mind list calling mentioned re retype reenter "
    "bother out up down back again once else exactly begin start ask asking asked try says goes comes gets"
)
"""Verbs and particles that stand beside what is asked for and never are it."""
_SAYING = listed("say read contain mean look include")
_JOINTS = listed("and or so if then than but because since that while once whether")
_CLOSED = WH | _PREPOSITIONS | _PRONOUNS | _AUXILIARIES | _JOINTS | _TELLING
_SEVERAL = listed("both two three four five six all these those them")
_COUNTS = {"both": 2, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
NEW = listed("new fresh replacement updated future")
OLD = listed("old current currently existing present previous registered")
_ONE_THING = listed("details digits words gigabytes")
_ITS = listed("it them those these yours")
_ONES = listed("one ones")
_OF = listed("of for")
_ON = listed("on about in")
_BESIDE = DETERMINERS | NEW | OLD | ORDINALS.keys() | _SEVERAL | listed("then now exactly please be currently")
_CHANGING = listed("change raise lower set switch move update")
_NO_NOUN_BEHIND = _PRONOUNS | _AUXILIARIES | {"to", "please"}
_KINDS = listed("kind sort type kinds sorts types level degree")
ADJECTIVES = frozenset(
    map(
        concept,
        listed("""
    full complete whole entire exact precise correct valid right proper actual real own preferred
    preference desired intended wanted short brief quick little few several many
    multiple various further additional more extra other another
    different remaining rest registered associated linked tied attached connected specific particular certain
    following same main primary usual chosen selected needed required necessary available possible final next
    last please long longer favourite favorite
    contact older newer
    good best suitable appropriate relevant respective high low big large great
    delivery shipping postal home level total kind sort type way piece bit sentence couple pair set thing
    """),
    )
)
"""What may stand beside any noun and leaves it what it is."""
NEUTRAL = ADJECTIVES | frozenset(
    map(
        concept,
        listed("""
    account library member membership customer profile record file system desk help list online present moment
    mind information info matter problem issue trouble request case fault error defect situation incident month
    time today now stead town city entry verification security identification purpose purposes reference
    confirmation difference amount collection body question mean concern card
    """),
    )
)
"""What may stand beside a noun that says by itself what it is: an account has one password, but many a number."""
_APART = NEW | OLD | ORDINALS.keys() | FILLING | _CLOSED | _ONES | {"more"}
"""What is neither the noun that is asked for nor told beside it."""
_WAY = concept("way")


@dataclass(frozen=True)
class Phrase:
    """A part of a question."""

    wh: str
    """The question word; empty where there is none."""
    direct: bool
    """Whether the noun is what is asked for: "which book", "what is the title", and not "what shall the book"."""
    owner: str
    """Of "which ticket's title", ticket."""
    nouns: tuple[str, ...]
    """The concepts of the noun that is asked for, with what stands before it; the noun itself comes last."""
    of: tuple[str, ...]
    """Those of what it is of, or for."""
    on: tuple[str, ...]
    """Those of what it is on, about or in."""
    rest: tuple[str, ...]
    """All others: verbs and what is told beside."""
    ordinals: frozenset[int]
    new: bool
    old: bool
    several: bool
    count: int
    """How many it says that there are; 0 where it does not say it."""
    one: bool
    """Whether it says "one" where a noun would be."""
    it: bool
    """Whether it says "it" where a noun would be."""
    verb: str
    """What it begins with, if that is no noun: of "describe the problem", describe."""
    quantity: bool
    """Whether it asks how much, or how many."""
    foreign: bool
    """Whether the noun is somebody else's: "my number", "her name"."""
    past: bool
    """Whether it asks what the user did: "where did you find it"."""
    personal: bool
    """Whether it asks what the user or the agent does: "where do you want it from"."""

    @property
    def head(self) -> str:
        return self.nouns[-1] if self.nouns else ""

    def standing_for(self, other: Phrase) -> Phrase:
        """The same with the noun of another, for which it says "one" or "it"."""
        return replace(
            self, nouns=other.nouns, of=(*self.of, *other.of), on=(*self.on, *other.on),
            new=self.new or (other.new and not self.old), old=self.old or (other.old and not self.new),
            ordinals=self.ordinals or other.ordinals, one=False, it=False,
        )  # fmt: skip

    def about(self, noun: str) -> Phrase:
        """The same of another noun alone."""
        return replace(self, nouns=(noun,))

    def of_that(self, other: Phrase) -> Phrase:
        """The same of what another names: "its number"."""
        return replace(self, of=(*self.of, *other.nouns))

    @property
    def beside(self) -> frozenset[str]:
        """What stands beside the noun and what it is of."""
        return frozenset((*self.nouns[:-1], *self.of))

    @property
    def concepts(self) -> frozenset[str]:
        return frozenset((*self.nouns, *self.of, *self.on, *self.rest))


_OWNER = re.compile(r"\b(?:which|what) (?:[\w-]+ )?([\w-]+)(?:'s|s') [\w-]+")
_IS = re.compile(r"\b(what|which|who)'s\b")
_BECOMES = re.compile(
    r"\b(?:from (?:now|here) on|going forward|in (?:the )?future|"
    r"(?:change[ds]?|update[ds]?|switch(?:ed|ing)?|mov(?:e[ds]?|ing))(?: (?!it\b)\w+)? to|"
    r"you(?:'d like|'d prefer| want| would like| prefer)(?: \w+)? on (?:file|record|your (?:record|account|file))|"
    r"replac(?:e|es|ing) (?:it|this|that|the one|(?:the |your )?(?:old|current|present|existing|previous))\b)"
)
_PAST = re.compile(r"\b(?:did|have|had) (?:you|we|i)\b(?! (?:want|wish|hope|mean))")
_PERSONAL = re.compile(r"\b(?:do|did|would|should|shall|can|could|may|are|were|will) (?:you|i|we)\b")
_SEVERAL_OF = re.compile(
    r"\b(?:both|two|three|four|five|six|all (?:the|your|of|their|these|those|three|four|five|six))\b"
)
_ONE_OF = re.compile(r"\b(?:which|what|who) of (?:(?!\bare\b|\bdo\b).)* (?:is|was|has)\b|\b(?:first|next)$")
"""Of several one is asked for: "which of these is it", "which of these shall I do first"."""
_IN_PLACE = re.compile(
    r"\b(?:(?:in place|instead|in lieu) of|rather than) "
    r"(?:it|that|(?:the |your )?(?:old|current|present|existing)(?: \w+)?)\b"
)
_AT_PRESENT = re.compile(
    r"\b(?:at present|at the moment|have now|now have|you live|(?:was|were|been|have you|you have|you've) used|on file|"
    r"so far|up to now|as of now)\b"
)


@lru_cache(maxsize=1_000)
def phrase(text: str) -> Phrase:
    """A part of a question, taken apart."""
    plain = " ".join(text.casefold().replace("\u2019", "'").split())
    owner = _OWNER.search(plain)
    words = _with_state(tokens(_IS.sub(r"\1 is", plain)))
    wh, direct, nouns, of, on, used, quantity, foreign = _noun(words)
    joined = " ".join(words)
    while len(nouns) > 1 and nouns[-1] in NEUTRAL:
        nouns.pop()  # "the priority level"
    if nouns == [_WAY] and wh in ("what", "which"):
        wh, nouns = "how", []
    rest = [concept(word) for i, word in enumerate(words) if i not in used and word not in _APART]
    if not wh and words[:2].count("name"):
        rest = [word for word in rest if word != concept("name")]  # "name the two tasks"
    if "other" in words:
        rest.append(concept("other"))
    if _is_about(words, used):
        rest.append(concept("about"))
    new = bool(NEW & set(words)) or _BECOMES.search(joined) is not None or _IN_PLACE.search(joined) is not None
    old = bool(OLD & set(tokens(_IN_PLACE.sub(" ", joined)))) or (not new and _AT_PRESENT.search(joined) is not None)
    told = [words[i] for i in sorted(used)]
    several = _SEVERAL_OF.search(joined) is not None or any(map(_is_plural, told)) or "ones" in words
    several = several and not _ONE_OF.search(joined)
    one = bool(_ONES & set(words[:8])) and not nouns
    new = new or "instead" in words
    verb = next((concept(word) for word in words if _is_content(word)), "")
    return Phrase(
        wh=wh, direct=direct, owner=concept(owner[1]) if owner else "", nouns=tuple(nouns), of=tuple(of), on=tuple(on),
        rest=tuple(rest), ordinals=_ordinals(words), new=new, old=old, several=several,
        count=max((_COUNTS.get(word, 0) for word in words), default=0), one=one,
        it=bool(_ITS & set(words)) and not nouns, verb=verb if verb in rest[:1] else "", quantity=quantity,
        foreign=foreign, past=_PAST.search(joined) is not None, personal=_PERSONAL.search(joined) is not None,
    )  # fmt: skip


def _with_state(words: list[str]) -> list[str]:
    """Words in which a state is told from stating."""
    if "state" not in words:
        return words
    beside = DETERMINERS | NEW | {"city", "which", "what"}
    return [
        "province" if word == "state" and (len(words) == 1 or (words[i - 1 : i] == [] and words[1] in _AUXILIARIES)
                                           or (i > 0 and words[i - 1] in beside)) else word
        for i, word in enumerate(words)
    ]  # fmt: skip


def _noun(words: Sequence[str]) -> tuple[str, bool, list[str], list[str], list[str], set[int], bool, bool]:
    """The question word, whether it is for the noun, the noun, what it is of, what it is on, the places of all these
    words, and whether an amount is asked for.
    """
    start = next((i for i, word in enumerate(words) if word in WH), None)
    told = start is None or {"is", "are", "was", "were"} & set(words[:start])  # "the address is in which state"
    if not told and any(DETERMINERS & set(words[:i]) for i in _noun_at(words[:start], 0)[:1]):
        start = None  # "the book whose waiting list you are on"
    wh, quantity, direct, open_ = "", False, True, None
    used: set[int] = set()
    if start is None:
        places = _noun_at(words, 0)
    else:
        wh = words[start].removesuffix("'s")
        after = start + 1
        if wh == "how" and words[after : after + 1] and words[after] in ("much", "many", "big", "large"):
            quantity, after = True, after + 1
        if words[after : after + 1] == ["of"]:
            after += 1
        behind = wh in ("which", "what", "whose") or quantity or (wh == "how" and not _verbal(words, after))
        places = _run(words, after) if behind else []
        happens = places[:1] == [after] and words[after + 1 : after + 2] in (["to"], ["with"])
        if happens and set(words[after + 2 : after + 3]) & DETERMINERS:
            places = _noun_at(words, after + 1)  # "what happens to the book"
            open_ = (after, places[0]) if places else None
        if wh == "how" and not quantity and len(places) == 1 and concept(words[places[0]]) in ADJECTIVES:
            places = []  # "how high shall the priority be"
        determined = bool(set(words[after : after + 1]) & DETERMINERS)
        clause = words[start] in ("what", "which") and words[after - 1] != "of" and determined
        direct = not clause or words[-1] in ("is", "are", "was", "were")  # "what the ticket says"
        if not places and not quantity and not _ONES & set(words[after : after + 1]):
            places = _noun_at(words, after)
            open_ = (after, places[0]) if places else None
    if start is not None and _is_about(words, places) and not (places and places[0] == start + 1):
        direct, open_ = False, None  # "what's the ticket about"
    of, on = list[str](), list[str]()
    if not wh and places and _led_by(words, places[0]) in _PREPOSITIONS and words[places[-1] + 1 :][:1]:
        second = _run(words, places[-1] + 1) if words[places[-1] + 1] in DETERMINERS - {"that"} else []
        if second:  # "for the ticket a title"
            used.update(places)
            of += [concept(words[i]) for i in places]
            places = second
    if places and words[places[-1]] in _KINDS and words[places[-1] + 1 :][:1] == ["of"]:
        places = _run(words, places[-1] + 2) or places
    used.update(places)
    nouns = [concept(words[i]) for i in places]
    end = places[-1] + 1 if places else len(words)
    while end < len(words):
        if words[end].endswith("ed") and words[end + 1 : end + 2] and words[end + 1] in _ON:
            end += 1  # "the number printed on the bill"
        if words[end] not in _OF | _ON:
            break
        owned = _run(words, end + 1)
        if not owned:
            break
        (of if words[end] in _OF else on).extend(concept(words[i]) for i in owned)
        used.update(owned)
        end = owned[-1] + 1
    if open_ is not None:
        between = words[slice(*open_)]
        direct = (wh in ("what", "which", "who") or between[:1] == ["about"]) and _is_equated(between, words[end:])
    foreign = (
        bool(places) and _determiner(words, places[0]) in ("my", "our", "his", "her") and "of" not in words[: places[0]]
    )
    return wh, direct, nouns, of, on, used, quantity, foreign


def _is_equated(between: Sequence[str], behind: Sequence[str]) -> bool:
    """Whether "what" is asked to be a noun: "what is the title", "what shall the title be", "what about the title".

    By what stands between the two, and behind the noun and what it is of.
    """
    while between and between[0] in _SEVERAL | _ONES:
        between = between[1:]
    if between[:1] == ["about"] or "as" in between[-2:]:
        return True
    plain = not set(between[1:]) - _BESIDE
    if not between or between[0] in DETERMINERS | {"is", "are", "was", "were"}:
        return plain
    to_be = (
        behind[-2:] in (["to", "be"], ["to", "read"])
        or "changed" in behind
        or (behind[-1:] == ["to"] and not _CHANGING.isdisjoint(between))
    )
    return between[0] in _AUXILIARIES and (
        to_be or (plain and not any(map(_is_content, set(behind) - {"changed", "set", "say", "read"})))
    )


def _is_about(words: Sequence[str], places: Iterable[int]) -> bool:
    """Whether it is asked what something is about, and not about what somebody talks."""
    return words[-1:] == ["about"] and (len(words) - 2 in places or words[-2:-1] in (["it"], ["is"], ["be"], ["that"]))


def _led_by(words: Sequence[str], place: int) -> str:
    """What stands before a noun and its article."""
    while place and words[place - 1] in DETERMINERS | NEW | OLD:
        place -= 1
    return words[place - 1] if place else ""


def _determiner(words: Sequence[str], place: int) -> str:
    """What determines the noun that begins at a place."""
    before = next((word for word in reversed(words[:place]) if word not in NEW | OLD | ORDINALS.keys()), "")
    return before if before in DETERMINERS else ""


def mentioned(text: str) -> list[Phrase]:
    """All nouns of a text, each as a phrase of its own."""
    words = _with_state(tokens(text))
    found, start = [], 0
    while start < len(words):
        places = _run(words, start)
        if places:
            found.append(phrase(" ".join(words[start : places[-1] + 1])))
        start = max(start, *places) + 1 if places else start + 1
    return found


def _verbal(words: Sequence[str], place: int) -> bool:
    """Whether no adjective follows: "how do you", not "how urgent is"."""
    return place >= len(words) or words[place] in _AUXILIARIES | _PRONOUNS | FILLING


def _noun_at(words: Sequence[str], start: int) -> list[int]:
    """The places of the first noun from a place on: behind an article, or where none has to stand."""
    for i in range(start, len(words)):
        word = words[i]
        before = words[i - 1] if i else ""
        if word in DETERMINERS:
            if _ONES & set(words[i + 1 : i + 3]) and not any(map(_is_content, words[i + 1 : i + 3])):
                return []  # "the second one"
            found = _run(words, i)
            if found:
                return found
        elif _is_content(word) and (
            before not in _NO_NOUN_BEHIND or (before in _AUXILIARIES and "".join(words[i + 1 : i + 2]).isdigit())
        ):
            if words[i + 1 : i + 2] and words[i + 1] in DETERMINERS | WH | {"me", "us", "it", "them"}:
                continue  # "describe the problem"
            if before == "like" and word.endswith("ed"):
                continue  # "which would you like closed"
            return _run(words, i)
        elif (
            _is_content(word)
            and before == "please"
            and not (set(words[i + 1 : i + 2]) & (DETERMINERS | WH | {"me", "us"}))
        ):
            return _run(words, i)
    return []


def _run(words: Sequence[str], start: int) -> list[int]:
    """The places of the words with a meaning of the noun that begins at a place."""
    found: list[int] = []
    adjectives = set[int]()
    for i in range(start, len(words)):
        word = words[i]
        if word in _ONES or (found and word in DETERMINERS):
            break
        if word in DETERMINERS | NEW | OLD | _SEVERAL or word in ORDINALS or word == "more":
            continue
        if not _is_content(word):
            break
        if set(found) - adjectives and len(word) > 4 and word.endswith(("ed", "ing")):
            break
        if found and word in _SAYING:
            break
        if found and _is_plural(word) and set(words[i + 1 : i + 2]) & DETERMINERS:
            break  # "which order contains the item"
        if word.endswith("ly") and len(word) > 4:
            continue
        found.append(i)
        adjectives |= {i} if concept(word) in ADJECTIVES else set()
    return found


def _is_content(word: str) -> bool:
    return not (word in FILLING or word in _CLOSED or word.isdigit())


def _is_plural(word: str) -> bool:
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) and word not in _ONE_THING


def _several_at(words: Sequence[str], place: int) -> bool:
    """Whether several are named at a place: "the other two", "other tickets"."""
    return any(word in _SEVERAL or _is_plural(word) for word in words[place : place + 1])


def _ordinals(words: Sequence[str]) -> frozenset[int]:
    """The places in a list that are named: of "the second ticket", 2."""
    found: set[int] = set()
    for i, word in enumerate(words):
        if word == "first" and words[i + 1 : i + 2] and words[i + 1] in _COUNTS:
            found.update(range(1, _COUNTS[words[i + 1]] + 1))  # "the first two"
        if word in ORDINALS and not (word == "other" and _several_at(words, i + 1)) and (
            len(words) <= 3 if i == 0 else words[i - 1] in ("the", "your", "and", "of", "a", "for", "which", "what")
        ):  # fmt: skip
            found.add(ORDINALS[word])
    return frozenset(found)
