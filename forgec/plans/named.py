"""Twins of functions that SQL's grammar knows by nothing but their names."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forgec.plans import lists
from forgec.plans.conversions import converted
from forgec.plans.lowered import Handler, Lowered, NoTwin, strict
from forgec.plans.numbers import MOST_PLACES
from forgec.sql.tree import exp
from forgec_runtime.types import Decimal, Double, Integer, List, Map, Record, Text, Type

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


def _round_even(low: Lowering, node: exp.Expr) -> Lowered:
    part, places = low.value(node.expressions[0]), node.expressions[1]
    if not isinstance(part.type, Double) or not (isinstance(places, exp.Literal) and places.name.isdigit()):
        raise NoTwin("`round_even` of what is no double is computed by DuckDB")
    if int(places.name) > MOST_PLACES:
        raise NoTwin("so many places are kept by DuckDB")
    return strict("sql.round_even", Double(), part, Lowered(ast.Constant(int(places.name)), Integer(), False))


def _is_short(type_: Type) -> bool:
    return isinstance(type_, Decimal) and type_.precision <= _EXACT_IN_DOUBLES


def _holds_short(type_: Type) -> bool:
    parts = [field.type for field in type_.fields] if isinstance(type_, Record) else []
    if isinstance(type_, List | Map):
        parts = [type_.of]
    return any(_is_short(part) or _holds_short(part) for part in parts)


def _named(low: Lowering, node: exp.Expr) -> Lowered:
    handler = {**lists.NAMED, "to_json": _to_json, "round_even": _round_even}.get(node.name.lower())
    if handler is None:
        raise NoTwin(f"`{node.name.lower()}` is computed by DuckDB")
    return handler(low, node)


TWINS: dict[type[exp.Expr], Handler] = {exp.Anonymous: _named}
