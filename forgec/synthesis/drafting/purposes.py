"""What each operation is for, by its name, its method and path, and the shape of what it gives."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from forgec.documents import Api, Operation, Shape
from forgec.starting.names import snake
from forgec.synthesis.drafting.words import (
    BEGINS,
    ITSELF,
    NOMINAL,
    PHRASES,
    Act,
    act_of,
    after,
    noun,
    says_many,
    singular,
    words,
)

Kind: TypeAlias = Literal[
    "create", "one", "many", "update", "delete", "status", "count", "login", "logout", "session", "add", "calculate",
    "handover", "unknown"
]  # fmt: skip

_LOGIN = re.compile(r"(log|sign)_?in(?!g)|authenticate")
_ASKS = re.compile(r"^(is|am|check|get)_.*(logged|signed)_?in|^whoami$")
_HANDOVER = re.compile(r"(transfer|escalate|hand_?over)_(.*_)?(human|agent|person|operator)")
_LOGOUT = re.compile(r"(log|sign)_?(out|off)")
_AMOUNTS = {"amount", "points", "quantity", "units"}
_COUNTS = {"count", "stats", "statistics"}
_ENDS = re.compile(r"_?(id|uuid|number|no|code|key|name|reference|ref)$")
"""The ends of names that tell which row is meant."""
ROLES = re.compile(r"^(from|to|source|target|src|dst|sender|receiver|recipient|origin|destination|new|old)_")
"""What stands before the name of a thing where several of it, or another one, are named."""


@dataclass(frozen=True)
class Purpose:
    """What an operation is for: `verb` is the word that says so, `noun` the one thing that it is done to, and
    `qualifiers` what else stands before that in the name.
    """

    operation: Operation
    kind: Kind
    verb: str
    noun: str
    qualifiers: tuple[str, ...] = ()
    attribute: str = ""
    """Which part of the thing it is about: `get_user_id` is about the id of a user."""
    before: str = ""
    """The noun in front of the verb, where there is one, too: `store_search_recommended`."""
    many: bool = False
    """Whether it speaks of several rows."""
    member: bool = False
    """Whether it puts a value into a collection, or takes one out: `add_to_watchlist`."""
    late: bool = False
    """Whether it speaks of the latest row alone."""
    into: str = ""
    """The status that it leads to, where the name says so: `mark_as_read`, `check_in`."""
    joins: bool = False
    """Whether it brings two things together, or takes them apart: `add_student_to_course`."""
    moves: bool = False
    """Whether it moves an amount from one row to another of the same table."""


def purposes(api: Api) -> list[Purpose]:
    """The purposes of all operations, in order. A compound noun is cut to its last word where that is a noun of other
    operations: `user_ticket` beside `ticket` is a ticket.
    """
    found = [_purpose(operation, api) for operation in api.operations]
    nouns = Counter(one.noun for one in found if one.noun)
    found = _collected(found)
    found = [_joined(one, found, nouns) for one in found]
    firm = Counter(one.noun for one in found if one.noun and not one.before)
    return [_cut(_about(one, nouns), nouns, firm) for one in found]


def _joined(purpose: Purpose, found: list[Purpose], nouns: Counter[str]) -> Purpose:
    """What is added to a thing, or taken from it, where both are named: rows that say which belongs to which."""
    goal = _goal(purpose)
    if purpose.kind not in ("create", "delete") or purpose.member:
        return purpose
    if not goal and _pairs(purpose, found):
        return replace(purpose, joins=True)
    if not goal or not nouns[goal]:
        return purpose
    asked = {_stem(one.name): snake(one.name) for one in purpose.operation.parameters if one.required}
    if not {goal, purpose.noun} <= asked.keys():
        return purpose
    plain = asked[purpose.noun] == purpose.noun  # a value, unless there is more to be done with it
    if plain and any(one.noun == purpose.noun and _goal(one) != goal for one in found):
        return purpose
    return replace(purpose, noun=f"{goal}_{purpose.noun}", joins=True)


def _pairs(purpose: Purpose, found: list[Purpose]) -> bool:
    """Whether a thing is made and deleted by the same parameters, none of which is its own: `add_skill`,
    `remove_skill` of an employee.
    """
    both = {one.kind: one for one in found if one.noun == purpose.noun and one.kind in ("create", "delete")}
    asked = [{snake(p.name) for p in one.operation.parameters if p.required} for one in both.values()]
    alone = len(asked) == 2 and asked[0] == asked[1] and len(asked[0]) > 1
    keys = {f"{purpose.noun}_{end}" for end in ("id", "number", "code", "key", "name")} | {"id"}
    return (
        alone
        and not any(one.kind not in ("create", "delete", "many") for one in found if one.noun == purpose.noun)
        and not asked[0] & keys
    )


def _about(purpose: Purpose, nouns: Counter[str]) -> Purpose:
    """What is made by a verb, and not named: `reserve_room` makes a reservation where others are about reservations.
    What is moved to a status, and not named, is what the parameters name.
    """
    made = NOMINAL.get(purpose.verb, "")
    if purpose.kind == "create" and nouns[made]:
        return replace(purpose, noun=made)
    asked = [snake(one.name) for one in purpose.operation.parameters if one.required]
    own = {purpose.noun, purpose.noun.rpartition("_")[2], ""}
    if purpose.kind == "status" and purpose.verb in BEGINS and asked and not any(_stem(name) in own for name in asked):
        if nouns[purpose.noun] > 1:
            return replace(purpose, kind="create")
    if purpose.kind == "unknown" and any(name.startswith("new_") for name in asked):
        return replace(purpose, kind="update")
    if purpose.kind == "status" and nouns[purpose.noun] <= (1 if purpose.noun else len(nouns)):
        named = [one for one in purpose.operation.parameters if one.required and _ENDS.search(snake(one.name))]
        stems = [stem for one in named if (stem := _stem(one.name)) != purpose.noun and nouns[stem]]
        if stems and not any(_stem(one.name) == purpose.noun for one in named):
            return replace(purpose, noun=stems[0], qualifiers=(*purpose.qualifiers, purpose.noun))
    return purpose


def _stem(name: str) -> str:
    """`ticket` of `ticket_id`."""
    return _ENDS.sub("", snake(name))


def _collected(found: list[Purpose]) -> list[Purpose]:
    """What is added to, or removed from, something that an operation lists plain values of is a member of that."""
    lists = {
        one.noun for one in found if one.kind in ("one", "many") and not one.operation.parameters and is_plain_list(one)
    }
    return [
        replace(one, noun=goal, member=True)
        if one.kind in ("create", "delete") and (goal := _goal(one)) in lists and len(one.operation.parameters) == 1
        else one
        for one in found
    ]


def _goal(purpose: Purpose) -> str:
    """What something is put into, or taken out of."""
    return "_".join(noun(after(words(purpose.operation.name), "to", "from", "in", "into"))[0])


def is_plain_list(purpose: Purpose) -> bool:
    """Whether an operation gives a list of texts or numbers, as it is or alone in a record."""
    shape = purpose.operation.result
    inner = shape.fields[0].shape if shape is not None and len(shape.fields) == 1 else shape
    return inner is not None and inner.kind == "list" and inner.of is not None and inner.of.kind in ("text", "integer")


def _cut(purpose: Purpose, nouns: Counter[str], firm: Counter[str]) -> Purpose:
    if purpose.joins or purpose.moves:
        return purpose
    if purpose.before and not firm[purpose.noun]:
        ends = [noun for noun in firm if noun == purpose.before or noun.endswith(f"_{purpose.before}")]
        if ends:
            return replace(purpose, noun=max(ends, key=lambda noun: nouns[noun]))
    if purpose.kind == "add" and not firm[purpose.noun] - 1:
        return replace(purpose, noun="account")
    parts = purpose.noun.split("_")
    for start in range(1, len(parts)):
        rest = "_".join(parts[start:])
        if nouns[rest]:
            return replace(purpose, noun=rest, qualifiers=(*parts[:start], *purpose.qualifiers))
    if (
        purpose.kind == "one"
        and nouns[purpose.noun] == 1
        and purpose.operation.parameters
        and not purpose.operation.path
    ):
        # whose it is may stand in the parameters: `check_balance(user_name)`
        for parameter in purpose.operation.parameters:
            owner = re.sub(r"_?(name|id)$", "", snake(parameter.name))
            if owner != purpose.noun and (nouns[owner] or owner == "user") and parameter.required:
                return replace(purpose, noun=owner, attribute=purpose.noun.removeprefix(f"{owner}_"))
    if purpose.kind in ("one", "update"):
        for start in range(len(parts)):
            for end in range(len(parts) - 1, start, -1):
                thing = "_".join(parts[start:end])
                if nouns[thing] and thing != purpose.noun:
                    return replace(
                        purpose, noun=thing, attribute="_".join(parts[end:]), qualifiers=tuple(parts[:start])
                    )
    return purpose


def _purpose(operation: Operation, api: Api) -> Purpose:
    named = words(operation.name)
    joined = "_".join(named)
    at = next((i for i, word in enumerate(named[:4]) if act_of(word, first=not i) is not None), None)
    if at is None:
        at = next((i for i, word in enumerate(named[:4]) if act_of(word) == "read"), None)
    late = bool(re.search(r"\b(latest|last|most recent|newest)\b", f"{joined.replace('_', ' ')} {operation.doc}", re.I))
    if _ASKS.search(joined):
        return Purpose(operation, "session", "log", "")
    if _LOGOUT.search(joined):
        return Purpose(operation, "logout", "log", "")
    if _LOGIN.search(joined):
        asks = at is not None and act_of(named[at]) == "read"
        return Purpose(operation, "session" if asks or "status" in named else "login", "log", "")
    if named == ["calculate"]:
        return Purpose(operation, "calculate", "calculate", "")
    if _HANDOVER.search(joined):
        return Purpose(operation, "handover", "transfer", "")
    verb = named[at] if at is not None else ""
    act: Act | None = act_of(verb)
    rest = named[at + 1 :] if at is not None else named
    routed = _route(operation) if operation.path else None
    if routed is not None and (act is None or operation.method in ("put", "patch", "delete")):
        act_, verb_ = routed[1]
        if act is None or act_ != "status":
            act, verb = (act_, verb_ or verb or operation.method)
    into = ""
    if (phrase := PHRASES.get((named[0], named[1]) if len(named) > 1 else ("", ""))) and operation.method != "get":
        act, verb, into, rest, at = "status", named[0], phrase, named[2:], 0
    elif verb == "mark" and (state := after(rest, "as")):
        into, rest = "_".join(state), rest[: rest.index("as")]
    thing, plural = noun(rest)
    if act == "create" and verb in ITSELF and at == 0:
        thing, plural = [verb], False
    moves = verb in ("transfer", "move", "send") and _moves(operation)
    if moves:
        act, thing = "create", [*thing, "transfer"]
    if act == "add" and not any(one.shape.kind in ("number", "integer") for one in operation.parameters):
        act = "status"
    if routed is not None and routed[0]:
        thing, plural = [routed[0]], plural
    named_shape = _named(operation.result, api)
    if named_shape and (not thing or (not operation.path and named_shape == "_".join(thing))):
        thing = [named_shape]
    many = plural or says_many(named) or _is_list(operation.result)
    sends_file = verb == "upload" and "{" in operation.path
    kind: Kind = "count" if _COUNTS & set(named) else "unknown" if sends_file else _kind(act, many, operation)
    before = "_".join(noun(named[:at])[0]) if at else ""
    return Purpose(
        operation, kind, verb, "_".join(thing) or before, before=before, many=many, late=late, into=into, moves=moves
    )


def _moves(operation: Operation) -> bool:
    """Whether two parameters name things of one kind, from and to which a third says how much is moved."""
    names = [snake(one.name) for one in operation.parameters]
    kinds = Counter(_stem(ROLES.sub("", name)) for name in names if ROLES.search(name))
    amounts = [
        one
        for one in operation.parameters
        if one.shape.kind == "number" or (one.shape.kind == "integer" and snake(one.name) in _AMOUNTS)
    ]
    return any(count == 2 for count in kinds.values()) and len(amounts) == 1


def _kind(act: str | None, many: bool, operation: Operation) -> Kind:
    if act == "read":
        required = [p for p in operation.parameters if p.required]
        if _is_list(operation.result):
            return "many"
        if operation.path.rstrip("/").endswith("}") or (required and not many):
            return "one"
        return "many" if many else "one"
    if act in ("create", "update", "delete", "status", "count", "add"):
        return act  # type: ignore[return-value]  # one of the literals
    return "unknown"


def _route(operation: Operation) -> tuple[str, tuple[Act | None, str]] | None:
    """The noun of a path, and what its method, or a verb at its end, does to it."""
    segments = [part for part in operation.path.split("/") if part]
    holes = [part.startswith(("{", ":")) for part in segments]
    ends_in_hole = bool(holes) and holes[-1]
    plain = [
        part for part, hole in zip(segments, holes, strict=True) if not hole and not re.fullmatch(r"v\d+|api", part)
    ]
    verb = ""
    called = words(operation.name)[:1]
    while len(plain) > 1 and (last := words(plain[-1])):
        if act_of(last[0], first=len(last) > 1) is None and (last != called or operation.method != "post"):
            break
        verb = last[0]
        plain.pop()
    thing = singular("_".join(words(plain[-1]))) if plain else ""
    if verb and operation.method in ("post", "put", "patch"):
        return thing, (act_of(verb), verb)
    by_method: Mapping[str, Act] = {
        "get": "read", "post": "update" if ends_in_hole else "create", "put": "update", "patch": "update",
        "delete": "delete",
    }  # fmt: skip
    return thing, (by_method.get(operation.method), "")


def _named(result: Shape | None, api: Api) -> str:
    """The noun of the record that a result is made of."""
    if result is None:
        return ""
    inner = result.of if result.kind == "list" and result.of is not None else result
    return snake(inner.name) if inner.name in api.schemas else ""


def _is_list(result: Shape | None) -> bool:
    """Whether a result is a list of rows, or a record around one."""
    if result is None:
        return False
    if result.kind == "list":
        return True
    lists: Sequence[Shape] = [field.shape for field in result.fields if field.shape.kind == "list"]
    scalars = [field for field in result.fields if field.shape.kind in ("text", "number", "date", "timestamp")]
    return len(lists) == 1 and not scalars
