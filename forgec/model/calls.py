"""Calls of tools, as tests and plans write them."""

from __future__ import annotations

from collections.abc import Mapping

from forgec.diagnostics import Report, did_you_mean
from forgec.model.spec import Call, Parameter, Tool, World
from forgec.sql.check import SqlChecker
from forgec.sql.query import Sql
from forgec.sql.scope import Cell, Scope
from forgec.sql.tree import exp
from forgec.syntax import nodes


def unknown_tool(name: nodes.Name, tools: Mapping[str, Tool], report: Report) -> None:
    report.error("AFS206", f"unknown tool `{name}`", name.span, help=did_you_mean(name.text, tools), about=name.text)


def known_world(name: nodes.Name, worlds: Mapping[str, World], report: Report) -> bool:
    """Whether a world of this name is declared; reports when not."""
    if name.text in worlds:
        return True
    hint = did_you_mean(name.text, worlds)
    report.error("AFS207", f"unknown world `{name}`", name.span, help=hint, about=name.text)
    return False


def build_call(node: nodes.Call, tools: Mapping[str, Tool], checker: SqlChecker, scope: Scope) -> Call | None:
    """A call whose arguments are there, known and of the right types; None when something was reported."""
    tool = tools.get(node.tool.text)
    if tool is None:
        unknown_tool(node.tool, tools, checker.report)
        return None
    parameters = {parameter.name: parameter for parameter in tool.parameters}
    arguments: dict[str, Sql] = {}
    sound, guessing = True, False
    for argument in node.arguments:
        parameter = parameters.get(argument.name.text)
        if parameter is None:
            hint = did_you_mean(argument.name.text, parameters)
            if hint is None:
                hint = f"it takes {', '.join(f'`{name}`' for name in parameters)}" if parameters else "it takes none"
            message = f"`{tool.name}` has no parameter `{argument.name}`"
            checker.report.error("AFS215", message, argument.name.span, help=hint, about=argument.name.text)
            sound, guessing = False, True
            continue
        if argument.name.text in arguments:
            checker.report.error("AFS208", f"`{argument.name}` is given twice", argument.name.span)
            sound = False
            continue
        sql = checker.expression(argument.sql, scope, parameter.type, data=True)
        if sql is None or not fits(sql, parameter, checker.report):
            sound, guessing = False, guessing or sql is None
        else:
            arguments[argument.name.text] = sql
    for name, parameter in parameters.items():
        given = any(argument.name.text == name for argument in node.arguments)
        if not guessing and not given and not parameter.optional and parameter.default is None:
            checker.report.error("AFS216", f"`{tool.name}` needs `{name}`", node.span, "the argument is missing")
            sound = False
    return Call(tool=tool.name, arguments=arguments, span=node.span) if sound else None


def fits(sql: Sql, parameter: Parameter, report: Report) -> bool:
    """Whether an argument is not null where it may not be, and no key of another table."""
    assert isinstance(sql.shape, Cell)
    if isinstance(sql.tree, exp.Null) and not parameter.optional:
        report.error("AFS301", f"`{parameter.name}` is never null", sql.span)
        return False
    wanted, given = parameter.references, sql.shape.references
    if wanted is not None and given is not None and wanted != given:
        report.error("AFS310", f"expected a key of `{wanted}`, found one of `{given}`", sql.span)
        return False
    return True


def result_of(tool: Tool | None, scope: Scope, name: str) -> Scope:
    """`scope` with the result of a call of `tool` known as `$name`."""
    if tool is None or tool.returns is None:
        return scope
    shape = tool.returns.shape
    if tool.returns.optional and isinstance(shape, Cell):
        shape = Cell(shape.type, True, shape.references)
    return scope.with_value(name, shape)
