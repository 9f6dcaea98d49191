"""One expression, both ways: what the compiler makes of it in Python, and what DuckDB computes, row by row."""

import ast
import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import duckdb

from forgec.diagnostics import Report
from forgec.diagnostics.text import render_text
from forgec.plans.expression import Lowering
from forgec.plans.lowered import Lowered
from forgec.source import Source, Span
from forgec.sql.check import SqlChecker
from forgec.sql.emit import Emitter, typed_null
from forgec.sql.oracle import Oracle, parse_type
from forgec.sql.scope import Cell, Scope, Shape
from forgec.sql.tree import exp
from forgec.syntax.nodes import SqlText
from forgec_runtime import Fault, sql
from forgec_runtime.binding import bound, values_of
from forgec_runtime.engine import EngineError, connect, fetch
from forgec_runtime.types import Type

CONNECTION = connect()
ORACLE = Oracle()
CLOCK = datetime.datetime(2025, 3, 1, 9)
NAMES = {"sql": sql, "Decimal": Decimal, "date": datetime.date, "datetime": datetime.datetime}


def type_of(text: str) -> Type:
    found = parse_type(str(duckdb.sqltype(text.removesuffix("?"))).replace(" WITH", ""))
    assert found is not None
    return found


@dataclass
class Expression:
    """`text` over values `$a`, `$b`, ... of these types, such as `bigint?`."""

    text: str
    types: Sequence[str]

    def __post_init__(self) -> None:
        self.values: dict[str, Shape] = {
            "abcde"[i]: Cell(type_of(type_), type_.endswith("?")) for i, type_ in enumerate(self.types)
        }
        self.checker = SqlChecker(ORACLE, Report(), Emitter({}, {}, CLOCK))
        source = Source("expression", self.text)
        places = [Span(source, i, i + 1) for i, character in enumerate(self.text) if character == "$"]
        span = Span(source, 0, len(self.text))
        checked = self.checker.any(SqlText(span, tuple(places)), Scope({}, {}, self.values))
        assert checked is not None, render_text(self.checker.report)
        assert isinstance(checked.shape, Cell)
        self.tree: exp.Expr = checked.expression
        self.optional = checked.shape.optional
        self.low = Lowering({}, {}, self.checker, dict(self.values))
        self.lowered: Lowered = self.low.value(self.tree)
        self.python = ast.unparse(ast.fix_missing_locations(self.lowered.node))

    @property
    def is_twin(self) -> bool:
        return not self.low.queries

    def check(self, rows: Iterable[Sequence[Any]]) -> None:
        """Raise `AssertionError` where the two differ in a value, its type, its scale or what is known of it."""
        assert self.is_twin, self.low.queries[0].why
        cases = list(rows)
        described = self.checker.oracle.describe(f"select {self.checker.emitter.text(self.tree, typed_null)} as x")
        assert described[0][1] is None or described[0][1].sql == self.lowered.type.sql, self.text
        compiled = eval(f"lambda {', '.join(self.values)}: {self.python}", dict(NAMES))
        for case, theirs in zip(cases, self._answers(cases), strict=True):
            try:
                ours: Any = compiled(*case)
            except Fault:
                ours = "fault"
            assert (case, self.python, exact(ours)) == (case, self.python, exact(theirs))
            assert ours is not None or (self.lowered.optional and self.optional), (case, self.python)

    def _answers(self, cases: list[Sequence[Any]]) -> list[Any]:
        """What DuckDB computes for each row, all at once where none of them fails."""
        text = self.checker.emitter.text(self.tree, lambda node: exp.column(node.name))
        parts = "".join(
            f", {values_of(str(i), type_.removesuffix('?').upper())} as {'abcde'[i - 1]}"
            for i, type_ in enumerate(self.types, 1)
        )
        query = f"select {text} from (select unnest(range({len(cases)})) as n{parts}) order by n"
        try:
            columns = [list(column) for column in zip(*cases, strict=True)]
            values = [bound(type_.upper(), column) for type_, column in zip(self.types, columns, strict=True)]
            return [value for (value,) in fetch(CONNECTION, query, values)]
        except EngineError:
            if len(cases) == 1:
                return ["fault"]
            return [answer for case in cases for answer in self._answers([case])]


def exact(value: Any) -> tuple[type, str]:
    """A value such that 1, 1.0, True and Decimal('1.00') are all different."""
    return type(value), repr(value)
