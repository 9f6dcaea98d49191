"""The operators and functions of SQL that Python computes exactly as DuckDB does, a function each.

Each takes the lowering it is part of and a node, and gives Python. It raises `NoTwin` for operands that the two treat
differently. What is not in `TWINS` is computed by DuckDB.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from forgec.plans import picks
from forgec.plans import python as py
from forgec.plans.lowered import Lowered, NoTwin
from forgec.sql.infer import MAX_DECIMAL, infer
from forgec.sql.nulls import may_be_null
from forgec.sql.tree import Lookup, Value, exp
from forgec_runtime.types import Boolean, Date, Decimal, Double, Integer, Text, Timestamp, Type

if TYPE_CHECKING:
    from forgec.plans.expression import Lowering

Handler: TypeAlias = "Callable[[Lowering, exp.Expr], Lowered]"


def operands(tree: exp.Expr, kind: type[exp.Expr]) -> list[exp.Expr]:
    if isinstance(tree, exp.Paren) and isinstance(tree.this, kind | exp.Paren):
        return operands(tree.this, kind)
    if isinstance(tree, kind):
        return [*operands(tree.this, kind), *operands(tree.expression, kind)]
    return [tree]


def sql_name(node: exp.Expr) -> str:
    return node.sql_name().lower() if isinstance(node, exp.Func) else type(node).__name__.lower()


def _logic(operator: type[ast.boolop], twin: str) -> Handler:
    def lower(low: Lowering, node: exp.Expr) -> Lowered:
        parts = [low.value(part) for part in operands(node, type(node))]
        optional = any(part.optional for part in parts)
        if optional:
            return Lowered(py.call(twin, *(part.node for part in parts)), Boolean(), True)
        return Lowered(ast.BoolOp(operator(), [part.node for part in parts]), Boolean(), False)

    return lower


def _not(low: Lowering, node: exp.Expr) -> Lowered:
    part = low.value(node.this)
    if part.optional:
        return Lowered(py.call("sql.not_", part.node), Boolean(), True)
    return Lowered(py.negated(part.node), Boolean(), False)


def _comparison(operator: type[ast.cmpop], twin: str) -> Handler:
    def lower(low: Lowering, node: exp.Expr) -> Lowered:
        left, right = _alike(low, node.this, node.expression)
        optional = left.optional or right.optional
        if optional:
            return Lowered(py.call(twin, left.node, right.node), Boolean(), True)
        return Lowered(py.compare(left.node, operator(), right.node), Boolean(), False)

    return lower


def _alike(low: Lowering, a: exp.Expr, b: exp.Expr) -> tuple[Lowered, Lowered]:
    """Two operands of types that Python compares as DuckDB does."""
    left, right = low.value(a), low.value(b)
    kinds = {_comparison_kind(left.type), _comparison_kind(right.type)}
    if len(kinds) > 1 and not isinstance(a, exp.Null) and not isinstance(b, exp.Null):
        raise NoTwin(f"DuckDB compares {left.type} with {right.type}")
    if "record" in kinds or "double" in kinds:
        raise NoTwin("records and doubles are compared by DuckDB")  # a NaN equals itself there
    return left, right


def _comparison_kind(type_: Type) -> str:
    if isinstance(type_, Integer | Decimal):
        return "exact"
    return {"VARCHAR": "text", "BOOLEAN": "boolean", "DATE": "date", "TIMESTAMP": "time", "DOUBLE": "double"}.get(
        type_.sql, "record"
    )


def _null_safe(operator: type[ast.cmpop]) -> Handler:
    def lower(low: Lowering, node: exp.Expr) -> Lowered:
        left, right = _alike(low, node.this, node.expression)
        return Lowered(py.compare(left.node, operator(), right.node), Boolean(), False)

    return lower


def _is(low: Lowering, node: exp.Expr) -> Lowered:
    left = low.value(node.this)
    if isinstance(node.expression, exp.Null):
        return Lowered(py.is_none(left.node), Boolean(), False)
    if isinstance(node.expression, exp.Boolean) and isinstance(left.type, Boolean):
        return Lowered(py.compare(left.node, ast.Is(), ast.Constant(node.expression.this)), Boolean(), False)
    raise NoTwin("`is` is computed by DuckDB")


def _in(low: Lowering, node: exp.Expr) -> Lowered:
    if node.args.get("query") is not None:
        raise NoTwin("`in (select ...)` searches a table")
    pairs = [_alike(low, node.this, value) for value in node.expressions]
    subject = pairs[0][0]
    values = [right for _, right in pairs]
    if subject.optional or any(value.optional for value in values):
        return Lowered(py.call("sql.in_", subject.node, *(value.node for value in values)), Boolean(), True)
    options = ast.Tuple([value.node for value in values], ast.Load())
    return Lowered(py.compare(subject.node, ast.In(), options), Boolean(), False)


def _between(low: Lowering, node: exp.Expr) -> Lowered:
    subject, least = _alike(low, node.this, node.args["low"])
    _, most = _alike(low, node.this, node.args["high"])
    if subject.optional or least.optional or most.optional:
        return Lowered(py.call("sql.between", subject.node, least.node, most.node), Boolean(), True)
    chained = ast.Compare(least.node, [ast.LtE(), ast.LtE()], [subject.node, most.node])
    return Lowered(chained, Boolean(), False)


def _arithmetic(operator: type[ast.operator], twin: str) -> Handler:
    def lower(low: Lowering, node: exp.Expr) -> Lowered:
        type_ = infer(node)
        if not isinstance(type_, Integer | Decimal):
            raise NoTwin(f"`{sql_name(node)}` is computed by DuckDB")
        left, right = low.value(node.this), low.value(node.expression)
        if isinstance(left.type, Date):
            return Lowered(
                py.call("sql.days_between", left.node, right.node), Integer(), left.optional or right.optional
            )
        optional = left.optional or right.optional
        if optional or (operator is ast.Mult and isinstance(type_, Decimal)):  # Python knows a zero below zero
            result: ast.expr = py.call(twin, left.node, right.node)
        else:
            result = ast.BinOp(left.node, operator(), right.node)
        if isinstance(type_, Integer) and _bits(node) > 62:
            result = py.call("sql.bigint", result)
        return Lowered(result, type_, optional)

    return lower


def _add(low: Lowering, node: exp.Expr) -> Lowered:
    if isinstance(infer(node), Date):
        left, right = low.value(node.this), low.value(node.expression)
        optional = left.optional or right.optional
        return Lowered(py.call("sql.add_days", left.node, right.node), Date(), optional)
    return _arithmetic(ast.Add, "sql.add")(low, node)


def _bits(node: exp.Expr) -> int:
    """A bound on the size of an integer expression; columns and arguments hold 53 bits."""
    if isinstance(node, exp.Paren | exp.Neg):
        return _bits(node.this)
    if isinstance(node, exp.Literal):
        return int(node.name).bit_length() if node.name.isdigit() else 64
    if isinstance(node, exp.Add | exp.Sub):
        return max(_bits(node.this), _bits(node.expression)) + 1
    if isinstance(node, exp.Mul):
        return _bits(node.this) + _bits(node.expression)
    return 53 if isinstance(node, Value | Lookup) else 62


def _neg(low: Lowering, node: exp.Expr) -> Lowered:
    part = low.value(node.this)
    if not isinstance(part.type, Integer | Decimal | Double):
        raise NoTwin("`-` is computed by DuckDB")
    if isinstance(part.type, Decimal) and part.type.precision > MAX_DECIMAL:
        raise NoTwin("so many digits are kept by DuckDB")
    if part.optional:
        return Lowered(py.call("sql.neg", part.node), part.type, True)
    return Lowered(ast.UnaryOp(ast.USub(), part.node), part.type, False)


def _concat(low: Lowering, node: exp.Expr) -> Lowered:
    left, right = low.value(node.this), low.value(node.expression)
    if left.type.sql != "VARCHAR" or right.type.sql != "VARCHAR":
        raise NoTwin("`||` of what is no text is computed by DuckDB")
    optional = left.optional or right.optional
    if optional:
        return Lowered(py.call("sql.add", left.node, right.node), Text(), True)
    return Lowered(ast.BinOp(left.node, ast.Add(), right.node), Text(), False)


def _text_function(twin: str, result: Type) -> Handler:
    def lower(low: Lowering, node: exp.Expr) -> Lowered:
        part = low.value(node.this)
        if part.type.sql != "VARCHAR":
            raise NoTwin(f"`{sql_name(node)}` of what is no text is computed by DuckDB")
        return Lowered(py.call(twin, part.node), result, part.optional)

    return lower


def _coalesce(low: Lowering, node: exp.Expr) -> Lowered:
    parts = [low.value(part) for part in [node.this, *node.expressions]]
    if len({part.type.sql for part in parts}) > 1:
        raise NoTwin("`coalesce` of different types is computed by DuckDB")
    optional = all(part.optional for part in parts)
    return Lowered(py.call("sql.coalesce", *(part.node for part in parts)), parts[0].type, optional)


def _case(low: Lowering, node: exp.Expr) -> Lowered:
    if node.this is not None:
        raise NoTwin("`case x when` is computed by DuckDB")
    default = node.args.get("default")
    branches = [(low.condition(branch.this), low.value(branch.args["true"])) for branch in node.args["ifs"]]
    last = low.value(default) if default is not None else Lowered(ast.Constant(None), branches[0][1].type, True)
    results = [*(result for _, result in branches), last]
    if len({result.type.sql for result in results}) > 1:
        raise NoTwin("`case` of different types is computed by DuckDB")
    node_ = last.node
    for test, result in reversed(branches):
        node_ = ast.IfExp(test, result.node, node_)
    return Lowered(node_, results[0].type, any(result.optional for result in results))


def _extreme(twin: str) -> Handler:
    def lower(low: Lowering, node: exp.Expr) -> Lowered:
        parts = [low.value(part) for part in [node.this, *node.expressions]]
        if len({part.type.sql for part in parts}) > 1 or _comparison_kind(parts[0].type) in ("record", "double"):
            raise NoTwin(f"`{sql_name(node)}` of different types is computed by DuckDB")
        called = py.call(twin, *(part.node for part in parts))
        return Lowered(called, parts[0].type, all(part.optional for part in parts))

    return lower


def _date_diff(low: Lowering, node: exp.Expr) -> Lowered:
    end, start = low.value(node.this), low.value(node.expression)
    if node.args["unit"].name.upper() != "DAY" or not (isinstance(end.type, Date) and isinstance(start.type, Date)):
        raise NoTwin("`date_diff` of what is no pair of dates, or not in days, is computed by DuckDB")
    return Lowered(py.call("sql.days_between", end.node, start.node), Integer(), end.optional or start.optional)


def _cast(low: Lowering, node: exp.Expr) -> Lowered:
    wanted = low.type_of(node)
    return converted(low.value(node.this), wanted)


def converted(given: Lowered, wanted: Type) -> Lowered:
    """A value as another type. Raises `NoTwin`."""
    if given.type.sql == wanted.sql:
        return Lowered(given.node, wanted, given.optional)
    if isinstance(wanted, Decimal) and isinstance(given.type, Integer | Decimal):
        twin = py.call("sql.decimal_", given.node, ast.Constant(wanted.precision), ast.Constant(wanted.scale))
    elif isinstance(wanted, Date) and isinstance(given.type, Timestamp):
        twin = py.call("sql.date_", given.node)
    elif isinstance(wanted, Timestamp) and isinstance(given.type, Date):
        twin = py.call("sql.timestamp", given.node)
    else:
        raise NoTwin(f"{given.type} is cast to {wanted} by DuckDB")
    return Lowered(twin, wanted, given.optional)


def _subquery(low: Lowering, node: exp.Expr) -> Lowered:
    counted = low.attempt(lambda: picks.single(low, node.this))
    if counted is not None:
        return counted
    return Lowered(low.ask(node.this, "value", "a subquery searches tables"), low.type_of(node), may_be_null(node))


def _exists(low: Lowering, node: exp.Expr) -> Lowered:
    found = low.attempt(lambda: picks.exists(low, node))
    return found or Lowered(low.ask(node, "value", "`exists` searches tables"), Boolean(), False)


TWINS: dict[type[exp.Expr], Handler] = {
    exp.And: _logic(ast.And, "sql.and_"),
    exp.Or: _logic(ast.Or, "sql.or_"),
    exp.Not: _not,
    exp.EQ: _comparison(ast.Eq, "sql.eq"),
    exp.NEQ: _comparison(ast.NotEq, "sql.ne"),
    exp.LT: _comparison(ast.Lt, "sql.lt"),
    exp.LTE: _comparison(ast.LtE, "sql.le"),
    exp.GT: _comparison(ast.Gt, "sql.gt"),
    exp.GTE: _comparison(ast.GtE, "sql.ge"),
    exp.NullSafeEQ: _null_safe(ast.Eq),
    exp.NullSafeNEQ: _null_safe(ast.NotEq),
    exp.Is: _is,
    exp.In: _in,
    exp.Between: _between,
    exp.Add: _add,
    exp.Sub: _arithmetic(ast.Sub, "sql.sub"),
    exp.Mul: _arithmetic(ast.Mult, "sql.mul"),
    exp.Neg: _neg,
    exp.DPipe: _concat,
    exp.Lower: _text_function("sql.lower", Text()),
    exp.Upper: _text_function("sql.upper", Text()),
    exp.Length: _text_function("sql.length", Integer()),
    exp.Coalesce: _coalesce,
    exp.Case: _case,
    exp.Cast: _cast,
    exp.Greatest: _extreme("sql.greatest"),
    exp.Least: _extreme("sql.least"),
    exp.DateDiff: _date_diff,
    exp.Subquery: _subquery,
    exp.Exists: _exists,
}
