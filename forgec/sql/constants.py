"""Expressions over constants, computed by DuckDB while a spec is compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forgec.source import Span
from forgec.sql.check import SqlChecker
from forgec.sql.fitting import EXAMPLES
from forgec.sql.literals import UNCLEAR, literal_value
from forgec.sql.oracle import Rejected
from forgec.sql.tree import Value, cast, exp
from forgec_runtime.types import Type


def constants(
    rows: Sequence[Sequence[exp.Expr]], types: Sequence[Type], checker: SqlChecker, spans: Sequence[Sequence[Span]]
) -> list[tuple[Any, ...] | None]:
    """The values of rows of constant expressions, each cast to the type of its column.

    A row is None when DuckDB refuses one of its values, which is reported at the span of that value.
    """
    plain = [tuple(map(literal_value, row, types)) for row in rows]
    if not any(value is UNCLEAR for row in plain for value in row):
        return list(plain)
    casts = [
        [checker.emitter.text(cast(tree.copy(), type_.sql), _no_value) for tree, type_ in zip(row, types, strict=True)]
        for row in rows
    ]
    try:
        numbered = " union all ".join(f"(select {i}, {', '.join(row)})" for i, row in enumerate(casts))
        return [row[1:] for row in checker.oracle.compute(f"select * from ({numbered}) as rows order by 1")]
    except Rejected:
        return [_one(row, texts, types, checker, places) for row, texts, places in zip(rows, casts, spans, strict=True)]


def _one(
    row: Sequence[exp.Expr], casts: Sequence[str], types: Sequence[Type], checker: SqlChecker, spans: Sequence[Span]
) -> tuple[Any, ...] | None:
    values: list[Any] = []
    for tree, text, type_, span in zip(row, casts, types, spans, strict=True):
        try:
            values.extend(checker.oracle.compute(f"select {text}")[0])
        except Rejected as reason:
            if isinstance(tree, exp.Literal) and tree.is_string:
                checker.report.error("AFS601", f"{tree} is no {type_}", span, help=EXAMPLES.get(type_.sql))
            else:
                checker.report.error("AFS304", "DuckDB refuses this SQL", span, str(reason))
            return None
    return tuple(values)


def constant(tree: exp.Expr, type_: Type, checker: SqlChecker, span: Span) -> Any:
    """The value of one constant expression; None when it was reported."""
    (found,) = constants([[tree]], [type_], checker, [[span]])
    return found[0] if found is not None else None


def _no_value(node: Value) -> exp.Expr:
    raise AssertionError(f"`${node.name}` in a constant")
