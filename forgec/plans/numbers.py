"""Twins of arithmetic."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forgec.plans import python as py
from forgec.plans.conversions import converted
from forgec.plans.lowered import Handler, Lowered, NoTwin, sql_name, strict
from forgec.plans.times import shifted
from forgec.sql.infer import MAX_DECIMAL, infer, results
from forgec.sql.nulls import is_nonzero
from forgec.sql.tree import Calculate, Lookup, Value, exp
from forgec_runtime.types import Date, Decimal, Double, Integer

if TYPE_CHECKING:
    from forgec.plans.expression import Lowering

MOST_PLACES = 15


def _arithmetic(operator: type[ast.operator], twin: str) -> Handler:
    def lower(low: Lowering, node: exp.Expr) -> Lowered:
        if isinstance(node.expression, exp.Interval):
            return shifted(low, node)
        type_ = infer(node)
        if not isinstance(type_, Integer | Decimal | Double):
            raise NoTwin(f"`{sql_name(node)}` is computed by DuckDB")
        left, right = low.value(node.this), low.value(node.expression)
        if isinstance(type_, Double):
            left, right = converted(left, type_), converted(right, type_)
        if isinstance(left.type, Date):
            return Lowered(
                py.call("sql.days_between", left.node, right.node), Integer(), left.optional or right.optional
            )
        optional = left.optional or right.optional
        if optional or (operator is ast.Mult and isinstance(type_, Decimal)):  # Python knows a zero below zero
            result: ast.expr = py.call(twin, left.node, right.node)
        else:
            result = ast.BinOp(left.node, operator(), right.node)
        return _in_range(node, Lowered(result, type_, optional))

    return lower


def _add(low: Lowering, node: exp.Expr) -> Lowered:
    if isinstance(infer(node), Date):
        left, right = low.value(node.this), low.value(node.expression)
        optional = left.optional or right.optional
        return Lowered(py.call("sql.add_days", left.node, right.node), Date(), optional)
    return _arithmetic(ast.Add, "sql.add")(low, node)


def _bits(node: exp.Expr) -> int:
    """A bound on the size of an integer expression; columns and arguments hold 53 bits."""
    if isinstance(node, exp.Paren | exp.Neg | exp.Abs | exp.Nullif | exp.IntDiv):
        return _bits(node.this)
    if isinstance(node, exp.Case | exp.Coalesce | exp.Greatest | exp.Least):
        return max(map(_bits, results(node)))
    if isinstance(node, exp.Null):
        return 0
    if isinstance(node, exp.Literal):
        return int(node.name).bit_length() if node.name.isdigit() else 64
    if isinstance(node, exp.Add | exp.Sub):
        return max(_bits(node.this), _bits(node.expression)) + 1
    if isinstance(node, exp.Mul):
        return _bits(node.this) + _bits(node.expression)
    if isinstance(node, exp.Cast):
        given = infer(node.this)
        if isinstance(given, Decimal):
            return 4 * (given.precision - given.scale)
        return _bits(node.this) if isinstance(given, Integer) else 64
    if isinstance(node, exp.Length):
        return 32
    return 53 if isinstance(node, Value | Lookup) else 62


def _in_range(node: exp.Expr, result: Lowered) -> Lowered:
    """`result`, an integer of 64 bits or a finite double, or a fault."""
    if isinstance(result.type, Double):
        return strict("sql.finite", result.type, result)
    return (
        strict("sql.bigint", result.type, result) if isinstance(result.type, Integer) and _bits(node) > 62 else result
    )


def _neg(low: Lowering, node: exp.Expr) -> Lowered:
    part = low.value(node.this)
    if not isinstance(part.type, Integer | Decimal | Double):
        raise NoTwin("`-` is computed by DuckDB")
    _check_digits(part)
    result = py.call("sql.neg", part.node) if part.optional else ast.UnaryOp(ast.USub(), part.node)
    negated = Lowered(result, part.type, part.optional)
    return _in_range(node, negated) if isinstance(part.type, Integer) else negated


def _abs(low: Lowering, node: exp.Expr) -> Lowered:
    part = low.value(node.this)
    if not isinstance(part.type, Integer | Decimal | Double):
        raise NoTwin("`abs` is computed by DuckDB")
    _check_digits(part)
    result = Lowered(py.call("sql.abs_" if part.optional else "abs", part.node), part.type, part.optional)
    return _in_range(node, result) if isinstance(part.type, Integer) else result


def _check_digits(part: Lowered) -> None:
    if isinstance(part.type, Decimal) and part.type.precision > MAX_DECIMAL:
        raise NoTwin("so many digits are kept by DuckDB")


def _sign(low: Lowering, node: exp.Expr) -> Lowered:
    part = low.value(node.this)
    if not isinstance(part.type, Integer | Decimal):
        raise NoTwin("`sign` is computed by DuckDB")
    return strict("sql.sign", Integer(), part)


def _round(low: Lowering, node: exp.Expr) -> Lowered:
    part, type_ = low.value(node.this), _type_rounded(node)
    places = int(node.args["decimals"].name) if node.args.get("decimals") is not None else 0
    if isinstance(type_, Decimal):
        places = type_.scale
    if places > MOST_PLACES:
        raise NoTwin("so many places are kept by DuckDB")
    return strict("sql.round_", type_, part, Lowered(ast.Constant(places), Integer(), False))


def _to_whole(twin: str) -> Handler:
    return lambda low, node: strict(twin, _type_rounded(node), low.value(node.this))


def _type_rounded(node: exp.Expr) -> Decimal | Double:
    """The type of a number that is rounded. Raises `NoTwin`."""
    given, type_ = infer(node.this), infer(node)
    if isinstance(given, Decimal | Double) and isinstance(type_, Decimal | Double):
        return type_
    raise NoTwin(f"`{sql_name(node)}` is computed by DuckDB")


def _division(twin: str) -> Handler:
    """Division of which nothing remains but a quotient, or the rest. By zero it is NULL."""

    def lower(low: Lowering, node: exp.Expr) -> Lowered:
        type_ = infer(node)
        left, right = low.value(node.this), low.value(node.expression)
        exact = isinstance(left.type, Integer | Decimal) and isinstance(right.type, Integer | Decimal)
        if not exact or not isinstance(type_, Integer | Decimal):
            raise NoTwin(f"`{sql_name(node)}` is computed by DuckDB")
        result = strict(twin, type_, left, right)
        return _in_range(node, Lowered(result.node, type_, result.optional or not is_nonzero(node.expression)))

    return lower


def _quotient(low: Lowering, node: exp.Expr) -> Lowered:
    left, right = low.value(node.this), low.value(node.expression)
    if not all(isinstance(part.type, Integer | Decimal | Double) for part in (left, right)):
        raise NoTwin("`/` is computed by DuckDB")
    optional = left.optional or right.optional or not is_nonzero(node.expression)
    quotient = Lowered(py.call("sql.quotient", left.node, right.node), Double(), optional)
    is_double = any(isinstance(part.type, Double) for part in (left, right))
    return _in_range(node, quotient) if is_double else quotient


def _calculate(low: Lowering, node: exp.Expr) -> Lowered:
    return Lowered(py.call("sql.calculate", low.value(node.this).node), Double(), True)


TWINS: dict[type[exp.Expr], Handler] = {
    Calculate: _calculate,
    exp.Add: _add,
    exp.Sub: _arithmetic(ast.Sub, "sql.sub"),
    exp.Mul: _arithmetic(ast.Mult, "sql.mul"),
    exp.Div: _quotient,
    exp.IntDiv: _division("sql.div"),
    exp.Mod: _division("sql.mod"),
    exp.Neg: _neg,
    exp.Abs: _abs,
    exp.Sign: _sign,
    exp.Round: _round,
    exp.Floor: _to_whole("sql.floor"),
    exp.Ceil: _to_whole("sql.ceil"),
}
