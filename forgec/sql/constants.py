"""Expressions over constants, computed by DuckDB while a spec is compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forgec.source import Span
from forgec.sql.check import SqlChecker
from forgec.sql.oracle import Rejected
from forgec.sql.tree import Value, cast, exp
from forgec_runtime.types import Type


def constants(
    rows: Sequence[Sequence[exp.Expr]], types: Sequence[Type], checker: SqlChecker, spans: Sequence[Span]
) -> list[tuple[Any, ...] | None]:
    """The values of rows of constant expressions, each cast to the type of its column.

    A row that DuckDB refuses is reported at its span, and is None.
    """
    if not rows:
        return []
    selects = [
        ", ".join(
            checker.emitter.text(cast(tree.copy(), type_.sql), _no_value)
            for tree, type_ in zip(row, types, strict=True)
        )
        for row in rows
    ]
    try:
        numbered = " union all ".join(f"(select {i}, {select})" for i, select in enumerate(selects))
        return [row[1:] for row in checker.oracle.compute(f"select * from ({numbered}) as rows order by 1")]
    except Rejected:
        return [_one(select, checker, span) for select, span in zip(selects, spans, strict=True)]


def _one(select: str, checker: SqlChecker, span: Span) -> tuple[Any, ...] | None:
    try:
        return checker.oracle.compute(f"select {select}")[0]
    except Rejected as reason:
        checker.report.error("AFS304", "DuckDB refuses this SQL", span, str(reason))
        return None


def constant(tree: exp.Expr, type_: Type, checker: SqlChecker, span: Span) -> Any:
    """The value of one constant expression; None when it was reported."""
    (found,) = constants([[tree]], [type_], checker, [span])
    return found[0] if found is not None else None


def _no_value(node: Value) -> exp.Expr:
    raise AssertionError(f"`${node.name}` in a constant")
