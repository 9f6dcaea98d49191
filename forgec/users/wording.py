"""Words as they are compared: cut into tokens, brought to their stems, and to one word for what means the same."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

import snowballstemmer

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_PLURAL = re.compile(r"(?<=ss)es$|s$")
_STEMMER = snowballstemmer.stemmer("english")

COMPOUNDS = {
    ("e", "mail"): "email", ("mail", "address"): "email", ("email", "address"): "email", ("user", "name"): "username",
    ("user", "id"): "userid", ("log", "in"): "login", ("log", "on"): "login", ("sign", "in"): "login",
    ("zip", "code"): "zip", ("postal", "code"): "zip", ("post", "code"): "zip", ("full", "name"): "fullname",
    ("complete", "name"): "fullname", ("your", "name"): "your fullname", ("first", "name"): "firstname",
    ("given", "name"): "firstname", ("last", "name"): "lastname", ("family", "name"): "lastname",
    ("sort", "out"): "solve", ("sorted", "out"): "solved", ("all", "right"): "alright", ("sim", "card"): "sim",
    ("pass", "word"): "password", ("pass", "phrase"): "password", ("call", "off"): "cancel",
    ("calling", "off"): "cancel", ("log", "ins"): "login", ("login", "name"): "username",
    ("account", "name"): "username", ("your", "id"): "your userid", ("secret", "word"): "password",
    ("waiting", "list"): "waitlist", ("wait", "list"): "waitlist", ("take", "out"): "borrow",
    ("take", "home"): "borrow",
    ("check", "out"): "borrow", ("hand", "back"): "return", ("bring", "back"): "return", ("take", "back"): "return",
    ("give", "back"): "return", ("hand", "in"): "return", ("handing", "in"): "return",
    ("take", "with"): "borrow", ("leave", "with"): "borrow",
    ("street", "line"): "street", ("send", "back"): "return", ("bringing", "back"): "return",
    ("handing", "back"): "return", ("sending", "back"): "return", ("giving", "back"): "return",
    ("taking", "back"): "return", ("log", "out"): "logout", ("sign", "out"): "logout", ("went", "missing"): "lost",
    ("gone", "missing"): "lost", ("as", "well"): "also",
    ("somewhere", "else"): "elsewhere", ("street", "address"): "street",
}  # fmt: skip
"""Two words that are one."""

_SAME = (
    "email mail mailbox inbox",
    "zip postcode postal zipcode",
    "phone telephone mobile cell cellphone line sim",
    "number id no num identifier",
    "password passcode passphrase",
    "author writer novelist whose wrote written",
    "pay payment paid settle charge",
    "close shut",
    "status stand",
    "another different differently",
    "permanent good ever forever",
    "urgent urgency priority important importance pressing critical",
    "describe description detail say text read wording wrong happen",
    "title titled called call heading headline entitled subject about",
    "shelf shelves section category genre",
    "gigabyte gb data gig",
    "resolution resolve solution fix fixed done remedy mend repair cure solve",
    "app application program programme",
    "where place location locate room located spot",
    "area district region neighbourhood neighborhood quarter part",
    "reserve reservation wait waiting waitlist queue hold",
    "lost missing left gone lose loss",
    "firstname forename",
    "lastname surname",
    "book novel",
    "summer summertime",
    "way means manner mode",
    "date day",
    "amount sum figure",
    "lend borrow lent",
    "return back bring",
    "exchange swap",
    "send ship shipment delivered deliver",
    "edit change update modify",
    "reason why",
    "roaming abroad",
    "state province",
    "city town",
    "order purchase",
    "cancel abort",
)
"""Words of English that mean the same when somebody is asked for something; the first stands for all."""


MAX_TEXT = 5_000
"""How many characters at the end of a text are read."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def sentences(text: str) -> list[str]:
    """The sentences of a text, and its lines, at its end."""
    return [one.strip() for one in _SENTENCE.split(text[-MAX_TEXT:].replace("\u2019", "'")) if one.strip()]


def listed(text: str) -> frozenset[str]:
    """The words of a list that is written as a text."""
    return frozenset(text.split())


@lru_cache(maxsize=10_000)
def stem(word: str) -> str:
    """A word without its ending, by Snowball's rules for English."""
    return str(_STEMMER.stemWord(word))


_CONCEPT = {stem(word): stem(group.split()[0]) for group in _SAME for word in group.split()}


@lru_cache(maxsize=10_000)
def concept(word: str) -> str:
    """What a word comes to: its stem, or that of the first word that means the same."""
    short = stem(word)
    return _CONCEPT.get(short, short)


def tokens(text: str) -> list[str]:
    """The words of a text in lower case, pairs that are one word joined."""
    found = _WORD.findall(text.casefold().replace("\u2019", "'"))
    joined: list[str] = []
    for word in found:
        word = word[:-2] if word.endswith("'s") else word
        before = joined[-1] if joined else ""
        one = COMPOUNDS.get((before, word)) or COMPOUNDS.get((before.removesuffix("s"), word))
        many = COMPOUNDS.get((before, _PLURAL.sub("", word))) if word.endswith("s") and not one else None
        if one or many:
            joined[-1:] = (one or f"{many}s").split()
        elif joined and joined[-1] == word == "email":
            continue
        else:
            joined.append(word)
    return joined


def content(words: Iterable[str]) -> list[str]:
    """The concepts of the words that carry a meaning, in their order."""
    return [concept(word) for word in words if word not in FILLING]


@lru_cache(maxsize=1_000)
def meanings(text: str) -> tuple[str, ...]:
    """The concepts of the words of a text that carry a meaning, in their order."""
    return tuple(content(tokens(text)))


_LEAD = re.compile(
    r"\W*(?:(?:ok|okay|thanks|thank you|sure|great|and|now)\b\W*)*"
    r"(?:(?:(?:could|can|would|will) you )?(?:(?:please|kindly) )?"
    r"(?:tell|give|provide|share|confirm)\b(?: (?:me|us)\b)?(?: with\b)?|"
    r"(?:may|can|could|might) i (?:please )?(?:have|get)\b|what(?:'s| is| are)\b|i(?:'ll| will)? (?:also )?need\b)?"
    r"(?: also\b)?",
    re.IGNORECASE,
)


def plain_words(text: str) -> tuple[str, ...]:
    """The words of a text without what only leads to them: of "please tell me your name", your name."""
    words = tokens(_LEAD.sub("", text.replace("\u2019", "'"), count=1))
    return tuple(words[:-1] if words[-1:] == ["please"] else words)


FILLING = listed(
    """
    a an and or the of on in at to for from by with about as into over it its this that these those them they
    their there here is are was were be been being am do does did have has had having will would shall
    should can could may might must i i'll i'd i'm i've me my we us our you your yours you'd you'll you're what
    which so if then than also too just only any some all both well not no yes ok okay please kindly thanks
    thank great sure happy help need want wants like wanted give tell share provide enter type state confirm
    specify supply let know send sent ask get got take find look see use used using such own very much many
    how now again able go going before after first second third fourth fifth sixth seventh eighth ninth tenth
    one two three other hello hi dear when ie eg etc exactly instead currently correct
    right prior yet personal itself handy
    """
)
"""Words that say nothing of what is asked for."""

ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4, "5th": 5, "6th": 6, "7th": 7, "8th": 8, "9th": 9, "10th": 10,
    "other": 2, "original": 1,
}  # fmt: skip
