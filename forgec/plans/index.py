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
    """How an index is computed in Python, of `row`, and the constant that holds that.

    An index by several things at once has a type for each, and its value is a tuple.
    """

    constant: str
    type: Type | tuple[Type, ...]
    value: ast.expr


@dataclass(frozen=True)
class IndexPlan:
    """An index of a table by a column or, with a computation, by expressions: `of` is their SQL."""

    table: str
    of: str | tuple[str, ...]
    computation: Computation | None = field(default=None, compare=False)


def is_total(tree: exp.Expr, *others: type[exp.Expr]) -> bool:
    """Whether an expression over one row can be computed of every row; parts of these `others` can, too."""
    return all(type(node) in _TOTAL or type(node) in others for node in tree.walk())


def constant_name(table: str, of: str | tuple[str, ...]) -> str:
    """`users` by `lower(email)` as the name of a constant: `USERS_BY_LOWER_EMAIL`; of several, the last word each."""
    words = re.findall(r"\w+", of) if isinstance(of, str) else [re.findall(r"\w+", one)[-1] for one in of]
    return "_".join([table, "by", *words]).upper()
