"""Twins of functions of lists and maps."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forgec.plans import python as py
from forgec.plans.conversions import SHOWN, kind
from forgec.plans.lowered import Handler, Lowered, NoTwin, strict
from forgec.sql.infer import common_decimal
from forgec.sql.tree import exp
from forgec_runtime.types import Boolean, Decimal, Double, Integer, List, Map, Text, Type

if TYPE_CHECKING:
    from forgec.plans.expression import Lowering

_MOST_DIGITS = 18
"""Of decimals, a thousand of which Python adds exactly."""


def _list(low: Lowering, tree: exp.Expr) -> tuple[Lowered, Type]:
    """A list and the type of its elements. Raises `NoTwin`."""
    part = low.value(tree)
    if not isinstance(part.type, List):
        raise NoTwin("what is no list is read by DuckDB")
    return part, part.type.of


def _map(low: Lowering, tree: exp.Expr) -> tuple[Lowered, Map]:
    """A map and its type. Raises `NoTwin`."""
    part = low.value(tree)
    if not isinstance(part.type, Map):
        raise NoTwin("what is no map is read by DuckDB")
    return part, part.type


def _check_alike(*types: Type) -> None:
    """Whether Python compares values of these types as DuckDB does, and knows which are the same. Raises `NoTwin`."""
    kinds = {kind(type_) for type_ in types}
    if len(kinds) > 1 or kinds & {"record", "double"} or (kinds == {"exact"} and common_decimal(types) is None):
        raise NoTwin(f"elements that are {types[0]} are compared by DuckDB")


def length(low: Lowering, tree: exp.Expr) -> Lowered:
    """How many elements a list, or entries a map, has."""
    part = low.value(tree)
    if not part.optional:
        return Lowered(py.call("len", part.node), Integer(), False)
    return strict("sql.length", Integer(), part)


def concatenated(left: Lowered, right: Lowered) -> Lowered:
    """`left || right`."""
    _check_same(left, right)
    return strict("sql.list_joined", left.type, left, right)


def _check_same(*parts: Lowered) -> None:
    if len({part.type.sql for part in parts}) > 1:
        raise NoTwin("lists of several types are united by DuckDB")


def _contains(low: Lowering, node: exp.Expr) -> Lowered:
    (given, of), element = _list(low, node.this), low.value(node.expression)
    _check_alike(of, element.type)
    if given.optional or element.optional:
        return strict("sql.list_contains", Boolean(), given, element)
    return Lowered(py.compare(element.node, ast.In(), given.node), Boolean(), False)


def _position(low: Lowering, node: exp.Expr) -> Lowered:
    (given, of), element = _list(low, node.expressions[0]), low.value(node.expressions[1])
    _check_alike(of, element.type)
    return Lowered(py.call("sql.list_position", given.node, element.node), Integer(), True)


def _sorted(twin: str, plain: str | None = None) -> Handler:
    def lower(low: Lowering, node: exp.Expr) -> Lowered:
        given, of = _list(low, node.this)
        _check_alike(of)
        return strict(plain if plain and not given.optional else twin, given.type, given)

    return lower


def _reverse(low: Lowering, node: exp.Expr) -> Lowered:
    given, _ = _list(low, node.expressions[0])
    return strict("sql.list_reverse", given.type, given)


def _concat(low: Lowering, node: exp.Expr) -> Lowered:
    parts = [_list(low, tree)[0] for tree in (node.this, *node.expressions)]
    _check_same(*parts)
    return Lowered(py.call("sql.list_concat", *(part.node for part in parts)), parts[0].type, False)


def _append(low: Lowering, node: exp.Expr) -> Lowered:
    (given, of), element = _list(low, node.this), low.value(node.expression)
    if element.type.sql != of.sql:
        raise NoTwin(f"{element.type} is made {of} by DuckDB")
    return Lowered(py.call("sql.list_append", given.node, element.node), given.type, False)


def _sum(low: Lowering, node: exp.Expr) -> Lowered:
    given, of = _list(low, node.expressions[0])
    if isinstance(of, Decimal) and of.precision <= _MOST_DIGITS:
        of = Decimal(38, of.scale)
    elif not isinstance(of, Integer | Double):
        raise NoTwin(f"elements that are {of} are added by DuckDB")
    return Lowered(py.call("sql.list_sum", given.node), of, True)


def _extreme(twin: str) -> Handler:
    def lower(low: Lowering, node: exp.Expr) -> Lowered:
        given, of = _list(low, node.this)
        _check_alike(of)
        return Lowered(py.call(twin, given.node), of, True)

    return lower


def _of_two(twin: str, low: Lowering, *trees: exp.Expr) -> tuple[Lowered, Type]:
    """A function of two lists whose elements are compared, as a truth value, and the type of the second's elements."""
    (left, of), (right, other) = (_list(low, tree) for tree in trees)
    _check_alike(of, other)
    return strict(twin, Boolean(), left, right), other


def _has_any(low: Lowering, node: exp.Expr) -> Lowered:
    return _of_two("sql.list_has_any", low, node.this, node.expression)[0]


def _has_all(low: Lowering, node: exp.Expr) -> Lowered:
    return _of_two("sql.list_has_all", low, *node.expressions)[0]


def _contains_all(low: Lowering, node: exp.Expr) -> Lowered:
    return _of_two("sql.contains_all", low, *node.expressions)[0]


def _first_missing(low: Lowering, node: exp.Expr) -> Lowered:
    found, of = _of_two("sql.first_missing", low, *node.expressions)
    return Lowered(found.node, of, True)


def _to_string(low: Lowering, node: exp.Expr) -> Lowered:
    given, of = _list(low, node.this)
    if of.sql != "VARCHAR" and not isinstance(of, SHOWN):
        raise NoTwin(f"elements that are {of} are shown by DuckDB")
    between = Lowered(ast.Constant(node.expression.name), Text(), False)
    return strict("sql.array_to_string", Text(), given, between)


# -- maps ----------------------------------------------------------------------------------------------------------


def _made(low: Lowering, node: exp.Expr) -> Lowered:
    (keys, key), (values, of) = _list(low, node.args["keys"]), _list(low, node.args["values"])
    if key.sql != "VARCHAR":
        raise NoTwin(f"keys that are {key} are DuckDB's")
    return strict("sql.map_", Map(Text(), of), keys, values)


def _keys(low: Lowering, node: exp.Expr) -> Lowered:
    given, type_ = _map(low, node.this)
    return strict("sql.map_keys", List(type_.key), given)


def _values(low: Lowering, node: exp.Expr) -> Lowered:
    given, type_ = _map(low, node.expressions[0])
    return strict("sql.map_values", List(type_.of), given)


def _cardinality(low: Lowering, node: exp.Expr) -> Lowered:
    _map(low, node.expressions[0])
    return length(low, node.expressions[0])


NAMED: dict[str, Handler] = {
    "list_position": _position,
    "list_reverse": _reverse,
    "list_sum": _sum,
    "list_has_all": _has_all,
    "contains_all": _contains_all,
    "first_missing": _first_missing,
    "map_values": _values,
    "cardinality": _cardinality,
}
TWINS: dict[type[exp.Expr], Handler] = {
    exp.ArrayContains: _contains,
    exp.ArraySort: _sorted("sql.list_sort", "sorted"),
    exp.ArrayDistinct: _sorted("sql.list_distinct"),
    exp.ArrayConcat: _concat,
    exp.ArrayAppend: _append,
    exp.ArrayMin: _extreme("sql.list_min"),
    exp.ArrayMax: _extreme("sql.list_max"),
    exp.ArrayOverlaps: _has_any,
    exp.ArrayToString: _to_string,
    exp.Map: _made,
    exp.MapKeys: _keys,
}
