"""What a condition can come to, by trying the few values of each of its terms that make a difference.

A condition is taken apart at `and`, `or`, `not` and comparisons; whatever else it consists of is a term, which may
have any value of its type, and NULL where it may be NULL. Of numbers and dates those matter that it is compared with,
and one between each two; of texts those that it is compared with, and another one; enums and booleans have few. Two
terms that are compared with each other are less, equal or greater. That leaves more open than there is, never less, so
what is found to be always so is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from itertools import pairwise, product

from forgec.source import Span
from forgec.sql.infer import infer
from forgec.sql.nulls import may_be_null
from forgec.sql.tree import exp
from forgec_runtime.types import Boolean, Date, Enum, Integer

Outcome = bool | None
"""True, false, or NULL."""
Point = bool | str | Decimal | None

MAX_CASES = 200
_OTHER = "\uffff"
"""A text that nothing is compared with."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_COMPARED: dict[type[exp.Expr], frozenset[str]] = {
    exp.EQ: frozenset("="), exp.NEQ: frozenset("<>"), exp.LT: frozenset("<"), exp.LTE: frozenset("<="),
    exp.GT: frozenset(">"), exp.GTE: frozenset(">="),
}  # fmt: skip
_FLIPPED = {"<": ">", "=": "=", ">": "<"}


class Undecided(Exception):
    """There are too many cases, or a comparison of values that do not compare."""


@dataclass(frozen=True)
class Fact:
    """A condition whose outcome is known to be one of some.

    `span` is where a body makes sure of it, and `state` whether that is about the state, which writes change.
    """

    tree: exp.Expr
    outcomes: frozenset[Outcome]
    span: Span | None = None
    state: bool = False

    @cached_property
    def about(self) -> frozenset[int]:
        """The hashes of its terms, to tell quickly whether it can matter."""
        return frozenset(map(hash, terms_of(self.tree)))


@dataclass
class _Terms:
    """The terms of some conditions: the constants that each is compared with, and the pairs that are compared."""

    constants: dict[exp.Expr, set[bool | str | Decimal]] = field(default_factory=dict)
    pairs: dict[tuple[exp.Expr, exp.Expr], None] = field(default_factory=dict)

    def visit(self, node: exp.Expr) -> None:
        """Take a condition apart."""
        node = _bare(node)
        if isinstance(node, exp.And | exp.Or):
            self.visit(node.this)
            self.visit(node.expression)
        elif isinstance(node, exp.Not):
            self.visit(node.this)
        elif type(node) in _COMPARED:
            self._compared(node.this, node.expression, type(node))
        elif isinstance(node, exp.Between):
            self._compared(node.this, node.args["low"], exp.GTE)
            self._compared(node.this, node.args["high"], exp.LTE)
        elif isinstance(node, exp.In) and node.args.get("query") is None:
            for element in node.expressions:
                self._compared(node.this, element, exp.EQ)
        elif isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
            self.visit(node.this) if _is_condition(node.this) else self._term(node.this)
        elif not isinstance(node, exp.Null | exp.Boolean):
            self._term(node)

    def _term(self, node: exp.Expr, *constants: bool | str | Decimal) -> None:
        self.constants.setdefault(_bare(node), set()).update(constants)

    def _compared(self, left: exp.Expr, right: exp.Expr, kind: type[exp.Expr]) -> None:
        left, right = _bare(left), _bare(right)
        if _is_condition(left) and _is_condition(right):
            self.visit(left)
            self.visit(right)
            return
        if _is_constant(left) and _is_constant(right):
            return
        if _is_constant(left):
            left, right = right, left
        if _by_value(left, right, kind):
            value = _constant(right)
            self._term(left, *([value] if value is not None else []))
            return
        if left != right and (right, left) not in self.pairs:
            self.pairs[left, right] = None
        for side in (left, right):
            if not _is_constant(side) and may_be_null(side):
                self._term(side)

    def keys(self) -> set[exp.Expr]:
        return {*self.constants, *(side for pair in self.pairs for side in pair if not _is_constant(side))}

    def cases(self) -> int:
        size: int = 3 ** len(self.pairs)
        for term in self.constants:
            size *= len(self.points(term))
        return size

    def points(self, term: exp.Expr) -> list[Point]:
        """The values of a term that make a difference."""
        return [*_points(term, self.constants[term]), *([None] if may_be_null(term) else [])]


def outcomes(condition: exp.Expr, facts: Iterable[Fact]) -> frozenset[Outcome]:
    """What a condition can come to where the facts hold; not all of it where it can be both true and false.

    Nothing at all where they contradict each other. Raises `Undecided`.
    """
    terms = _Terms()
    terms.visit(condition)
    if terms.cases() > MAX_CASES:
        raise Undecided
    used, terms = _relevant(terms, list(facts), condition)
    names, pairs = list(terms.constants), list(terms.pairs)
    found: set[Outcome] = set()
    for points in product(*(terms.points(name) for name in names), *("<=>" for _ in pairs)):
        case = _Case(dict(zip(names, points, strict=False)), dict(zip(pairs, points[len(names) :], strict=True)))
        if all(case.outcome(fact.tree) in fact.outcomes for fact in used):
            found.add(case.outcome(condition))
            if {True, False} <= found:
                break
    return frozenset(found)


def terms_of(condition: exp.Expr) -> set[exp.Expr]:
    """The terms of a condition."""
    terms = _Terms()
    terms.visit(condition)
    return terms.keys()


def _relevant(terms: _Terms, facts: list[Fact], condition: exp.Expr) -> tuple[list[Fact], _Terms]:
    """The facts that have to do with a condition, as many as can be looked at, and the terms of all."""
    used: list[Fact] = []
    for fact in facts:
        if fact.about.isdisjoint(map(hash, terms.keys())):
            continue
        more = _Terms()
        for tree in (condition, *(one.tree for one in used), fact.tree):
            more.visit(tree)
        if more.cases() <= MAX_CASES:
            used.append(fact)
            terms = more
    return used, terms


@dataclass(frozen=True)
class _Case:
    """Values of terms, and how pairs of them compare."""

    values: dict[exp.Expr, Point | str]
    pairs: dict[tuple[exp.Expr, exp.Expr], Point | str]

    def outcome(self, node: exp.Expr) -> Outcome:
        node = _bare(node)
        if isinstance(node, exp.And):
            return _and(self.outcome(node.this), self.outcome(node.expression))
        if isinstance(node, exp.Or):
            return _not(_and(_not(self.outcome(node.this)), _not(self.outcome(node.expression))))
        if isinstance(node, exp.Not):
            return _not(self.outcome(node.this))
        if type(node) in _COMPARED:
            return self._compared(node.this, node.expression, type(node))
        if isinstance(node, exp.Between):
            low = self._compared(node.this, node.args["low"], exp.GTE)
            return _and(low, self._compared(node.this, node.args["high"], exp.LTE))
        if isinstance(node, exp.In) and node.args.get("query") is None:
            found: Outcome = False
            for element in node.expressions:
                found = _not(_and(_not(found), _not(self._compared(node.this, element, exp.EQ))))
            return found
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
            return self._value(node.this) is None
        value = self._value(node)
        if value is not None and not isinstance(value, bool):
            raise Undecided
        return value

    def _value(self, node: exp.Expr) -> Point | str:
        node = _bare(node)
        if _is_constant(node):
            return _constant(node)
        if node in self.values:
            return self.values[node]
        if _is_condition(node):
            return self.outcome(node)
        raise Undecided

    def _compared(self, left: exp.Expr, right: exp.Expr, kind: type[exp.Expr]) -> Outcome:
        left, right = _bare(left), _bare(right)
        if left == right and not _is_constant(left) and not _is_condition(left):
            return None if self.values.get(left, "") is None else "=" in _COMPARED[kind]
        for pair, flip in (((left, right), False), ((right, left), True)):
            if pair in self.pairs:
                if any(side in self.values and self.values[side] is None for side in pair):
                    return None
                how = str(self.pairs[pair])
                return (_FLIPPED[how] if flip else how) in _COMPARED[kind]
        a, b = self._value(left), self._value(right)
        if a is None or b is None:
            return None
        if kind in (exp.EQ, exp.NEQ):
            return (a == b) == (kind is exp.EQ)
        if isinstance(a, bool | str) is not isinstance(b, bool | str):
            raise Undecided
        return ("<" if a < b else ">" if a > b else "=") in _COMPARED[kind]  # type: ignore[operator]


def _bare(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _is_condition(node: exp.Expr) -> bool:
    """Whether a node is taken apart: it is no term."""
    node = _bare(node)
    if isinstance(node, exp.In):
        return node.args.get("query") is None
    if isinstance(node, exp.Is):
        return isinstance(node.expression, exp.Null)
    return isinstance(node, exp.And | exp.Or | exp.Not | exp.Between | exp.Boolean) or type(node) in _COMPARED


def _is_constant(node: exp.Expr) -> bool:
    return isinstance(node, exp.Null) or _constant(node) is not None


def _constant(node: exp.Expr) -> bool | str | Decimal | None:
    """The value of a number, text, day or boolean that is written out."""
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Neg) and isinstance(_bare(node.this), exp.Literal):
        value = _constant(_bare(node.this))
        return -value if isinstance(value, Decimal) else None
    if isinstance(node, exp.Cast) and isinstance(node.this, exp.Literal) and node.to.is_type("DATE"):
        return node.this.name if _DAY.fullmatch(node.this.name) else None
    if isinstance(node, exp.Literal):
        return node.name if node.is_string else Decimal(node.name)
    return None


def _by_value(term: exp.Expr, constant: exp.Expr, kind: type[exp.Expr]) -> bool:
    """Whether comparing a term with a constant is a matter of the values of the term."""
    if not _is_constant(constant):
        return False
    value, type_ = _constant(constant), infer(term)
    if isinstance(value, str) and isinstance(type_, Date):
        return _DAY.fullmatch(value) is not None
    if isinstance(value, Decimal):
        return type_ is None or not isinstance(type_, Boolean | Date)
    return kind in (exp.EQ, exp.NEQ)


def _points(term: exp.Expr, constants: set[bool | str | Decimal]) -> Sequence[Point]:
    type_ = infer(term)
    if isinstance(type_, Boolean):
        return [True, False]
    if isinstance(type_, Enum):
        return list(type_.values)
    texts = sorted(value for value in constants if isinstance(value, str))
    numbers = sorted(value for value in constants if isinstance(value, Decimal))
    if isinstance(type_, Date):
        return ["", *(point for day in texts for point in (day, day + _OTHER))]
    if len(texts) + len(numbers) < len(constants) or (texts and numbers):
        raise Undecided
    if texts or not numbers:
        return [*texts, _OTHER]
    whole = isinstance(type_, Integer)
    return [*_numbers(numbers, whole)]


def _numbers(numbers: list[Decimal], whole: bool) -> Iterator[Decimal]:
    """The numbers, one below and one above all, and one between each two; of whole ones, those that there are."""
    below = numbers[0].to_integral_value(rounding="ROUND_FLOOR") - 1
    above = numbers[-1].to_integral_value(rounding="ROUND_CEILING") + 1
    for point in (below, *numbers, *(_between(a, b, whole) for a, b in pairwise(numbers)), above):
        if point is not None and (not whole or point == point.to_integral_value()):
            yield point


def _between(a: Decimal, b: Decimal, whole: bool) -> Decimal | None:
    if not whole:
        return (a + b) / 2
    point = a.to_integral_value(rounding="ROUND_FLOOR") + 1
    return point if point < b else None


def _and(a: Outcome, b: Outcome) -> Outcome:
    if a is False or b is False:
        return False
    return None if a is None or b is None else True


def _not(a: Outcome) -> Outcome:
    return None if a is None else not a
