"""`do action(...)`: what stands in a body for the statements of an action."""

from __future__ import annotations

from forgec.diagnostics import Report, counted, did_you_mean
from forgec.model import spec as m
from forgec.model.calls import fits
from forgec.model.walk import statements
from forgec.source import Span
from forgec.sql.check import SqlChecker
from forgec.sql.query import Sql, as_type
from forgec.sql.scope import Scope
from forgec.syntax import nodes

MAX_LEVELS = 20
"""So many actions do each other in turn."""
MAX_STATEMENTS = 1_000
"""In a body, with those of its actions written out wherever it does them."""


def build_do(node: nodes.Do, checker: SqlChecker, scope: Scope) -> m.Do | None:
    """The statement, its arguments in the types of the parameters; None when something was reported."""
    name, report = node.action.text, checker.report
    action = scope.actions.get(name)
    if action is None:
        hint = did_you_mean(name, scope.actions)
        if name in scope.later_actions:
            hint = "an action does only those that are declared above it"
        report.error("AFS220", f"unknown action `{name}`", node.action.span, help=hint, about=name)
        return None
    if len(node.arguments) != len(action.parameters):
        wanted = ", ".join(parameter.name for parameter in action.parameters)
        takes = counted(len(action.parameters), "argument")
        report.error("AFS410", f"`{name}({wanted})` takes {takes}, not {len(node.arguments)}", node.span)
        return None
    arguments: list[Sql] = []
    for text, parameter in zip(node.arguments, action.parameters, strict=True):
        sql = checker.expression(text, scope, parameter.type)
        if sql is not None and fits(sql, parameter, report):
            arguments.append(as_type(sql, parameter.type))
    if len(arguments) < len(action.parameters):
        return None
    return m.Do(action=action, arguments=tuple(arguments), span=node.span)


def is_small(name: str, body: tuple[m.Statement, ...], span: Span, report: Report) -> bool:
    """Whether a body with its actions written out is small enough; reports when not."""
    all_ = list(statements(body))
    done = [statement.action for statement in all_ if isinstance(statement, m.Do)]
    if done and len(all_) > MAX_STATEMENTS:
        message = f"with its actions written out, `{name}` has more than {MAX_STATEMENTS:,} statements"
    elif max((action.levels for action in done), default=0) >= MAX_LEVELS:
        message = f"`{name}` does an action that does another, and so on, more than {MAX_LEVELS} deep"
    else:
        return True
    report.error("AFS511", message, span)
    return False
