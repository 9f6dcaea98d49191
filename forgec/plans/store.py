"""Values on their way into columns: conversions, and the checks that are not already certain."""

from __future__ import annotations

import ast

from forgec.model.spec import Action, Column, Parameter, Table
from forgec.plans import python as py
from forgec.plans.expression import Lowering
from forgec.sql.nulls import may_be_null
from forgec.sql.query import cell_of
from forgec.sql.tree import Value, cast, exp, is_constant
from forgec_runtime.types import MAX_INTEGER, MAX_TEXT, Enum, Field, Integer, List, Map, Record, Text, Type


def stored(tree: exp.Expr, column: Column, table: Table, lowering: Lowering) -> ast.expr:
    """The Python of `tree` as `column` holds it: converted, in range, not null where it may not be."""
    return _converted(tree, column, table, lowering, inside=True)


def given(tree: exp.Expr, parameter: Parameter, action: Action, lowering: Lowering) -> ast.expr:
    """The Python of `tree` as a parameter of an action takes it; what that holds is looked at when it is stored."""
    return _converted(tree, parameter, action, lowering, inside=False)


def _converted(
    tree: exp.Expr, column: Column | Parameter, table: Table | Action, lowering: Lowering, *, inside: bool
) -> ast.expr:
    where = f"{table.title}.{column.name}"
    if isinstance(tree, exp.Null):
        lowered = lowering.value(tree)
    else:
        lowered = lowering.value(cast(tree.copy(), column.type.sql))
    node = lowered.node
    looked_at = inside or not isinstance(column.type, Record | List | Map)
    if looked_at and not _is_certain(tree, node, column.type, lowering):
        node = _checked(node, column, table)
    if lowered.optional and not column.optional:
        node = py.call("sql.required", node, ast.Constant(where))
    return node


def answered(row: str, name: str, column: Column, table: Table) -> ast.expr:
    """A column of a query's answer, already of the right type, as `column` holds it."""
    where = f"{table.title}.{column.name}"
    node = _checked(py.item(py.name(row), name), column, table)
    return node if column.optional else py.call("sql.required", node, ast.Constant(where))


def _is_certain(tree: exp.Expr, node: ast.expr, wanted: Type, lowering: Lowering) -> bool:
    """Whether a value is known to be in range: a constant is if all in it is, a column or argument of the type is."""
    if isinstance(tree, exp.Null):
        return True
    if isinstance(tree, exp.Literal) or (is_constant(tree) and not _has_enum(wanted)):
        return all(_fits(part.value) for part in ast.walk(node) if isinstance(part, ast.Constant))
    if isinstance(tree, exp.Struct) and isinstance(wanted, Record) and isinstance(node, ast.Dict):
        parts = {part.this.name: part.expression for part in tree.expressions}
        return all(
            _is_certain_field(parts.get(field.name, exp.Null()), part, field, lowering)
            for field, part in zip(wanted.fields, node.values, strict=True)
        )
    if isinstance(tree, exp.ArraySort):  # has the elements that it is given
        return _is_certain(tree.this, node, wanted, lowering)
    return isinstance(tree, Value) and cell_of(tree).type == wanted and lowering.is_held(tree.name)


def _is_certain_field(tree: exp.Expr, node: ast.expr, field: Field, lowering: Lowering) -> bool:
    if isinstance(tree, exp.Null) or may_be_null(tree):
        return False
    known = isinstance(tree, Value) or (isinstance(tree, exp.Literal) and not _has_enum(field.type))
    return known and _is_certain(tree, node, field.type, lowering)


def _fits(value: object) -> bool:
    """Whether a column may hold a number or text."""
    return len(value) <= MAX_TEXT if isinstance(value, str) else not isinstance(value, int) or abs(value) <= MAX_INTEGER


def _has_enum(type_: Type) -> bool:
    """Whether a type has an enum somewhere inside: DuckDB takes any text for it."""
    if isinstance(type_, Record):
        return any(_has_enum(field.type) for field in type_.fields)
    if isinstance(type_, Map) and _has_enum(type_.key):
        return True
    return isinstance(type_, Enum) or (isinstance(type_, List | Map) and _has_enum(type_.of))


def _checked(node: ast.expr, column: Column | Parameter, table: Table | Action) -> ast.expr:
    wanted, where = column.type, f"{table.title}.{column.name}"
    if isinstance(wanted, Record | List | Map):
        return py.call("sql.held", node, py.name(table.name.upper()), ast.Constant(column.name))
    if isinstance(wanted, Enum):
        return py.call("sql.one_of", node, py.literal(wanted.values), ast.Constant(where))
    if isinstance(wanted, Integer):
        return py.call("sql.integer", node, ast.Constant(where))
    if isinstance(wanted, Text):
        return py.call("sql.short", node, ast.Constant(where))
    return node
