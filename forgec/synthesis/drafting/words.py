"""The words in names of operations: what they do, and to what."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias

import inflection

from forgec.starting.names import snake

Act: TypeAlias = Literal["create", "read", "update", "delete", "status", "count", "add"]

_ACTS: Mapping[Act, str] = {
    "create": """add append book buy comment compose create draft enroll hire insert issue like log make new order place
        post publish purchase rate record register reply report repost request reserve retweet save schedule send
        subscribe submit upload vote write admit invite link
        onboard rent""",
    "read": """browse check display fetch filter find get list look lookup query read retrieve search see show view
        describe inspect""",
    "update": """adjust alter amend assign change edit modify move patch put rename reassign reschedule replace revise
        select set toggle transfer update""",
    "delete": "clear delete destroy discard drop erase remove unregister wipe",
    "status": """accept acknowledge activate approve archive ban block bookmark cancel close complete confirm deactivate
        decline deliver disable dismiss dispatch enable end escalate excuse expire favorite finish flag follow freeze
        fulfill hide hold lock mark mute open pack pause pay pin publish reactivate redeem refund reject release reopen
        resolve restore resume retire return revoke ship star start stop submit suspend terminate verify void waive
        watch""",
    "count": "count",
    "add": "charge credit debit deposit fund spend topup withdraw",
}
_ACT_OF: dict[str, Act] = {word: act for act in reversed(list(_ACTS)) for word in _ACTS[act].split()}
FLAGS = {"bookmark", "favorite", "flag", "follow", "hide", "mute", "pin", "star", "watch"}
"""Verbs that set a mark of their own beside whatever status there is."""
PHRASES: Mapping[tuple[str, str], str] = {
    ("check", "in"): "checked_in", ("check", "out"): "checked_out", ("clock", "in"): "clocked_in",
    ("clock", "out"): "clocked_out", ("turn", "on"): "on", ("turn", "off"): "off", ("switch", "on"): "on",
    ("switch", "off"): "off", ("power", "on"): "on", ("power", "off"): "off",
}  # fmt: skip
"""Verbs of two words, and the status that they lead to."""
BEGINS = {"begin", "open", "publish", "start", "submit"}
"""Verbs that make something where nothing says what is there already."""
NOMINAL: Mapping[str, str] = {
    "apply": "application", "book": "booking", "enroll": "enrollment", "invite": "invitation", "order": "order",
    "pay": "payment", "place": "order", "purchase": "purchase", "register": "registration", "rent": "rental",
    "reserve": "reservation", "review": "review", "ship": "shipment", "subscribe": "subscription",
    "transfer": "transfer",
}  # fmt: skip
"""What a verb makes, where that is a thing of its own: to reserve a room makes a reservation."""
TAKES = {"charge", "debit", "spend", "withdraw"}
"""Verbs that take an amount away."""
ITSELF = {"comment", "like", "link", "rate", "reply", "report", "repost", "request", "retweet", "subscribe", "vote"}
"""Verbs that make what they are called: to comment on a post makes a comment."""
_NOUNS_TOO = {
    "comment", "like", "rate", "reply", "request", "vote",
    "ban", "book", "bookmark", "change", "charge", "check", "count", "credit", "deposit", "draft", "end", "favorite",
    "filter", "flag", "fund", "hold", "issue", "link", "list", "lock", "log", "look", "make", "mark", "message", "open",
    "order", "pack", "pay", "pin", "place", "post", "query", "record", "rent", "report", "return", "schedule", "search",
    "set", "ship", "show", "star", "start", "transfer", "view", "void", "watch",
}  # fmt: skip
_IRREGULAR = {
    "hold": "held", "pay": "paid", "send": "sent", "ship": "shipped", "stop": "stopped", "cancel": "cancelled",
    "submit": "submitted", "reopen": "open", "open": "open", "reactivate": "active", "activate": "active",
    "resume": "active", "restore": "active", "deactivate": "inactive", "freeze": "frozen", "withdraw": "withdrawn",
    "unlock": "unlocked", "unpublish": "unpublished", "ban": "banned", "pin": "pinned", "star": "starred",
    "hide": "hidden",
    "put": "put", "set": "set", "drop": "dropped", "find": "found", "make": "made", "write": "written",
}  # fmt: skip
_BREAKS = {"by", "for", "with", "from", "to", "in", "of", "on", "at", "using", "via", "as", "and", "into", "per"}
"""What ends the noun of an operation."""
_FILLERS = {
    "a", "all", "an", "api", "available", "batch", "bulk", "by", "complete", "current", "data", "detail", "details",
    "entry", "entries", "existing", "full", "history", "info", "information", "latest", "list", "many", "me",
    "multiple", "my", "new", "one", "own", "record", "records", "single", "specific", "summary", "the",
}  # fmt: skip
"""Words that say nothing about what a noun is."""
_LISTS = {"all", "list", "history", "many", "multiple", "entries", "records", "search", "browse", "query", "filter"}
"""Words that speak of several rows."""


def words(name: str) -> list[str]:
    """`findPetsByStatus` as find, pets, by, status."""
    return [word for word in snake(name).split("_") if word]


def act_of(word: str, first: bool = True) -> Act | None:
    """What a verb does; None for a word that is no verb of interfaces. Where it is not the `first` of its words, one
    that is as often a noun is none.
    """
    if undone(word):
        return "status"
    return _ACT_OF.get(word) if first or word not in _NOUNS_TOO else None


def undone(verb: str) -> str:
    """The verb that another one takes back: `lock` for `unlock`; empty for any other verb."""
    base = verb.removeprefix("un")
    return base if base != verb and (_ACT_OF.get(base) in ("status", "update") or base == "assign") else ""


def singular(word: str) -> str:
    return word if word.endswith("ss") else str(inflection.singularize(word))


def plural(word: str) -> str:
    return str(inflection.pluralize(word))


def is_plural(word: str) -> bool:
    return singular(word) != word and plural(word) == word


def says_many(found: list[str]) -> bool:
    """Whether words speak of several rows."""
    return any(word in _LISTS for word in found)


def noun(found: list[str]) -> tuple[list[str], bool]:
    """The words of a noun, the last one in the singular, and whether it was a plural: what stands before the first
    preposition, without fillers.
    """
    kept: list[str] = []
    for word in found:
        participle = word.endswith("ed") or word in ("sent", "made", "written")
        if kept and (word in _BREAKS or (participle and is_plural(kept[-1]))):
            break
        if word not in _FILLERS and word not in _BREAKS:
            kept.append(word)
    if not kept:
        return [], False
    many = is_plural(kept[-1])
    return [*kept[:-1], singular(kept[-1])], many


def after(found: list[str], *breaks: str) -> list[str]:
    """The words after the first of some prepositions."""
    return next((found[i + 1 :] for i, word in enumerate(found) if word in breaks), [])


def done(verb: str) -> str:
    """What a row is called once the verb was done to it: `cancel` gives `cancelled`."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if undone(verb):
        return "active"
    if verb.endswith("e"):
        return verb + "d"
    return re.sub(r"y$", "i", verb) + "ed" if re.search(r"[^aeiou]y$", verb) else verb + "ed"


def same_stem(verb: str, value: str) -> bool:
    """Whether a value is a form of what the verb leads to: `canceled`, `Cancelled`, `CLOSED`."""
    if undone(verb):
        return value.lower() in ("active", "open", "enabled", f"un{done(undone(verb))}")
    form, plain = done(verb), re.sub(r"[^a-z]", "", value.lower())
    stem = min(len(form), max(4, len(verb)))
    return plain == form or (len(plain) >= 4 and plain[: stem - 1] == form[: stem - 1])


def spoken(name: str) -> str:
    """`ticket_id` as people say it."""
    return " ".join(words(name)).replace(" id", " number") if words(name)[-1:] != ["id"] else " ".join(words(name))
