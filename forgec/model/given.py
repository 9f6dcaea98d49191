"""What a task says of its values: SQL, or data that need no parser."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Mapping
from typing import Any

from forgec.diagnostics import did_you_mean
from forgec.model.spec import Constant, Given
from forgec.source import Source, Span
from forgec.sql.check import SqlChecker
from forgec.sql.constants import constant
from forgec.sql.infer import assignable
from forgec.sql.query import Sql
from forgec.sql.scope import Cell, Row, Rows, Scope, Shape
from forgec.sql.tree import Value, exp, is_constant
from forgec.syntax import nodes
from forgec_runtime import task_file
from forgec_runtime.results import json_able
from forgec_runtime.types import (
    Boolean,
    Date,
    Decimal,
    Double,
    Integer,
    List,
    Mismatch,
    Record,
    Text,
    Timestamp,
    Type,
)


def given(node: nodes.Given, checker: SqlChecker, scope: Scope, wanted: Type | None = None) -> Given | None:
    """A value, of type `wanted` if given; None when something was reported."""
    if isinstance(node, nodes.Data):
        return _data(node, checker, wanted)
    if isinstance(node, nodes.Path):
        return _path(node, checker, scope, wanted)
    sql = checker.expression(node, scope, wanted, data=wanted is not None)
    return None if sql is None or not checker.has_type(sql) else settled(sql, checker)


def settled(sql: Sql, checker: SqlChecker) -> Given:
    """What a piece of SQL says of a value: a constant where it depends on nothing else."""
    if not isinstance(sql.shape, Cell) or sql.reads or not is_constant(sql.expression):
        return sql
    if isinstance(sql.tree, exp.Null):
        return Constant(value=None, cell=sql.shape, text=sql.text)
    value = constant(sql.expression, sql.shape.type, checker, sql.span)
    return Constant(value=value, cell=Cell(sql.shape.type, value is None), text=sql.text)


def any_given(node: nodes.Given, checker: SqlChecker, scope: Scope, *, many: bool) -> tuple[Given, Shape] | None:
    """A value, a row (of a select of several columns) or, if `many`, rows, with its shape."""
    if not isinstance(node, nodes.SqlText):
        found = given(node, checker, scope)
        return None if found is None else (found, _shape(found))
    sql = checker.any(node, scope)
    if sql is None or not checker.has_type(sql):
        return None
    shape = sql.shape
    if isinstance(shape, Rows) and not many:
        shape = one_of(shape)
    return settled(sql, checker), shape


def one_of(rows: Rows) -> Cell | Row:
    """What one of some rows is: of a single column, its value."""
    single = len(rows.columns) == 1
    return next(iter(rows.columns.values())) if single else Row(rows.columns, True, rows.table)


def _shape(value: Given) -> Shape:
    return value.cell if isinstance(value, Constant) else value.shape


def _data(node: nodes.Data, checker: SqlChecker, wanted: Type | None) -> Constant | None:
    try:
        value = task_file.constant(node.value)
        if wanted is not None:
            decoded = None if value is None else wanted.decode(json_able(value))
            value = value if _says(value, decoded) else decoded
        elif (wanted := _type_of(value)) is None:
            raise Mismatch("a text, number, date or list of these")
    except Mismatch as mismatch:
        place, problem = mismatch.problems[0]
        checker.report.error("AFS301", f"the value{place} {problem}", node.span)
        return None
    except (KeyError, TypeError, ValueError, decimal.InvalidOperation):
        known = ", ".join(f"`{kind}`" for kind in task_file.KINDS)
        checker.report.error("AFS301", "this is no value", node.span, help=f"an object has one of {known}")
        return None
    return Constant(value=value, cell=Cell(wanted, value is None), text=written(value))


def _says(value: Any, decoded: Any) -> bool:
    """Whether a constant is what it is decoded to, except for what it leaves out."""
    if isinstance(value, Mapping) and isinstance(decoded, Mapping):
        return all(_says(part, decoded.get(name)) for name, part in value.items())
    if isinstance(value, list) and isinstance(decoded, list):
        return all(map(_says, value, decoded))
    return bool(value == decoded)


def _type_of(value: Any) -> Type | None:
    """The type of a constant that says it itself."""
    if isinstance(value, decimal.Decimal):
        _, digits, exponent = value.as_tuple()
        scale = max(-int(exponent), 0)
        precision = max(len(digits) + max(int(exponent), 0), scale + 1)
        return Decimal(precision, scale) if precision <= MAX_DIGITS else None
    if isinstance(value, list):
        kinds = {_type_of(part) for part in value}
        (kind,) = kinds if len(kinds) == 1 else (None,)
        return List(kind) if kind is not None else None
    return _PLAIN.get(type(value))


MAX_DIGITS = 18
"""Of a decimal."""
_PLAIN: dict[type, Type] = {
    bool: Boolean(), int: Integer(), float: Double(), str: Text(), datetime.date: Date(),
    datetime.datetime: Timestamp(), type(None): Text(),
}  # fmt: skip


def _path(node: nodes.Path, checker: SqlChecker, scope: Scope, wanted: Type | None) -> Sql | None:
    head, *rest = node.path.split(".")
    shape = scope.values.get(head)
    if shape is None:
        hint = did_you_mean(head, scope.values)
        checker.report.error("AFS203", f"unknown value `${head}`{scope.where}", node.span, help=hint, about=head)
        return None
    if isinstance(shape, Rows):
        hint = "take a value of them by a reason"
        checker.report.error("AFS203", f"`${head}` is a set of rows", node.span, help=hint)
        return None
    cell = _cell_at(shape, rest)
    if cell is None:
        names = _parts(shape)
        hint = did_you_mean(rest[0], names) if rest else f"take one of {', '.join(names)}"
        checker.report.error("AFS202", f"`${node.path}` is no single value", node.span, help=hint)
        return None
    if wanted is not None and not assignable(wanted, cell.type):
        checker.report.error("AFS301", f"expected {wanted}, found {cell.type}", node.span, f"this is {cell.type}")
        return None
    tree = Value(this=node.path)
    tree.meta["cell"] = cell
    text = f"${node.path}"
    return Sql(Span(Source(node.span.source.name, text), 0, len(text)), tree, None, cell, frozenset())


def _cell_at(shape: Cell | Row, path: list[str]) -> Cell | None:
    if isinstance(shape, Row):
        found = shape.columns.get(path[0]) if path else None
        if found is None:
            return None
        return _cell_at(Cell(found.type, found.optional or shape.optional, found.references), path[1:])
    for name in path:
        field = shape.type.field(name) if isinstance(shape.type, Record) else None
        if field is None:
            return None
        shape = Cell(field.type, shape.optional or field.optional)
    return shape


def _parts(shape: Cell | Row) -> list[str]:
    if isinstance(shape, Row):
        return list(shape.columns)
    return [field.name for field in shape.type.fields] if isinstance(shape.type, Record) else []


def nullable(shape: Shape) -> Shape:
    """The shape of what may not be there at all."""
    if isinstance(shape, Cell):
        return Cell(shape.type, True, shape.references)
    return Row(shape.columns, True, shape.table) if isinstance(shape, Row) else shape


def common(one: Shape, other: Shape | None) -> Shape | None:
    """The shape of what is one in one plan and the other in another; None where they differ."""
    if isinstance(one, Cell) and isinstance(other, Cell):
        type_ = _wider(one.type, other.type)
        references = one.references if one.references == other.references else None
        return Cell(type_, one.optional or other.optional, references) if type_ is not None else None
    if isinstance(one, Row) and isinstance(other, Row):
        columns = _common_columns(one, other)
        table = one.table if one.table == other.table else None
        return Row(columns, one.optional or other.optional, table) if columns else None
    if isinstance(one, Rows) and isinstance(other, Rows):
        columns = _common_columns(one, other)
        return Rows(columns, one.table if one.table == other.table else None) if columns else None
    return None


def _wider(one: Type, other: Type) -> Type | None:
    """The type that holds the values of both."""
    if isinstance(one, Decimal) and isinstance(other, Decimal):
        scale = max(one.scale, other.scale)
        return Decimal(max(one.precision - one.scale, other.precision - other.scale) + scale, scale)
    return one if one == other else None


def _common_columns(one: Row | Rows, other: Row | Rows) -> dict[str, Cell] | None:
    if list(one.columns) != list(other.columns):
        return None
    cells = {name: common(cell, other.columns[name]) for name, cell in one.columns.items()}
    found = {name: cell for name, cell in cells.items() if isinstance(cell, Cell)}
    return found if len(found) == len(cells) else None


def written(value: Any) -> str:
    """A constant as SQL writes it."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, datetime.datetime):
        return f"timestamp '{value.isoformat(sep=' ')}'"
    if isinstance(value, datetime.date):
        return f"date '{value.isoformat()}'"
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{written(name)}: {written(part)}" for name, part in value.items()) + "}"
    return format(value, "f") if isinstance(value, decimal.Decimal) else str(value)
