"""What lowering an expression gives."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from forgec.plans import python as py
from forgec.sql.tree import exp
from forgec_runtime.types import Type

if TYPE_CHECKING:
    from forgec.plans.expression import Lowering


class NoTwin(Exception):
    """This expression has no exact twin in Python; the text says why."""


@dataclass(frozen=True)
class Lowered:
    """A Python expression, its type, and whether it can be None.

    `holds` is simpler Python that is true exactly where the expression is TRUE, for where NULL and FALSE are alike.
    """

    node: ast.expr
    type: Type
    optional: bool
    holds: ast.expr | None = None


Handler: TypeAlias = "Callable[[Lowering, exp.Expr], Lowered]"


def strict(twin: str, type_: Type, *operands: Lowered) -> Lowered:
    """A function of the runtime that gives NULL where, and only where, an operand is NULL."""
    return Lowered(py.call(twin, *(part.node for part in operands)), type_, any(part.optional for part in operands))


def sql_name(node: exp.Expr) -> str:
    return node.sql_name().lower() if isinstance(node, exp.Func) else type(node).__name__.lower()
