"""Where a long run of tokens may be broken, and what a break there is worth."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from forgec.formatting.keywords import (
    JOIN_PREFIXES,
    MAJOR_CLAUSES,
    MINOR_CLAUSES,
    QUERY_START,
    STATEMENT_WORD,
    operand_before,
)
from forgec.formatting.leaves import Leaf

_OPENING, _CLOSING = ("(", "[", "{"), (")", "]", "}")
_SETS = frozenset({"union", "intersect", "except"})
_COMBINING = _SETS | frozenset({"all", "distinct", "name"})


class Rank(IntEnum):
    """Kinds of places, the best first."""

    SET = 0
    """Before union, intersect, except."""
    CLAUSE = 1
    PART = 2
    """Before a join, a limit, what an update sets, and the like."""
    ROW = 3
    """Before a row of values, if there are several."""
    COMMA = 4
    BRANCH = 5
    """Before the condition of a join, and the parts of a case."""
    OR = 6
    AND = 7
    SUBQUERY = 8
    """Behind the bracket that opens one."""
    OPERATOR = 9
    BRACKET = 10


@dataclass
class Place:
    """Before which token: how deep in brackets a break there is, and its kind.

    `nested` says that an `and` is part of an `or`: the line that it begins stands deeper.
    """

    depth: int
    rank: Rank
    nested: bool = field(default=False, compare=False)


@dataclass
class _Open:
    """Something that is open: a bracket, a `case`, or the run itself.

    `first` is the word it starts with, `clause` that of its last clause, `row` the first row of values. `ands` are
    those of the condition that goes on, `either` says whether that has an `or`.
    """

    case: bool
    first: str
    clause: str = ""
    row: int = 0
    between: int = 0
    ands: list[Place] = field(default_factory=list)
    either: bool = False

    @property
    def query(self) -> bool:
        return self.first in QUERY_START

    def note(self, place: Place, word: str) -> None:
        """Take in a place, and the word there."""
        if place.rank is Rank.AND:
            self.ands.append(place)
        elif place.rank is Rank.OR:
            self.either = True
        elif place.rank <= Rank.BRANCH:
            self.end_condition()
        if place.rank is Rank.CLAUSE:
            self.clause = word

    def end_condition(self) -> None:
        for place in self.ands:
            place.nested = self.either
        self.ands, self.either = [], False


def opens(leaf: Leaf) -> bool:
    """Whether a token opens a bracket or a `case`."""
    return leaf.text in _OPENING or leaf.kind == "CASE"


def closes(leaf: Leaf) -> bool:
    """Whether a token closes a bracket or a `case`."""
    return leaf.text in _CLOSING or leaf.kind == "END"


def first_word(leaves: list[Leaf], i: int) -> str:
    """The keyword that SQL from a token on starts with, if it is one."""
    return leaves[i].word if i < len(leaves) and leaves[i].sql else ""


def find_places(leaves: list[Leaf], start: int) -> dict[int, Place]:
    """The places to break a run: index of the token that would begin a line -> what it is. SQL begins at `start`."""
    found: dict[int, Place] = {}
    opened = [_Open(False, first_word(leaves, start))]
    for i, leaf in enumerate(leaves):
        if leaf.text in _CLOSING and len(opened) > 1:
            opened.pop().end_condition()
        inside = opened[-1]
        rank = _rank(leaves, i, inside) if i else None
        if rank is not None and i != start and not (leaf.sql and STATEMENT_WORD.fullmatch(leaf.text)):
            found[i] = Place(len(opened) - (2 if rank is Rank.SUBQUERY else 1), rank)
            inside.note(found[i], leaf.word)
        if rank is Rank.ROW:
            found[inside.row] = Place(len(opened) - 1, rank)
        elif i and leaf.text == "(" and leaves[i - 1].word == inside.clause == "values":
            inside.row = i
        if leaf.word == "then":
            inside.end_condition()
        if leaf.kind == "END" and len(opened) > 1:
            opened.pop()
        if opens(leaf):
            opened.append(_Open(leaf.kind == "CASE", first_word(leaves, i + 1)))
    opened[0].end_condition()
    return found


def _rank(leaves: list[Leaf], i: int, inside: _Open) -> Rank | None:
    leaf, before = leaves[i], leaves[i - 1]
    if leaf.text in _CLOSING or leaf.text in (",", ";"):
        return None
    if leaf.rule == "doc":
        return Rank.CLAUSE
    if before.text in _OPENING:
        return Rank.SUBQUERY if inside.query else Rank.BRACKET
    if before.text == ",":
        return Rank.ROW if leaf.text == "(" and inside.row else Rank.COMMA
    if leaf.touches and not leaf.space:
        return None
    if not (leaf.sql and before.sql) or "." in (before.text, leaf.text) or before.word == "as":
        return None
    if leaf.word in _SETS and before.text != "*":
        return Rank.SET
    after = first_word(leaves, i + 1)
    if inside.query:
        if _is_clause(leaf.word, before, after, leaves[i - 2].word if i > 1 else ""):
            return Rank.CLAUSE
        if _is_part(leaf.word, before.word, after, inside.first):
            return Rank.PART
    return _inner_rank(leaf, before, inside)


def _is_clause(word: str, before: Leaf, after: str, earlier: str) -> bool:
    if word not in MAJOR_CLAUSES:
        return False
    if word == "select":
        return before.word not in _COMBINING
    if word == "from":
        return before.word != "delete" and not (before.word == "distinct" and earlier in ("is", "not"))
    if word in ("group", "order"):
        return after in ("by", "all")
    return True


def _is_part(word: str, before: str, after: str, first: str) -> bool:
    if word == "set":
        return first == "update"
    if word in JOIN_PREFIXES:
        return before not in JOIN_PREFIXES and (after in JOIN_PREFIXES or after in ("join", "outer"))
    return word in MINOR_CLAUSES and before not in JOIN_PREFIXES | {"outer"}


def _inner_rank(leaf: Leaf, before: Leaf, inside: _Open) -> Rank | None:
    if inside.case and (leaf.word in ("when", "else") or leaf.kind == "END"):
        return Rank.BRANCH
    if leaf.word == "between":
        inside.between += 1
    elif leaf.word == "and" and inside.between:
        inside.between -= 1
    elif leaf.word in ("and", "or"):
        return Rank.AND if leaf.word == "and" else Rank.OR
    elif leaf.word == "on" and inside.query:
        return Rank.BRANCH
    elif leaf.kind == "OP" and leaf.space and leaf.text != ":" and operand_before(before):
        return Rank.OPERATOR
    return None
