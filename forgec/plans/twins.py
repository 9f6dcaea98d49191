"""The operators and functions of SQL that Python computes exactly as DuckDB does, a function each.

Each takes the lowering it is part of and a node, and gives Python. It raises `NoTwin` for operands that the two treat
differently. What is not in `TWINS` is computed by DuckDB. Here stand truth, comparison and choice; `numbers`, `texts`
and `times` hold the rest.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forgec.plans import lists, named, numbers, picks, texts, times
from forgec.plans import python as py
from forgec.plans.conversions import alike, built, converted, kind, united
from forgec.plans.lowered import Handler, Lowered, NoTwin, sql_name
from forgec.sql.nulls import may_be_null
from forgec.sql.query import cell_of
from forgec.sql.tree import Element, Lookup, Value, exp
from forgec_runtime.types import Boolean, Integer, List, Map, Record, Text, Type

if TYPE_CHECKING:
    from forgec.plans.expression import Lowering


def operands(tree: exp.Expr, kind: type[exp.Expr]) -> list[exp.Expr]:
    if isinstance(tree, exp.Paren) and isinstance(tree.this, kind | exp.Paren):
        return operands(tree.this, kind)
    if isinstance(tree, kind):
        return [*operands(tree.this, kind), *operands(tree.expression, kind)]
    return [tree]


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
        holds = py.compare(part.node, ast.Is(), ast.Constant(False))
        return Lowered(py.call("sql.not_", part.node), Boolean(), True, holds)
    return Lowered(py.negated(part.node), Boolean(), False)


def _comparison(operator: type[ast.cmpop], twin: str) -> Handler:
    def lower(low: Lowering, node: exp.Expr) -> Lowered:
        left, right = alike(low, node.this, node.expression)
        optional = left.optional or right.optional
        plain = py.compare(left.node, operator(), right.node)
        if optional:  # a value equals no NULL, which is no more than None here
            known = operator is ast.Eq and not (left.optional and right.optional)
            return Lowered(py.call(twin, left.node, right.node), Boolean(), True, plain if known else None)
        return Lowered(plain, Boolean(), False)

    return lower


def _null_safe(operator: type[ast.cmpop]) -> Handler:
    def lower(low: Lowering, node: exp.Expr) -> Lowered:
        left, right = alike(low, node.this, node.expression)
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
    subject, *values = alike(low, node.this, *node.expressions)
    if subject.optional or any(value.optional for value in values):
        return Lowered(py.call("sql.in_", subject.node, *(value.node for value in values)), Boolean(), True)
    options = ast.Tuple([value.node for value in values], ast.Load())
    return Lowered(py.compare(subject.node, ast.In(), options), Boolean(), False)


def _between(low: Lowering, node: exp.Expr) -> Lowered:
    subject, least, most = alike(low, node.this, node.args["low"], node.args["high"])
    if subject.optional or least.optional or most.optional:
        return Lowered(py.call("sql.between", subject.node, least.node, most.node), Boolean(), True)
    chained = ast.Compare(least.node, [ast.LtE(), ast.LtE()], [subject.node, most.node])
    return Lowered(chained, Boolean(), False)


def _coalesce(low: Lowering, node: exp.Expr) -> Lowered:
    parts, type_ = united(low, node, [node.this, *node.expressions])
    optional = all(part.optional for part in parts)
    if isinstance(type_, List) and len(parts) == 2 and py.is_or_none(parts[0].node) and py.is_empty(parts[1].node):
        return Lowered(parts[0].node.values[0], type_, False)  # such as what rows hold, which is NULL for no rows
    return Lowered(py.call("sql.coalesce", *(part.node for part in parts)), type_, optional)


def _nullif(low: Lowering, node: exp.Expr) -> Lowered:
    given = low.value(node.this)
    left, right = alike(low, node.this, node.expression)
    if left.type.sql != given.type.sql:
        raise NoTwin(f"{given.type} is compared as {left.type} by DuckDB")
    return Lowered(py.call("sql.nullif", left.node, right.node), given.type, True)


def _case(low: Lowering, node: exp.Expr) -> Lowered:
    tests = [low.condition(_test(node.this, branch.this)) for branch in node.args["ifs"]]
    last = node.args.get("default") or exp.Null()
    results, type_ = united(low, node, [*(branch.args["true"] for branch in node.args["ifs"]), last])
    value = results[-1].node
    for test, result in reversed(list(zip(tests, results, strict=False))):
        value = ast.IfExp(test, result.node, value)
    return Lowered(value, type_, any(result.optional for result in results))


def _test(subject: exp.Expr | None, given: exp.Expr) -> exp.Expr:
    """The condition of a branch of `case` or `case subject`."""
    if subject is None:
        return given
    if not isinstance(subject, Value | Lookup):
        raise NoTwin("`case` of more than a value is computed by DuckDB")
    return exp.EQ(this=subject.copy(), expression=given.copy())


def _extreme(plain: str, twin: str) -> Handler:
    def lower(low: Lowering, node: exp.Expr) -> Lowered:
        parts, type_ = united(low, node, [node.this, *node.expressions])
        if kind(type_) in ("record", "double"):
            raise NoTwin(f"`{sql_name(node)}` of {type_} is computed by DuckDB")
        optional = [part.optional for part in parts]
        called = py.call(twin if any(optional) else plain, *(part.node for part in parts))
        return Lowered(called, type_, all(optional))

    return lower


def _array(low: Lowering, node: exp.Expr) -> Lowered:
    parts, type_ = united(low, node, node.expressions)
    return Lowered(ast.List([part.node for part in parts], ast.Load()), List(type_), False)


def _element(low: Lowering, node: exp.Expr) -> Lowered:
    whole, key = low.value(node.this), low.value(node.expression)
    if isinstance(whole.type, Map):
        return Lowered(py.call("sql.entry", whole.node, converted(key, Text()).node), whole.type.of, True)
    if not (isinstance(whole.type, List) and isinstance(key.type, Integer)):
        raise NoTwin("an element of what only DuckDB knows")
    return Lowered(py.call("sql.element", whole.node, key.node), whole.type.of, True)


def _built(low: Lowering, node: exp.Expr, wanted: Type) -> Lowered:
    """What is written out, part by part; by one query where that takes several."""
    asked = len(low.queries)
    whole = built(low, node, wanted)
    if len(low.queries) > asked + 1:
        raise NoTwin("several parts are searched for")
    return whole


def _parts(kind: type[Record] | type[Map]) -> Handler:
    def lower(low: Lowering, node: exp.Expr) -> Lowered:
        type_ = low.type_of(node)
        if not isinstance(type_, kind):
            raise NoTwin("the types of its parts are DuckDB's to say")
        return _built(low, node, type_)

    return lower


def _cast(low: Lowering, node: exp.Expr) -> Lowered:
    if isinstance(node.this, exp.Struct | exp.Array | exp.ToMap):
        return _built(low, node.this, low.type_of(node))
    return converted(low.twin(node.this), low.type_of(node))


def _field(low: Lowering, node: exp.Expr) -> Lowered:
    """A field of a record."""
    record, name = low.value(node.this), node.expression.name
    if "cell" not in node.meta:
        raise NoTwin("a field of a record whose type is DuckDB's to say")
    cell = cell_of(node)
    optional = record.optional or cell.optional
    value = py.call("sql.field", record.node, ast.Constant(name)) if optional else py.item(record.node, name)
    return Lowered(value, cell.type, optional)


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
    exp.Coalesce: _coalesce,
    exp.Nullif: _nullif,
    exp.Case: _case,
    exp.Array: _array,
    exp.Struct: _parts(Record),
    exp.ToMap: _parts(Map),
    Element: _element,
    exp.Cast: _cast,
    exp.Dot: _field,
    exp.Greatest: _extreme("max", "sql.greatest"),
    exp.Least: _extreme("min", "sql.least"),
    exp.Subquery: _subquery,
    exp.Exists: _exists,
    **lists.TWINS,
    **named.TWINS,
    **numbers.TWINS,
    **texts.TWINS,
    **times.TWINS,
}
