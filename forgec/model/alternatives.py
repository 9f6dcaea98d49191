"""Columns of alternatives: they hold a value when, and only when, a condition on their row holds."""

from __future__ import annotations

from forgec.model.domains import condition_text
from forgec.model.spec import Check, Column
from forgec.sql.nulls import may_be_null
from forgec.sql.query import Sql
from forgec.sql.scope import Cell
from forgec.sql.tree import Value, exp
from forgec_runtime.types import Boolean


def alternative(column: Column, when: Sql) -> Check:
    """What must be true of every row; it is never NULL, as a condition that is NULL does not hold."""
    value = Value(this=f"row.{column.name}")
    value.meta["cell"] = Cell(column.type, optional=True)
    holds: exp.Expr = exp.paren(when.expression.copy())
    if may_be_null(when.expression):
        holds = exp.paren(exp.Is(this=holds, expression=exp.true()))
    missing = exp.Is(this=value, expression=exp.Null())
    if column.given == "exactly":
        tree: exp.Expr = exp.EQ(this=holds, expression=exp.paren(exp.Not(this=missing)))
        how = "exactly"
    else:
        tree, how = exp.Or(this=holds, expression=missing), "only"
    text = f"{column.name} must be given {how} when {condition_text(when.span)}"
    return Check(sql=Sql(when.span, tree, None, Cell(Boolean()), frozenset()), text=text)
