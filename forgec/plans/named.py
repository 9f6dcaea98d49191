"""Twins of functions that SQL's grammar knows by nothing but their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forgec.plans.conversions import converted
from forgec.plans.lowered import Handler, Lowered, NoTwin, strict
from forgec.sql.tree import exp
from forgec_runtime.types import Decimal, Double, Record, Text, Type

if TYPE_CHECKING:
    from forgec.plans.expression import Lowering

_EXACT_IN_DOUBLES = 15
"""DuckDB writes decimals of up to so many digits as it writes doubles."""


def _to_json(low: Lowering, node: exp.Expr) -> Lowered:
    part = low.value(node.expressions[0])
    if _is_short(part.type):
        part = converted(part, Double())
    if _holds_short(part.type):
        raise NoTwin("decimals inside of a value are written as JSON by DuckDB")
    return strict("sql.to_json", Text(), part)


def _is_short(type_: Type) -> bool:
    return isinstance(type_, Decimal) and type_.precision <= _EXACT_IN_DOUBLES


def _holds_short(type_: Type) -> bool:
    return isinstance(type_, Record) and any(_is_short(f.type) or _holds_short(f.type) for f in type_.fields)


_TWINS: dict[str, Handler] = {
    "to_json": _to_json,
}


def _named(low: Lowering, node: exp.Expr) -> Lowered:
    handler = _TWINS.get(node.name.lower())
    if handler is None:
        raise NoTwin(f"`{node.name.lower()}` is computed by DuckDB")
    return handler(low, node)


TWINS: dict[type[exp.Expr], Handler] = {exp.Anonymous: _named}
