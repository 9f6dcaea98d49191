"""Values on their way into columns: conversions, and the checks that are not already certain."""

from __future__ import annotations

import ast

from forgec_runtime.types import Date, Decimal, Enum, Integer, Text, Timestamp, Type
from sqlglot import exp

from forgec.model.spec import Column
from forgec.plans import python as py
from forgec.plans.expression import Lowered, Lowering, NoTwin
from forgec.plans.keyed import is_constant
from forgec.sql.query import cell_of
from forgec.sql.tree import DIALECT, Value


def stored(tree: exp.Expr, column: Column, table: str, lowering: Lowering) -> ast.expr:
    """The Python of `tree` as `column` holds it: converted, in range, not null where it may not be."""
    where = f"{table}.{column.name}"
    if is_constant(tree) and not isinstance(tree, exp.Null):
        cast = exp.cast(tree.copy(), column.type.sql, dialect=DIALECT)
        lowered = lowering.value(cast)
        lowered = Lowered(lowered.node, column.type, lowered.optional)
    else:
        lowered = _converted(lowering.value(tree), tree, column.type, where, lowering)
    node = lowered.node
    if not _is_certain(tree, column.type):
        node = _checked(node, column.type, where)
    if lowered.optional and not column.optional:
        node = py.call("sql.required", node, ast.Constant(where))
    return node


def answered(row: str, name: str, column: Column, table: str) -> ast.expr:
    """A column of a query's answer, already of the right type, as `column` holds it."""
    where = f"{table}.{column.name}"
    node = _checked(py.item(py.name(row), name), column.type, where)
    return node if column.optional else py.call("sql.required", node, ast.Constant(where))


def _converted(given: Lowered, tree: exp.Expr, wanted: Type, where: str, lowering: Lowering) -> Lowered:
    if isinstance(tree, exp.Null) or given.type.sql == wanted.sql:
        return Lowered(given.node, wanted, given.optional)
    if isinstance(wanted, Decimal) and isinstance(given.type, Integer | Decimal):
        digits = ast.Constant(wanted.precision), ast.Constant(wanted.scale)
        return Lowered(py.call("sql.decimal_", given.node, *digits, ast.Constant(where)), wanted, given.optional)
    if isinstance(wanted, Date) and isinstance(given.type, Timestamp):
        return Lowered(py.call("sql.date_", given.node), wanted, given.optional)
    if isinstance(wanted, Timestamp) and isinstance(given.type, Date):
        return Lowered(py.call("sql.timestamp", given.node), wanted, given.optional)
    try:
        asked = lowering.value(exp.cast(tree.copy(), wanted.sql, dialect=DIALECT))
    except NoTwin as reason:
        raise AssertionError(f"{where}: {reason}") from None
    return Lowered(asked.node, wanted, given.optional)


def _is_certain(tree: exp.Expr, wanted: Type) -> bool:
    """Whether a value is known to be in range: a constant was checked, a column or argument of the type is."""
    if isinstance(tree, exp.Null) or (is_constant(tree) and not isinstance(wanted, Enum)):
        return True
    if isinstance(tree, exp.Literal):
        return True
    return isinstance(tree, Value) and cell_of(tree).type == wanted


def _checked(node: ast.expr, wanted: Type, where: str) -> ast.expr:
    if isinstance(wanted, Enum):
        return py.call("sql.one_of", node, py.literal(wanted.values), ast.Constant(where))
    if isinstance(wanted, Integer):
        return py.call("sql.integer", node, ast.Constant(where))
    if isinstance(wanted, Text):
        return py.call("sql.short", node, ast.Constant(where))
    return node
