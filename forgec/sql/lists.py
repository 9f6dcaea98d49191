"""Functions of lists and maps as DuckDB computes them: what has an order has one and the same, always."""

from __future__ import annotations

from dataclasses import dataclass

from forgec.sql.infer import infer
from forgec.sql.tree import exp, parse_own
from forgec_runtime.types import List, Type

_FEWER = (
    "list_filter(p__.ys, lambda y__: len(list_filter(p__.ys, lambda z__: z__ = y__))"
    " > len(list_filter(p__.xs, lambda z__: z__ = y__)))"
)
"""The elements that one list has less often than another. No name of a spec has two underscores in a row."""
_EXPANDED = {
    name: parse_own(
        f"list_transform([{{'xs': xs__, 'ys': ys__}}], lambda p__: case when p__.xs is not null then {body} end)[1]"
    )
    for name, body in {"contains_all": f"len({_FEWER}) = 0", "first_missing": f"({_FEWER})[1]"}.items()
}
"""Each argument stands once, so that calls inside of calls do not multiply."""


def expanded(node: exp.Expr) -> exp.Expr | None:
    """What DuckDB computes for a function of lists or maps that it does not know, or knows in another way."""
    if isinstance(node, exp.ArrayDistinct):  # DuckDB's has no order
        return _call("list_sort", _call("list_distinct", node.this))
    if isinstance(node, exp.ArrayOverlaps):
        return _call("list_has_any", node.this, node.expression)
    if isinstance(node, exp.Map):
        pairs = _call("map_entries", _call("map", node.args["keys"], node.args["values"]))
        return _call("map_from_entries", _call("list_sort", pairs))
    if isinstance(node, exp.Anonymous) and node.name.lower() in _EXPANDED:
        arguments = dict(zip(("xs__", "ys__"), node.expressions, strict=True))
        tree = _EXPANDED[node.name.lower()].copy()
        for column in list(tree.find_all(exp.Column)):
            if column.name in arguments:
                column.replace(arguments[column.name].copy())
        return tree
    return None


@dataclass(frozen=True)
class Compared:
    """What a function compares elements of a list with: the types of both, and the tree of the second."""

    left: Type | None
    right: Type | None
    tree: exp.Expr


def compared(node: exp.Expr) -> Compared | None:
    """What is compared by a function of lists; None for others."""
    name = node.name.lower() if isinstance(node, exp.Anonymous) else ""
    if isinstance(node, exp.ArrayContains) or name == "list_position":
        left, right = node.expressions if name else (node.this, node.expression)
        return Compared(_element(left), infer(right), right)
    if isinstance(node, exp.ArrayOverlaps) or name in ("list_has_all", *_EXPANDED):
        left, right = node.expressions if name else (node.this, node.expression)
        return Compared(_element(left), _element(right), right)
    return None


def _element(tree: exp.Expr) -> Type | None:
    given = infer(tree)
    return given.of if isinstance(given, List) else None


def _call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=[argument.copy() for argument in arguments])
