"""What a generated Python function consists of, whatever it was made from."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from forgec.plans.index import IndexPlan
from forgec.plans.query import QueryPlan


@dataclass(frozen=True)
class FunctionPlan:
    """A function: its arguments with annotations, its body in groups set apart by blank lines, and its queries."""

    name: str
    arguments: tuple[tuple[str, str], ...]
    returns: str
    doc: str
    groups: tuple[tuple[ast.stmt, ...], ...]
    queries: tuple[QueryPlan, ...]
    indexes: tuple[IndexPlan, ...] = ()
