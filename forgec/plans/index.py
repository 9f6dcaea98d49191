"""Indexes: what rows of a table are found by without a query."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from forgec.sql.tree import exp
from forgec_runtime.types import Type

_TOTAL = (
    exp.Column, exp.Identifier, exp.Dot, exp.Paren, exp.Literal, exp.Lower, exp.Upper, exp.Trim, exp.Left, exp.Right,
    exp.Substring, exp.DPipe, exp.Coalesce, exp.Year, exp.Month, exp.Day,
)  # fmt: skip
"""What an index is made of: it must be computed of all rows, also of those that no call looks at, and never fail."""


@dataclass(frozen=True)
class Computation:
    """How an index is computed in Python, of `row`, and the constant that holds that."""

    constant: str
    type: Type
    value: ast.expr


@dataclass(frozen=True)
class IndexPlan:
    """An index of a table by a column or, with a computation, by an expression: `of` is its SQL."""

    table: str
    of: str
    computation: Computation | None = field(default=None, compare=False)


def is_total(tree: exp.Expr) -> bool:
    """Whether an expression over one row can be computed of every row."""
    return all(type(node) in _TOTAL for node in tree.walk())


def constant_name(table: str, of: str) -> str:
    """`users` by `lower(email)` as the name of a constant: `USERS_BY_LOWER_EMAIL`."""
    words = re.findall(r"\w+", of)
    return "_".join([table, "by", *words]).upper()
