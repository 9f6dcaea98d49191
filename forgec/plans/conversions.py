"""Values of one type as values of another, where Python converts exactly as DuckDB does."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forgec.plans import python as py
from forgec.plans.lowered import Lowered, NoTwin
from forgec.sql.frames import UNKNOWN
from forgec.sql.infer import common_decimal
from forgec.sql.tree import cast, exp, is_constant
from forgec_runtime.types import Boolean, Date, Decimal, Double, Integer, List, Map, Record, Text, Timestamp, Type

if TYPE_CHECKING:
    from forgec.plans.expression import Lowering

SHOWN = (Integer, Decimal, Double, Boolean, Date, Timestamp)
"""What is no text and shown as one by Python as by DuckDB."""


def kind(type_: Type) -> str:
    """What a type is compared with as it is."""
    if isinstance(type_, Integer | Decimal):
        return "exact"
    return {"VARCHAR": "text", "BOOLEAN": "boolean", "DATE": "date", "TIMESTAMP": "time", "DOUBLE": "double"}.get(
        type_.sql, "record"
    )


def converted(given: Lowered, wanted: Type) -> Lowered:
    """A value as another type. Raises `NoTwin`."""
    if given.type.sql == wanted.sql:
        return Lowered(given.node, wanted, given.optional)
    if wanted is UNKNOWN:
        raise NoTwin("its type is DuckDB's to say")
    return Lowered(_conversion(given, wanted), wanted, given.optional)


def _conversion(given: Lowered, wanted: Type) -> ast.expr:
    node, optional = given.node, given.optional
    if isinstance(wanted, Decimal) and isinstance(given.type, Integer | Decimal):
        if isinstance(given.type, Decimal) and given.type.scale == wanted.scale:
            if given.type.precision <= wanted.precision:
                return node
        return py.call("sql.decimal_", node, ast.Constant(wanted.precision), ast.Constant(wanted.scale))
    if isinstance(wanted, Date) and isinstance(given.type, Timestamp):
        return py.call("sql.date_", node)
    if isinstance(wanted, Timestamp) and isinstance(given.type, Date):
        return py.call("sql.timestamp", node)
    if isinstance(wanted, Text) and isinstance(given.type, SHOWN):
        return py.call("sql.varchar" if optional else "sql.text", node)
    if isinstance(wanted, Integer) and isinstance(given.type, Boolean | Decimal | Double):
        return py.call("sql.whole", node)
    if isinstance(wanted, Boolean) and isinstance(given.type, Integer):
        nonzero = ast.Constant(0)
        return py.call("sql.ne", node, nonzero) if optional else py.compare(node, ast.NotEq(), nonzero)
    if isinstance(wanted, Double) and isinstance(given.type, Integer | Decimal):
        return py.call("sql.double", node)
    raise NoTwin(f"{given.type} is cast to {wanted} by DuckDB")


def as_type(low: Lowering, tree: exp.Expr, given: Lowered, wanted: Type) -> Lowered:
    """`given`, which is what `tree` gives, as another type; constants are converted before the code is written.

    Raises `NoTwin`.
    """
    if isinstance(tree, exp.Null):
        return Lowered(given.node, wanted, True)
    if given.type.sql != wanted.sql and wanted is not UNKNOWN and is_constant(tree):
        return low.value(cast(tree.copy(), wanted.sql))
    return converted(given, wanted)


def built(low: Lowering, tree: exp.Expr, wanted: Type) -> Lowered:
    """A value of another type, part by part where it is written out. Raises `NoTwin`."""
    if isinstance(tree, exp.Struct) and isinstance(wanted, Record):
        parts = {part.this.name: part.expression for part in tree.expressions}
        entries = [(f.name, built(low, parts.get(f.name, exp.Null()), f.type).node) for f in wanted.fields]
        return Lowered(py.dictionary(entries), wanted, False)
    if isinstance(tree, exp.Array) and isinstance(wanted, List):
        elements = [built(low, part, wanted.of).node for part in tree.expressions]
        return Lowered(ast.List(elements, ast.Load()), wanted, False)
    if isinstance(tree, exp.ToMap) and isinstance(wanted, Map):
        entries = [(part.this.name, built(low, part.expression, wanted.of).node) for part in tree.this.expressions]
        return Lowered(py.dictionary(entries), wanted, False)
    return as_type(low, tree, low.value(tree), wanted)


def united(low: Lowering, node: exp.Expr, trees: list[exp.Expr]) -> tuple[list[Lowered], Type]:
    """Expressions of which one becomes the value of `node`, as the type that `node` has. Raises `NoTwin`."""
    parts = [low.value(tree) for tree in trees]
    types = {
        part.type.sql: part.type for tree, part in zip(trees, parts, strict=True) if not isinstance(tree, exp.Null)
    }
    wanted = next(iter(types.values())) if len(types) == 1 else low.type_of(node)
    return [as_type(low, tree, part, wanted) for tree, part in zip(trees, parts, strict=True)], wanted


def alike(low: Lowering, *trees: exp.Expr) -> list[Lowered]:
    """Expressions that are compared, as types that Python compares as DuckDB does. Raises `NoTwin`."""
    parts = [low.value(tree) for tree in trees]
    given = list(zip(trees, parts, strict=True))
    types = [part.type for tree, part in given if not isinstance(tree, exp.Null) and not _is_text(tree)]
    wanted = _compared_as(types) if types else Text()
    if any(map(_is_text, trees)) and kind(wanted) != "text" and len({type_.sql for type_ in types}) > 1:
        raise NoTwin("what a text is beside several types, DuckDB says")
    return [part if kind(part.type) == kind(wanted) else as_type(low, tree, part, wanted) for tree, part in given]


def _compared_as(types: list[Type]) -> Type:
    kinds = {kind(type_) for type_ in types}
    if "record" in kinds:
        raise NoTwin("records are compared by DuckDB")
    if kinds == {"exact"} and common_decimal(types) is None:
        raise NoTwin("so many digits are compared by DuckDB")
    if kinds <= {"exact", "double"}:
        return Double() if "double" in kinds else types[0]
    if kinds == {"date", "time"}:
        return Timestamp()
    if len(kinds) > 1:
        raise NoTwin(f"DuckDB compares {types[0]} with {next(t for t in types if kind(t) != kind(types[0]))}")
    return types[0]


def _is_text(tree: exp.Expr) -> bool:
    """Whether this is a text of the spec: `'2025-03-01'` beside a date is a date."""
    return isinstance(tree, exp.Literal) and tree.is_string
