"""What lowering an expression gives."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from forgec_runtime.types import Type


class NoTwin(Exception):
    """This expression has no exact twin in Python; the text says why."""


@dataclass(frozen=True)
class Lowered:
    """A Python expression, its type, and whether it can be None."""

    node: ast.expr
    type: Type
    optional: bool
