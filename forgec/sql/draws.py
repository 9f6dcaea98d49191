"""What is drawn by lot: the generators that stand in the SQL of a world's `generate`, and nowhere else.

Each call of a generator becomes a column of the row, `_1`, `_2` and so on, whose value is there before the SQL around
it is computed: a number, a key, a text. So all SQL is DuckDB's, and all chance is in one place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from forgec.diagnostics import counted, did_you_mean
from forgec.source import Span
from forgec.sql.allow import GENERATORS, check_allowed
from forgec.sql.check import SqlChecker
from forgec.sql.frames import UNKNOWN
from forgec.sql.infer import common_decimal
from forgec.sql.query import Sql, values_in
from forgec.sql.scope import Cell, Scope, table_at, titles
from forgec.sql.size import size_of
from forgec.sql.tree import Fragment, cast, exp, parse_sql, place_of
from forgec.syntax.nodes import SqlText
from forgec_runtime.types import Boolean, Date, Decimal, Double, Enum, Integer, List, Map, Record, Text, Timestamp, Type

if TYPE_CHECKING:
    from forgec.model.spec import Table

FAKES = (
    "name", "first_name", "last_name", "street_address", "street_name", "building_number", "city", "postcode", "state",
    "country", "country_code", "company", "job", "catch_phrase", "phone_number", "user_name", "email", "word", "words",
    "sentence", "paragraph", "color_name", "isbn13", "ean13", "license_plate", "iban", "currency_code",
    "language_name",
)  # fmt: skip
"""What `fake` gives: what Faker makes of its own lists alone, and not of the time of day."""
MAX_CHOICES = 1_000
_NUMBERS = (Integer, Decimal, Double)
_NAMES: dict[type[exp.Expr], str] = {exp.Uniform: "uniform", exp.Any: "any", exp.Rand: "random"}
"""What sqlglot knows by kinds of their own."""
_ELSEWHERE = {
    **dict.fromkeys(("any", "any_of", "any_row", "sample", "reference"), "any row is `pick(members)`"),
    **dict.fromkeys(("normal", "bell", "gaussian"), "numbers near a mean are `gauss(mean, deviation)`"),
    **dict.fromkeys(("rand", "random", "randint", "random_int", "between"), "any number is `uniform(a, b)`"),
    **dict.fromkeys(("faker", "gen_random_uuid", "uuid"), "what looks real is `fake('name')`; keys may be serial"),
    **dict.fromkeys(("one_of", "oneof", "random_choice"), "one of several is `choice(a, b)`"),
    **dict.fromkeys(("row_number", "rownum", "seq"), "the number of the row is `n()`"),
}
"""Generators by names that they have elsewhere."""
_NORMAL = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*[\s\S]*?\*/|(?P<normal>\bnormal(?=\s*\())", re.IGNORECASE)
_LENGTHS = {"uniform": 2, "gauss": 2, "chance": 1, "pick": 1, "pick_skewed": 1, "n": 0}

Kind = Literal["uniform", "gauss", "chance", "weighted", "pick", "pick_skewed", "fake", "n"]


@dataclass(frozen=True)
class Draw:
    """One call of a generator. `cell` is its value, which the SQL around it finds in the column `name` of the row.

    `arguments` are expressions over the columns that the row has by then; those of `pick` are selects of one column.
    What is `weighted` are the numbers from 1 on.
    """

    name: str
    kind: Kind
    cell: Cell
    span: Span
    arguments: tuple[exp.Expr, ...] = ()
    weights: tuple[Fraction, ...] = ()
    fake: tuple[str, str] = ("", "")
    """What it is a fake of, and in which language."""

    @property
    def by_row(self) -> bool:
        """Whether its arguments differ from row to row."""
        return any(True for argument in self.arguments for _ in values_in(argument))


@dataclass(frozen=True)
class Drawn:
    """SQL with its draws, in the order in which they are made. `sql` finds the columns of the row as `$row.name`."""

    sql: Sql
    draws: tuple[Draw, ...] = ()


class Refused(Exception):
    """A call of a generator was reported."""


@dataclass
class DrawChecker:
    """Checks the SQL of one column that is generated: `row` has the columns that stand above it."""

    checker: SqlChecker
    scope: Scope
    row: Mapping[str, Cell]
    draws: list[Draw] = field(default_factory=list)

    def drawn(self, text: SqlText, wanted: Type) -> Drawn | None:
        """SQL of a type with its draws; None when it was reported."""
        if (normal := _normal_in(text)) is not None:  # sqlglot cannot read it
            self.checker.report.error("AFS404", "unknown function `normal`", normal, help=_ELSEWHERE["normal"])
            return None
        fragment = parse_sql(text, self.checker.report)
        if fragment is None:
            return None
        if problem := size_of(fragment.tree).problem:
            self.checker.report.error("AFS403", f"this SQL has {problem}", fragment.span)
            return None
        try:
            fragment.tree = self._without_draws(fragment, fragment.tree, wanted)
        except Refused:
            return None
        return self._whole(fragment, fragment.tree, wanted)

    def any_row(self, table: Table, span: Span) -> Drawn | None:
        """The key of any row of a table, as if the spec had said so at `span`."""
        fragment = Fragment(SqlText(span, ()), key_query(table.title.split("."), table.key[0].name))
        return self._whole(fragment, self._picked(fragment, fragment.tree, fragment.tree, "pick"), table.key[0].type)

    def any_value(self, enum: Enum, span: Span) -> Drawn | None:
        """Any value of an enum, as if the spec had said so at `span`."""
        parts: list[exp.Expr] = [exp.Literal.string(value) for value in enum.values]
        fragment = Fragment(SqlText(span, ()), exp.Null())
        return self._whole(fragment, self._case(fragment, fragment.tree, parts, [Fraction(1)] * len(parts), None), enum)

    def _whole(self, fragment: Fragment, tree: exp.Expr, wanted: Type) -> Drawn | None:
        fragment.tree = tree
        sql = self.checker.piece(fragment, self.scope, wanted, self._row(), data=True)
        return None if sql is None else Drawn(sql, tuple(self.draws))

    def _row(self) -> dict[str, Cell]:
        return {**self.row, **{draw.name: draw.cell for draw in self.draws}}

    def _without_draws(self, fragment: Fragment, tree: exp.Expr, wanted: Type | None) -> exp.Expr:
        """`tree` with a column in place of each call of a generator, those inside others first."""
        for name, child in list(tree.args.items()):
            inner = wanted if _is_result(tree, name) else None
            if isinstance(child, exp.Expr):
                tree.set(name, self._without_draws(fragment, child, inner))
            elif isinstance(child, list):
                parts = [self._without_draws(fragment, p, inner) if isinstance(p, exp.Expr) else p for p in child]
                tree.set(name, parts)
        name = _NAMES.get(type(tree)) or tree.name.lower()
        if name in _ELSEWHERE and isinstance(tree, exp.Func | exp.Any) and name not in self.scope.functions:
            raise self._refused("AFS404", f"unknown function `{name}`", fragment, tree, _ELSEWHERE[name])
        if not isinstance(tree, exp.Anonymous | exp.Uniform) or name not in GENERATORS:
            return tree
        if name in self.scope.functions:
            raise self._refused("AFS209", f"`{name}` is a function of this spec, and a generator here", fragment, tree)
        parts = [tree.this, tree.expression] if isinstance(tree, exp.Uniform) else tree.expressions
        parts = [*parts, *filter(None, map(tree.args.get, ("gen", "seed")))]
        count = _LENGTHS.get(name)
        if count is not None and len(parts) != count:
            what = counted(count, "argument") if count else "no arguments"
            raise self._refused("AFS410", f"`{name}` takes {what}", fragment, tree)
        made: exp.Expr = getattr(self, f"_{name}")(fragment, tree, parts, wanted)
        if (place := place_of(tree)) is not None:
            made.meta.update(start=place[0], end=place[1] - 1)
        return made

    def _refused(
        self, code: str, message: str, fragment: Fragment, node: exp.Expr, hint: str | None = None, about: str = ""
    ) -> Refused:
        span = fragment.span_of(node)
        self.checker.report.error(code, message, span, help=hint, about=about or None)
        return Refused()

    def _argument(self, fragment: Fragment, tree: exp.Expr, wanted: Type | None = None) -> Sql:
        part = Fragment(SqlText(fragment.span, ()), tree)
        found = self.checker.piece(part, self.scope, wanted, self._row(), data=True)
        if found is None:
            raise Refused
        return found

    def _draw(self, kind: Kind, cell: Cell, span: Span, **about: object) -> exp.Expr:
        draw = Draw(f"_{len(self.draws) + 1}", kind, cell, span, **about)  # type: ignore[arg-type]
        self.draws.append(draw)
        return exp.column(draw.name)

    # -- numbers and times -------------------------------------------------------------------------------------

    def _uniform(self, fragment: Fragment, tree: exp.Expr, parts: list[exp.Expr], wanted: Type | None) -> exp.Expr:
        whole = wanted if isinstance(wanted, Date | Timestamp | Integer | Decimal | Double) else None
        spelled = whole if isinstance(whole, Date | Timestamp) else None
        sqls = [self._argument(fragment, part, spelled if _is_text(part) else None) for part in parts]
        type_ = self._common(fragment, tree, sqls, "numbers, dates or timestamps", whole, times=True)
        arguments = tuple(cast(sql.expression.copy(), type_.sql) for sql in sqls)
        return self._draw("uniform", Cell(type_, self._optional(sqls)), fragment.span_of(tree), arguments=arguments)

    def _gauss(self, fragment: Fragment, tree: exp.Expr, parts: list[exp.Expr], wanted: Type | None) -> exp.Expr:
        whole = wanted if isinstance(wanted, Integer | Decimal | Double) else None
        sqls = [self._argument(fragment, part) for part in parts]
        type_ = self._common(fragment, tree, sqls, "numbers", whole, times=False)
        arguments = tuple(cast(sql.expression.copy(), "DECIMAL(18, 6)") for sql in sqls)
        return self._draw("gauss", Cell(type_, self._optional(sqls)), fragment.span_of(tree), arguments=arguments)

    def _chance(self, fragment: Fragment, tree: exp.Expr, parts: list[exp.Expr], _: Type | None) -> exp.Expr:
        given = parts[0]
        if isinstance(given, exp.Literal) and not given.is_string and Fraction(given.name) > 1:
            raise self._refused("AFS301", "a chance is from 0 to 1", fragment, given, "three in ten are 0.3")
        sql = self._argument(fragment, given)
        self._common(fragment, tree, [sql], "a number", None, times=False)
        argument = cast(sql.expression.copy(), "DECIMAL(18, 9)")
        cell = Cell(Boolean(), self._optional([sql]))
        return self._draw("chance", cell, fragment.span_of(tree), arguments=(argument,))

    def _n(self, fragment: Fragment, tree: exp.Expr, _: list[exp.Expr], __: Type | None) -> exp.Expr:
        return self._draw("n", Cell(Integer()), fragment.span_of(tree))

    def _optional(self, sqls: list[Sql]) -> bool:
        return any(isinstance(sql.shape, Cell) and sql.shape.optional for sql in sqls)

    def _common(
        self, fragment: Fragment, tree: exp.Expr, sqls: list[Sql], what: str, whole: Type | None, *, times: bool
    ) -> Type:
        """The type of what is drawn: `whole` where that is the value of the column, else that of the arguments."""
        types = [sql.shape.type for sql in sqls if isinstance(sql.shape, Cell)]
        if times and all(isinstance(type_, Date | Timestamp) for type_ in types):
            if whole is None or isinstance(whole, Date | Timestamp):
                return whole or (Date() if all(isinstance(type_, Date) for type_ in types) else Timestamp())
        elif all(isinstance(type_, _NUMBERS) for type_ in types):
            if isinstance(whole, _NUMBERS):
                return whole
            if whole is None and any(isinstance(type_, Double) for type_ in types):
                return Double()
            if whole is None and all(isinstance(type_, Integer) for type_ in types):
                return Integer()
            if whole is None and (decimal := common_decimal(types)) is not None and decimal.precision <= 18:
                return decimal
            if whole is None:
                return Decimal(18, min(max(t.scale for t in types if isinstance(t, Decimal)), 9))
        found = " and ".join(dict.fromkeys("NULL" if type_ is UNKNOWN else str(type_) for type_ in types))
        wanted = f"{what}, to give {whole}" if whole is not None else what
        raise self._refused("AFS301", f"this takes {wanted}, not {found}", fragment, tree)

    # -- one of several ----------------------------------------------------------------------------------------

    def _choice(self, fragment: Fragment, tree: exp.Expr, parts: list[exp.Expr], wanted: Type | None) -> exp.Expr:
        return self._case(fragment, tree, parts, [Fraction(1)] * len(parts), wanted)

    def _weighted(self, fragment: Fragment, tree: exp.Expr, parts: list[exp.Expr], wanted: Type | None) -> exp.Expr:
        if len(parts) % 2:
            example = "such as `weighted('a', 3, 'b', 1)`"
            raise self._refused("AFS410", "every value has its weight", fragment, tree, example)
        weights = []
        for part in parts[1::2]:
            if not isinstance(part, exp.Literal) or part.is_string:
                raise self._refused("AFS413", "a weight is a number that is written out", fragment, part)
            if not check_allowed(Fragment(SqlText(fragment.span, ()), part), self.scope, self.checker.report):
                raise Refused
            weights.append(Fraction(part.name))
        if parts and not any(weights):
            raise self._refused("AFS413", "one weight at least is more than 0", fragment, tree)
        return self._case(fragment, tree, parts[::2], weights, wanted)

    def _case(
        self,
        fragment: Fragment,
        tree: exp.Expr,
        parts: list[exp.Expr],
        weights: list[Fraction],
        wanted: Type | None,
    ) -> exp.Expr:
        if not 1 <= len(parts) <= MAX_CHOICES:
            message = f"one of 1 to {MAX_CHOICES:,} values is chosen, not of {len(parts):,}"
            raise self._refused("AFS410", message, fragment, tree)
        for i, part in enumerate(parts):
            if isinstance(wanted, Enum) and _is_text(part):
                if not self.checker.check_assignable(wanted, part, Text(), fragment, fragment.span_of(part)):
                    raise Refused
            elif isinstance(wanted, Date | Timestamp) and _is_text(part):
                parts[i] = cast(part, wanted.sql)
        number = self._draw("weighted", Cell(Integer()), fragment.span_of(tree), weights=tuple(weights))
        return chosen(number, parts)

    def _pick(self, fragment: Fragment, tree: exp.Expr, parts: list[exp.Expr], _: Type | None) -> exp.Expr:
        return self._picked(fragment, tree, parts[0], "pick")

    def _pick_skewed(self, fragment: Fragment, tree: exp.Expr, parts: list[exp.Expr], _: Type | None) -> exp.Expr:
        return self._picked(fragment, tree, parts[0], "pick_skewed")

    def _picked(self, fragment: Fragment, tree: exp.Expr, part: exp.Expr, kind: Kind) -> exp.Expr:
        query = part if isinstance(part, exp.Query) else self._keys(fragment, part)
        while isinstance(query, exp.Subquery):
            query = query.this
        sql = self._argument(fragment, exp.Subquery(this=query))
        assert isinstance(sql.shape, Cell)
        if isinstance(sql.shape.type, Record | List | Map):
            raise self._refused("AFS305", f"one value is picked, not {sql.shape.type}", fragment, part)
        cell = replace(sql.shape, optional=True)
        return self._draw(kind, cell, fragment.span_of(tree), arguments=(sql.expression.this,))

    def _keys(self, fragment: Fragment, part: exp.Expr) -> exp.Query:
        """The keys of the table that is named."""
        example = "such as `pick(members)` or `pick(select member_id from members)`"
        if not isinstance(part, exp.Column):
            raise self._refused(
                "AFS405", "one is picked of a table, or of what a select finds", fragment, part, example
            )
        path = [name.name for name in part.parts]
        table, name = table_at(self.scope.tables, path), ".".join(path)
        if name in self.scope.views:
            example = f"such as `pick(select {next(iter(self.scope.views[name].columns))} from {name})`"
            raise self._refused("AFS224", f"`{name}` is a view, which has no key", fragment, part, example)
        if table is None:
            hint = did_you_mean(name, titles(self.scope.tables))
            raise self._refused("AFS201", f"unknown table `{name}`", fragment, part, hint, name)
        if len(table.key) != 1:
            message = f"`{name}` has no key of one column"
            raise self._refused(
                "AFS306", message, fragment, part, f"such as `pick(select {table.columns[0].name} from {name})`"
            )
        return key_query(path, table.key[0].name)

    # -- fakes -------------------------------------------------------------------------------------------------

    def _fake(self, fragment: Fragment, tree: exp.Expr, parts: list[exp.Expr], _: Type | None) -> exp.Expr:
        if not 1 <= len(parts) <= 2 or not all(map(_is_text, parts)):
            example = "such as `fake('name', 'de_DE')`"
            raise self._refused("AFS413", "`fake` takes texts that are written out", fragment, tree, example)
        kind, locale = parts[0].name, parts[1].name if len(parts) > 1 else "en_US"
        if kind not in FAKES:
            hint = did_you_mean(kind, FAKES) or f"there are {', '.join(FAKES)}"
            raise self._refused("AFS622", f"no fake is called '{kind}'", fragment, parts[0], hint)
        return self._draw("fake", Cell(Text()), fragment.span_of(tree), fake=(kind, locale))


def _normal_in(text: SqlText) -> Span | None:
    """Where `normal` is called, outside of texts and comments."""
    for found in _NORMAL.finditer(text.span.text):
        if found["normal"]:
            start = text.span.start + found.start()
            return Span(text.span.source, start, start + len("normal"))
    return None


def chosen(number: exp.Expr, parts: list[exp.Expr]) -> exp.Expr:
    """The part that has the number, from 1 on."""
    branches = [
        exp.If(this=exp.EQ(this=number.copy(), expression=exp.Literal.number(i)), true=part)
        for i, part in enumerate(parts[:-1], 1)
    ]
    return exp.Case(ifs=branches, default=parts[-1]) if branches else parts[0]


def key_query(path: list[str], key: str) -> exp.Select:
    """`select key from path`."""
    parts = dict(zip(("this", "db", "catalog"), map(exp.to_identifier, reversed(path)), strict=False))
    return exp.Select(expressions=[exp.column(key)], from_=exp.From(this=exp.Table(**parts)))


def _is_result(tree: exp.Expr, part: str) -> bool:
    """Whether what stands in a part of a tree may become its value."""
    if isinstance(tree, exp.Case):
        return part in ("ifs", "default")
    if isinstance(tree, exp.If):
        return part == "true"
    chooses = isinstance(tree, exp.Anonymous) and tree.name.lower() in ("choice", "weighted")
    return chooses or isinstance(tree, exp.Paren | exp.Coalesce | exp.Greatest | exp.Least)


def _is_text(tree: exp.Expr) -> bool:
    return isinstance(tree, exp.Literal) and bool(tree.is_string)
