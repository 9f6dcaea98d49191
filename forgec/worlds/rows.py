"""The columns of rows that are made, each computed for all rows at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from forgec.diagnostics import did_you_mean
from forgec.model.spec import Generate, Made, Table
from forgec.reference.database import ReferenceDatabase
from forgec.source import Span
from forgec.sql.draws import Draw
from forgec.sql.tree import exp
from forgec.worlds import lots
from forgec.worlds.fakes import fake, is_language, languages
from forgec.worlds.lots import NoLot, lot
from forgec_runtime.engine import EngineError
from forgec_runtime.types import Type

MAX_EFFORT = 100_000_000
"""What the worlds of a spec may take to make, in characters that are computed."""
_DRAW = 100
"""What one draw counts as."""
MAX_AT_ONCE = 2_000
"""Rows that a column is computed for by one statement: whatever it gives has to find its place in memory."""
_CELL = 8
"""What a number counts as."""


@dataclass
class Effort:
    """What the worlds of a spec have taken so far."""

    spent: int = 0

    @property
    def exhausted(self) -> bool:
        return self.spent > MAX_EFFORT


class Unmade(Exception):
    """A world cannot be made: a finding, at its place."""

    def __init__(self, code: str, message: str, span: Span, help: str | None = None, notes: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.span = span
        self.help = help
        self.notes = notes


@dataclass
class Row:
    """A row that is made: its number in its block, and how often it was made anew.

    `place` names it in its world, such as `3.1` for the first row in the third one, and `tries` all attempts of both.
    """

    number: int
    place: str
    tries: str = "0"
    values: dict[str, Any] = field(default_factory=dict)
    drawn: dict[str, Any] = field(default_factory=dict)
    inner: dict[str, list[Row]] = field(default_factory=dict)
    """The rows nested in it, by table."""
    problem: str = ""
    """Why it has to be made anew."""

    def __getitem__(self, column: str) -> Any:
        return self.drawn[column] if column in self.drawn else self.values[column]


class Columns:
    """Computes the columns of one world's rows, over the rows that are there by then."""

    def __init__(self, database: ReferenceDatabase, world: str, seed: str, effort: Effort) -> None:
        self.database = database
        self.names = (seed, world)
        self.effort = effort

    def compute(self, block: Generate, table: Table, rows: Sequence[Row]) -> None:
        """Give all rows their values. Raises `Unmade` for what DuckDB refuses, and what cannot be drawn."""
        types = {column.name: column.type for column in table.columns}
        for made in block.made:
            known = {**types, **{draw.name: draw.cell.type for draw in made.drawn.draws}}
            for begin in range(0, len(rows), MAX_AT_ONCE):
                self._compute(block, made, types[made.column], known, rows[begin : begin + MAX_AT_ONCE])

    def _compute(
        self, block: Generate, made: Made, wanted: Type, types: Mapping[str, Type], rows: Sequence[Row]
    ) -> None:
        for row in rows:
            row.drawn = {}
        try:
            self.effort.spent += _DRAW * len(made.drawn.draws) * len(rows)
            for draw in made.drawn.draws:
                self._draw(block, made, draw, types, rows)
            found = self.database.over(made.drawn.sql.expression, rows, types, wanted)
        except EngineError as error:
            raise Unmade("AFS304", "DuckDB refuses this SQL", made.drawn.sql.span, help=reason(error)) from None
        for row, value in zip(rows, found, strict=True):
            row.values[made.column] = value
            self.effort.spent += _CELL if isinstance(value, int | float) else len(str(value))
        if self.effort.exhausted:
            hint = "make fewer rows, or fewer columns of them"
            raise Unmade("AFS625", "the worlds of this spec take too much to make, from here on", block.span, hint)

    def holds(self, tree: exp.Expr, table: Table, rows: Sequence[Row]) -> Sequence[Any]:
        """The truth of a condition on each row."""
        types = {column.name: column.type for column in table.columns}
        return self.database.over(tree, rows, types)

    # -- drawing -----------------------------------------------------------------------------------------------

    def _draw(self, block: Generate, made: Made, draw: Draw, types: Mapping[str, Type], rows: Sequence[Row]) -> None:
        if draw.kind == "fake" and not is_language(draw.fake[1]):
            hint = did_you_mean(draw.fake[1], languages()) or "such as 'en_GB' and 'de_DE'"
            raise Unmade("AFS622", f"no language is called '{draw.fake[1]}'", draw.span, help=hint)
        names = (*self.names, block.table, block.number, made.column, draw.name)
        try:
            if draw.kind in ("pick", "pick_skewed"):
                drawn = self._picked(draw, types, rows, names)
            else:
                given = [self.database.over(argument, rows, types) for argument in draw.arguments]
                drawn = (_one(draw, row, [values[i] for values in given], names) for i, row in enumerate(rows))
            for row, value in zip(rows, drawn, strict=True):
                row.drawn[draw.name] = value
        except NoLot as why:
            raise Unmade("AFS621", str(why), draw.span) from None

    def _picked(
        self, draw: Draw, types: Mapping[str, Type], rows: Sequence[Row], names: tuple[object, ...]
    ) -> Iterator[Any]:
        """One of the values that a select finds for each row; NULL where it finds none."""
        (query,) = draw.arguments
        if not rows:
            return
        by_row = draw.by_row
        found = self._found(query, types, rows if by_row else rows[:1])
        if not by_row and not found[0]:
            raise NoLot("there is nothing to pick: only rows that were there before these are seen")
        ranked: list[Any] = []
        for i, row in enumerate(rows):
            if by_row or not i:
                ranked = found[i] or []
                if draw.kind == "pick_skewed":
                    ranked = sorted(ranked, key=lambda value: lot(*names, "rank", value))
            drawn, count = lot(*names, row.place, row.tries), len(ranked)
            number = lots.skewed(drawn, count) if draw.kind == "pick_skewed" and count else lots.below(drawn, count)
            yield ranked[number] if ranked else None

    def _found(self, query: exp.Expr, types: Mapping[str, Type], rows: Sequence[Row]) -> list[Any]:
        """What a select of one column finds for each row, in order, without NULL."""
        assert isinstance(query, exp.Query)
        found = exp.column(query.named_selects[0], table="_found", quoted=True)
        several = exp.Anonymous(this="list", expressions=[found.copy()])
        source = exp.Subquery(this=query.copy(), alias=exp.TableAlias(this=exp.to_identifier("_found")))
        known = exp.Where(this=exp.Not(this=exp.Is(this=found.copy(), expression=exp.Null())))
        select = exp.Select(expressions=[several], from_=exp.From(this=source), where=known)
        lists = self.database.over(exp.Subquery(this=select), rows, types)
        return [sorted(values) if values is not None else None for values in lists]


def reason(error: EngineError) -> str:
    """What DuckDB says, without the statement that it says it about."""
    return str(error).splitlines()[0]


def _one(draw: Draw, row: Row, given: list[Any], names: tuple[object, ...]) -> Any:
    """What one row draws."""
    if draw.kind == "n":
        return row.number
    if None in given:
        return None
    drawn = lot(*names, row.place, row.tries)
    if draw.kind == "weighted":
        return lots.one_of(drawn, draw.weights)
    if draw.kind == "chance":
        return lots.happens(drawn, given[0])
    if draw.kind == "fake":
        return fake(drawn, *draw.fake)
    low, high = given
    return (lots.between if draw.kind == "uniform" else lots.bell)(drawn, low, high, draw.cell.type)
