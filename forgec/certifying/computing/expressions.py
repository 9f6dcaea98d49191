"""Expressions of queries as Python functions of a frame: the values of a call, and the rows that are looked at.

Exact for what stands here; all else raises `NoTwin`, and is DuckDB's to compute. Numbers that come near the limits of
DuckDB's types raise `Unsure` as they are computed.
"""

from __future__ import annotations

import datetime
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlglot import exp

from forgec.certifying.computing.kinds import (
    BOOLEAN,
    DATE,
    INTEGER,
    MOST_DIGITS,
    NULL,
    NUMBERS,
    ORDERED,
    PARTED,
    TEXT,
    TIMESTAMP,
    Kind,
    NoTwin,
    Unsure,
    checked,
    compared,
    kind,
    united,
)
from forgec_runtime import sql

if TYPE_CHECKING:
    from forgec.certifying.computing.selects import Selects

Frame = list[Any]
"""The values of a call, what it sees, and then the row of each source, or what is grouped, in places of their own."""
Of = Callable[[Frame], Any]
FAR = 2**31
"""Numbers from here on are DuckDB's: it may not have the room for what is made of them."""
MOST_PLACES = 9


class Made(NamedTuple):
    """An expression: what it is, and what computes it."""

    kind: Kind
    of: Of


@dataclass(frozen=True)
class Scope:
    """What names stand for: the place in the frame of each source, with the kinds of its columns. `group` is the place
    of the rows of a group, where aggregates are allowed.
    """

    values: Mapping[str, tuple[int, Kind]]
    sources: Mapping[str, tuple[int, Mapping[str, Kind]]] = field(default_factory=dict)
    group: tuple[int, tuple[int, ...]] | None = None


class Expressions:
    """Makes functions of expressions; selects inside them are made by `selects`."""

    def __init__(self, selects: Selects) -> None:
        self.selects = selects

    def made(self, tree: exp.Expr, scope: Scope) -> Made:
        """The function of an expression. Raises `NoTwin`."""
        maker = _MAKERS.get(type(tree))
        if maker is None:
            raise NoTwin(type(tree).__name__)
        return maker(self, tree, scope)

    def all(self, trees: list[exp.Expr], scope: Scope) -> list[Made]:
        return [self.made(tree, scope) for tree in trees]


# -- values ----------------------------------------------------------------------------------------------------------


def _constant(kind_: Kind, value: Any) -> Made:
    return Made(kind_, lambda frame: value)


def _literal(of: Expressions, tree: exp.Expr, scope: Scope) -> Made:
    if tree.is_string:
        return _constant(TEXT, tree.this)
    if re.fullmatch(r"\d{1,9}", tree.this):
        return _constant(INTEGER, int(tree.this))
    if re.fullmatch(r"\d{1,9}\.\d{1,9}", tree.this):
        whole, _, places = tree.this.partition(".")
        return _constant(Kind("decimal", len(places), len(whole)), Decimal(tree.this))
    raise NoTwin("a number that is far out")


def _boolean(of: Expressions, tree: exp.Expr, scope: Scope) -> Made:
    return _constant(BOOLEAN, bool(tree.this))


def _null(of: Expressions, tree: exp.Expr, scope: Scope) -> Made:
    return _constant(NULL, None)


def _column(of: Expressions, tree: exp.Expr, scope: Scope) -> Made:
    """`source.column.field`, `column.field` where one source has it, `call.value.field`."""
    assert isinstance(tree, exp.Column)
    first, *rest = [part.name for part in tree.parts]
    if first == "call" and rest and rest[0] in scope.values:
        place, kind_ = scope.values[rest[0]]
        return _fields(Made(kind_, lambda frame: frame[0][place]), rest[1:])
    if first in scope.sources and rest:
        return _fields(_of_row(*scope.sources[first], rest[0]), rest[1:])
    having = [source for source in scope.sources.values() if first in source[1]]
    if len(having) != 1:
        raise NoTwin(f"no column {first}")
    return _fields(_of_row(*having[0], first), rest)


def _of_row(slot: int, columns: Mapping[str, Kind], name: str) -> Made:
    if name not in columns:
        raise NoTwin(f"no column {name}")
    return Made(columns[name], lambda frame: frame[slot][name])


def _fields(made: Made, names: list[str]) -> Made:
    for name in names:
        made = _field(made, name)
    return made


def _field(record: Made, name: str) -> Made:
    kind_, whole = record.kind.part(name), record.of
    check = checked(kind_)

    def of(frame: Frame) -> Any:
        value = whole(frame)
        if value is None:
            return None
        if type(value) is not dict:
            raise Unsure
        return check(value[name])

    return Made(kind_, of)


def _cast(of: Expressions, tree: exp.Expr, scope: Scope) -> Made:
    made, wanted = of.made(tree.this, scope), kind(tree.args["to"])
    value = made.of
    if made.kind == NULL or (made.kind == wanted and wanted.name != "decimal" and wanted.name in ORDERED):
        return Made(wanted, value)
    if made.kind.name in NUMBERS and wanted.name == "decimal":
        digits, places = (int(one.name) for one in tree.args["to"].expressions)
        return Made(wanted, lambda frame: sql.decimal_(value(frame), digits, places))
    if made.kind == TEXT and wanted in _WRITTEN:
        read = _WRITTEN[wanted]
        return Made(wanted, lambda frame: read(value(frame)))
    raise NoTwin(f"{made.kind.name} as {wanted.name}")


def _read(pattern: str, read: Callable[[str], Any]) -> Callable[[str | None], Any]:
    """What reads texts that are written as DuckDB writes values, and raises `Unsure` for others."""
    plain = re.compile(pattern)

    def of(text: str | None) -> Any:
        if text is None:
            return None
        if plain.fullmatch(text) is None:
            raise Unsure
        try:
            return read(text)
        except ValueError:
            raise Unsure from None

    return of


_WRITTEN = {
    DATE: _read(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", datetime.date.fromisoformat),
    TIMESTAMP: _read(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}", datetime.datetime.fromisoformat),
}


def _array(of: Expressions, tree: exp.Expr, scope: Scope) -> Made:
    made = of.all(tree.expressions, scope)
    if len({one.kind for one in made}) != 1:
        raise NoTwin("elements that differ")
    values = [one.of for one in made]
    return Made(Kind("list", parts=(("", made[0].kind),)), lambda frame: [value(frame) for value in values])


def _record(of: Expressions, tree: exp.Expr, scope: Scope) -> Made:
    if not all(isinstance(one, exp.PropertyEQ) for one in tree.expressions):
        raise NoTwin("fields without names")
    made = {one.this.name: of.made(one.expression, scope) for one in tree.expressions}
    kind_ = Kind("record", parts=tuple((name, one.kind) for name, one in made.items()))
    return Made(kind_, lambda frame: {name: one.of(frame) for name, one in made.items()})


# -- logic -----------------------------------------------------------------------------------------------------------


def _paren(of: Expressions, tree: exp.Expr, scope: Scope) -> Made:
    return of.made(tree.this, scope)


def _truth(made: Made) -> Of:
    if made.kind not in (BOOLEAN, NULL):
        raise NoTwin("no condition")
    return made.of


def _logic(decisive: bool) -> Maker:
    def make(of: Expressions, tree: exp.Expr, scope: Scope) -> Made:
        left, right = (_truth(one) for one in of.all([tree.this, tree.expression], scope))

        def both(frame: Frame) -> Any:
            a = left(frame)
            if a is decisive:
                return decisive
            b = right(frame)
            return decisive if b is decisive else None if a is None or b is None else not decisive

        return Made(BOOLEAN, both)

    return make


def _not(of: Expressions, tree: exp.Expr, scope: Scope) -> Made:
    value = _truth(of.made(tree.this, scope))
    return Made(BOOLEAN, lambda frame: sql.not_(value(frame)))


def _comparison(holds: Callable[[Any, Any], Any]) -> Maker:
    def make(of: Expressions, tree: exp.Expr, scope: Scope) -> Made:
        left, right = of.all([tree.this, tree.expression], scope)
        compared(left.kind, right.kind)
        a, b = left.of, right.of

        def compare(frame: Frame) -> Any:
            x, y = a(frame), b(frame)
            return None if x is None or y is None else holds(x, y)

        return Made(BOOLEAN, compare)

    return make


def _is(of: Expressions, tree: exp.Expr, scope: Scope) -> Made:
    if not isinstance(tree.expression, exp.Null):
        raise NoTwin("`is` of more than NULL")
    value = of.made(tree.this, scope).of
    return Made(BOOLEAN, lambda frame: value(frame) is None)


def _in(of: Expressions, tree: exp.Expr, scope: Scope) -> Made:
    if not tree.expressions:
        raise NoTwin("`in` a select")
    subject, *others = of.all([tree.this, *tree.expressions], scope)
    for other in others:
        compared(subject.kind, other.kind)
    return Made(BOOLEAN, lambda frame: sql.in_(subject.of(frame), *(other.of(frame) for other in others)))


def _between(of: Expressions, tree: exp.Expr, scope: Scope) -> Made:
    value, low, high = of.all([tree.this, tree.args["low"], tree.args["high"]], scope)
    compared(value.kind, low.kind)
    compared(value.kind, high.kind)
    return Made(BOOLEAN, lambda frame: sql.between(value.of(frame), low.of(frame), high.of(frame)))


def _case(of: Expressions, tree: exp.Expr, scope: Scope) -> Made:
    if tree.this is not None:
        raise NoTwin("`case` of a value")
    tests = [_truth(of.made(one.this, scope)) for one in tree.args["ifs"]]
    results = of.all([one.args["true"] for one in tree.args["ifs"]], scope)
    default = of.made(tree.args.get("default") or exp.Null(), scope)

    def chosen(frame: Frame) -> Any:
        for test, result in zip(tests, results, strict=True):
            if test(frame) is True:
                return result.of(frame)
        return default.of(frame)

    return Made(united(one.kind for one in (*results, default)), chosen)


def _among(choose: Callable[..., Any], *, ordered: bool) -> Maker:
    def make(of: Expressions, tree: exp.Expr, scope: Scope) -> Made:
        parts = of.all([tree.this, *tree.expressions], scope)
        kind_ = united(one.kind for one in parts)
        if ordered and kind_.name not in ORDERED:
            raise NoTwin("no plain comparison")
        values = [one.of for one in parts]
        return Made(kind_, lambda frame: choose(*(value(frame) for value in values)))

    return make


# -- numbers, days and texts -----------------------------------------------------------------------------------------


def _arithmetic(compute: Callable[[Any, Any], Any], scale: Callable[[int, int], int]) -> Maker:
    def make(of: Expressions, tree: exp.Expr, scope: Scope) -> Made:
        left, right = of.all([tree.this, tree.expression], scope)
        if not {left.kind.name, right.kind.name} <= NUMBERS:
            raise NoTwin("no plain numbers")
        places = scale(left.kind.scale, right.kind.scale)
        if places > MOST_PLACES:
            raise NoTwin("very many places")
        if left.kind.name == right.kind.name == "integer":
            kind_ = max(left.kind, right.kind)
        else:
            whole = scale(left.kind.whole, right.kind.whole) + 1
            kind_ = Kind("decimal", places, min(whole, MOST_DIGITS - places))

        def computed(frame: Frame) -> Any:
            found = compute(left.of(frame), right.of(frame))
            return found if found is None else near(found)

        return Made(kind_, computed)

    return make


def near(number: Any) -> Any:
    """A number for which DuckDB has room wherever it is computed with. Raises `Unsure` for others."""
    if not -FAR < number < FAR:
        raise Unsure
    return number


def _days(of: Expressions, tree: exp.Expr, scope: Scope) -> Made:
    later, earlier = of.all([tree.this, tree.expression], scope)
    if later.kind != DATE or earlier.kind != DATE or tree.args["unit"].name.upper() != "DAY":
        raise NoTwin("no days between dates")
    return Made(INTEGER, lambda frame: sql.days_between(later.of(frame), earlier.of(frame)))


def _of_texts(compute: Callable[..., Any], given: tuple[str, ...], result: Kind) -> Maker:
    def make(of: Expressions, tree: exp.Expr, scope: Scope) -> Made:
        wanted = {"this", *given}
        if {name for name, value in tree.args.items() if isinstance(value, exp.Expr)} != wanted:
            raise NoTwin("a function with more to it")
        made = of.all([tree.this, *(tree.args[name] for name in given)], scope)
        if any(one.kind not in (TEXT, NULL) for one in made):
            raise NoTwin("a function of no texts")
        return Made(result, _applied(compute, [one.of for one in made]))

    return make


def _applied(compute: Callable[..., Any], values: list[Of]) -> Of:
    if len(values) == 1:
        (only,) = values
        return lambda frame: compute(only(frame))
    if len(values) == 2:
        first, second = values
        return lambda frame: compute(first(frame), second(frame))
    return lambda frame: compute(*(value(frame) for value in values))


# -- selects ---------------------------------------------------------------------------------------------------------


def _subquery(of: Expressions, tree: exp.Expr, scope: Scope) -> Made:
    return of.selects.value(tree.this, scope)


def _exists(of: Expressions, tree: exp.Expr, scope: Scope) -> Made:
    return Made(BOOLEAN, of.selects.exists(tree.this, scope))


def _aggregate(
    compute: Callable[[list[Any]], Any], allowed: frozenset[str], result: Callable[[Kind], Kind] = lambda kind_: kind_
) -> Maker:
    def make(of: Expressions, tree: exp.Expr, scope: Scope) -> Made:
        if scope.group is None or tree.expressions:
            raise NoTwin("an aggregate of its own")
        place, slots = scope.group
        if isinstance(tree.this, exp.Star):
            return Made(INTEGER, lambda frame: len(frame[place]))
        operand = tree.this.expressions[0] if isinstance(tree.this, exp.Distinct) else tree.this
        if isinstance(tree.this, exp.Distinct) and len(tree.this.expressions) > 1:
            raise NoTwin("distinct rows")
        made = of.made(operand, Scope(scope.values, scope.sources))
        distinct = isinstance(tree.this, exp.Distinct)
        if made.kind.name not in (ORDERED if distinct else allowed):
            raise NoTwin("an aggregate of what only DuckDB orders")

        def computed(frame: Frame) -> Any:
            values = []
            for rows in frame[place]:
                for slot, row in zip(slots, rows, strict=True):
                    frame[slot] = row
                value = made.of(frame)
                if value is not None:
                    values.append(value)
            return compute(list(set(values)) if distinct else values)

        return Made(result(made.kind), computed)

    return make


Maker = Callable[[Expressions, exp.Expr, Scope], Made]

_MAKERS: dict[type[exp.Expr], Maker] = {
    exp.Literal: _literal,
    exp.Boolean: _boolean,
    exp.Null: _null,
    exp.Column: _column,
    exp.Cast: _cast,
    exp.Array: _array,
    exp.Struct: _record,
    exp.Paren: _paren,
    exp.And: _logic(False),
    exp.Or: _logic(True),
    exp.Not: _not,
    exp.EQ: _comparison(operator.eq),
    exp.NEQ: _comparison(operator.ne),
    exp.LT: _comparison(operator.lt),
    exp.LTE: _comparison(operator.le),
    exp.GT: _comparison(operator.gt),
    exp.GTE: _comparison(operator.ge),
    exp.Is: _is,
    exp.In: _in,
    exp.Between: _between,
    exp.Case: _case,
    exp.Coalesce: _among(sql.coalesce, ordered=False),
    exp.Least: _among(sql.least, ordered=True),
    exp.Greatest: _among(sql.greatest, ordered=True),
    exp.Add: _arithmetic(sql.add, max),
    exp.Sub: _arithmetic(sql.sub, max),
    exp.Mul: _arithmetic(sql.mul, operator.add),
    exp.DateDiff: _days,
    exp.Lower: _of_texts(sql.lower, (), TEXT),
    exp.Upper: _of_texts(sql.upper, (), TEXT),
    exp.Trim: _of_texts(sql.trim, (), TEXT),
    exp.Length: _of_texts(sql.length, (), INTEGER),
    exp.Replace: _of_texts(sql.replace, ("expression", "replacement"), TEXT),
    exp.DPipe: _of_texts(sql.add, ("expression",), TEXT),
    exp.Contains: _of_texts(sql.contains, ("expression",), BOOLEAN),
    exp.StartsWith: _of_texts(sql.starts_with, ("expression",), BOOLEAN),
    exp.Subquery: _subquery,
    exp.Exists: _exists,
    exp.Count: _aggregate(len, ORDERED | PARTED | {"double"}, lambda _: INTEGER),
    exp.Min: _aggregate(lambda values: min(values, default=None), ORDERED),
    exp.Max: _aggregate(lambda values: max(values, default=None), ORDERED),
    exp.Sum: _aggregate(
        lambda values: near(sum(values)) if values else None,
        NUMBERS,
        lambda of: Kind(of.name, of.scale, MOST_DIGITS - of.scale),
    ),
}
