"""How large SQL is once its functions are written out: a few lines of a spec can say very much."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forgec.sql.tree import Apply, Value, exp

if TYPE_CHECKING:
    from forgec.model.spec import Function

MAX_PARTS = 3_000
"""Nodes of one tree."""
MAX_DEPTH = 100
"""Levels of one tree; the libraries behind us recurse, and DuckDB stops at 250."""


@dataclass(frozen=True)
class Size:
    """The parts and levels of a tree, and how often it uses each value."""

    parts: int
    depth: int
    uses: Mapping[str, int]

    @property
    def problem(self) -> str | None:
        """What is wrong with it, if it is too large."""
        if self.parts > MAX_PARTS:
            return f"more than {MAX_PARTS:,} parts"
        return f"more than {MAX_DEPTH} levels" if self.depth > MAX_DEPTH else None


def size_of(tree: exp.Expr, functions: Mapping[str, Function] | None = None) -> Size:
    """The size of `tree`, in which the calls of `functions` count as what they stand for."""
    parts, deepest, uses = 0, 0, Counter[str]()
    waiting = [(tree, 1)]
    while waiting and parts <= MAX_PARTS:
        node, depth = waiting.pop()
        parts, deepest = parts + 1, max(deepest, depth)
        if isinstance(node, Value):
            uses[node.name.partition(".")[0]] += 1
        if isinstance(node, Apply) and functions is not None:
            function = functions[node.name]
            parts, below = parts + function.size.parts, 0
            for parameter, argument in zip(function.parameters, node.expressions, strict=True):
                size, times = size_of(argument, functions), function.size.uses.get(parameter.name, 0)
                parts, below = parts + times * size.parts, max(below, size.depth)
                uses.update({name: times * number for name, number in size.uses.items()})
            deepest = max(deepest, depth + function.size.depth + below)
        else:
            waiting.extend((child, depth + 1) for child in node.iter_expressions())
    return Size(parts, deepest, uses)


def may_grow(tree: exp.Expr, functions: Mapping[str, Function]) -> bool:
    """Whether a text is joined of values of the call: kept and joined again and again, it would never end."""
    if tree.find(Value) is None:
        return False
    if tree.find(exp.DPipe, exp.GroupConcat, exp.ArrayToString, exp.Anonymous) is not None:
        return True
    return any(may_grow(functions[apply.name].sql.expression, functions) for apply in tree.find_all(Apply))
