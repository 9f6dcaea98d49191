"""Types, columns, parameters and signatures as a spec writes them."""

from __future__ import annotations

from forgec.model import spec as m
from forgec.model.uses import flat
from forgec.sql.scope import Cell, Rows


def parameter_text(parameter: m.Parameter) -> str:
    """`method PaymentMethod default 'card'`, `book_id -> books as b`."""
    type_ = f"-> {parameter.references}" if parameter.references else parameter.domain or str(parameter.type)
    text = f"{parameter.name} {type_}{'?' if parameter.optional else ''}"
    if parameter.row is not None:
        text += f" as {parameter.row}"
    return text + (f" default {flat(parameter.default.span.text)}" if parameter.default is not None else "")


def cell_text(cell: Cell, spec: m.Spec) -> str:
    """The type of a value: `members.member_id` where it is the key of a table."""
    type_ = str(cell.type)
    if cell.references is not None:
        table = spec.tables[cell.references]
        type_ = f"{table.title}.{table.key[-1].name}"
    return type_ + ("?" if cell.optional else "")


def result_text(result: m.Result, spec: m.Spec) -> str:
    """What stands after `returns`."""
    if result.kinds:
        return " | ".join(result_text(kind, spec) for kind in result.kinds)
    shape = result.shape
    if isinstance(shape, Cell):
        text = cell_text(shape, spec)
    elif shape.table is not None:
        text = spec.tables[shape.table].title
    else:
        text = "{ " + ", ".join(f"{name} {cell_text(cell, spec)}" for name, cell in shape.columns.items()) + " }"
    text += "[]" if isinstance(shape, Rows) else ""
    return text + ("?" if result.optional and not text.endswith("?") else "")


def action_signature(action: m.Action) -> str:
    """`charge(member_id -> members, amount decimal(6, 2))`."""
    return f"{action.name}({', '.join(parameter_text(parameter) for parameter in action.parameters)})"


def tool_signature(tool: m.Tool, spec: m.Spec) -> str:
    """`lend_book(member_id -> members as m, ...) returns loans`."""
    parameters = ", ".join(parameter_text(parameter) for parameter in tool.parameters)
    returns = f" returns {result_text(tool.returns, spec)}" if tool.returns is not None else ""
    user = "user tool " if tool.side == "user" else ""
    return f"{user}{tool.name}({parameters}){returns}{' ends' if tool.ends else ''}"


def function_signature(function: m.Function, spec: m.Spec) -> str:
    """`late_fee(due date) returns decimal(8, 2)`."""
    parameters = ", ".join(parameter_text(parameter) for parameter in function.parameters)
    return f"{function.name}({parameters}) returns {cell_text(function.returns, spec)}"


def column_type(column: m.Column) -> str:
    """The type of a column, or what it refers to."""
    type_ = f"-> {column.references}" if column.references else column.domain or str(column.type)
    return type_ + ("?" if column.optional else "")


def modifiers(column: m.Column) -> str:
    """What stands between the type of a column and its documentation."""
    serial = ""
    if column.serial is not None:
        serial = "serial" if column.serial == "{}" else f"serial '{column.serial}'"
    if column.keys:
        serial = "serial ('" + "', '".join(key.replace("'", "''") for key in column.keys) + "')"
    parts = ["key" if column.key else "", serial, "unique" if column.unique else ""]
    if column.default is not None:
        parts.append(f"default {flat(column.default.span.text)}")
    if column.check is not None:
        parts.append(f"check {flat(column.check.span.text)}")
    if column.when is not None:
        parts.append(f"when {flat(column.when.span.text)}")
    parts.append("" if column.scored else "unscored")
    parts.append("" if column.ordered else "unordered")
    parts.append("hidden" if column.hidden else "")
    return " ".join(part for part in parts if part)
