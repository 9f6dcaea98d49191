"""The agent's side and the user's: each calls its own tools, and these look at its own tables alone."""

from __future__ import annotations

from collections.abc import Iterable

from forgec.diagnostics import Label, Report
from forgec.model import spec as m
from forgec.model.walk import actions_of, sqls_of, statements
from forgec.source import Span
from forgec.sql.query import Sql
from forgec.syntax.nodes import Side

_OWN = {"agent": "the agent's", "user": "on user"}


def sides_apart(spec: m.Spec, report: Report) -> None:
    """Report whatever a tool, rule, reference or invariant has to do with both sides."""
    sides = [*(table.side for table in spec.tables.values()), *(tool.side for tool in spec.tools.values())]
    if "user" not in sides:
        return
    for table in spec.tables.values():
        for column in table.columns:
            if column.references is not None and spec.tables[column.references].side != table.side:
                message = f"`{table.title}` is {_OWN[table.side]}, and its `{column.name}` refers to the other side"
                _report(spec, message, column.references, column.span, report)
    for invariant in spec.invariants:
        theirs = [name for name in spec.tables if name in invariant.sql.reads and spec.tables[name].side == "user"]
        if theirs and len(theirs) < len(invariant.sql.reads):
            message = f"the invariant `{invariant.name}` looks at both sides"
            _report(spec, message, theirs[0], invariant.sql.span, report)
    for tool in spec.tools.values():
        _check_tool(spec, tool, report)
    for rule in spec.rules:
        _check_rule(spec, rule, report)


def _check_tool(spec: m.Spec, tool: m.Tool, report: Report) -> None:
    for parameter in (parameter for routine in (tool, *actions_of(tool)) for parameter in routine.parameters):
        if parameter.references is not None and spec.tables[parameter.references].side != tool.side:
            message = f"`{tool.name}` is a tool of the {tool.side}, and `{parameter.name}` refers to the other side"
            _report(spec, message, parameter.references, parameter.span, report)
    sqls = (sql for statement in statements(tool.body) for sql in sqls_of(statement))
    _check_sqls(spec, f"`{tool.name}` is a tool of the {tool.side}", tool.side, sqls, report)


def _check_rule(spec: m.Spec, rule: m.Rule, report: Report) -> None:
    for name, sql in rule.sqls.items():
        side = spec.tools[name].side
        _check_sqls(spec, f"the rule `{rule.name}` is about a tool of the {side}", side, [sql], report)
        if side == "user" and rule.verdict == "audited":
            message = f"the rule `{rule.name}` is held against the agent, who does not call `{name}`"
            report.error("AFS222", message, rule.span, help="a rule about a tool of the user is `enforced`")


def _check_sqls(spec: m.Spec, who: str, side: Side, sqls: Iterable[Sql], report: Report) -> None:
    """Report the first table of the other side that each piece of SQL has to do with."""
    for sql in sqls:
        touched = sql.reads | ({sql.change.table} if sql.change is not None else set())
        other = next((name for name in spec.tables if name in touched and spec.tables[name].side != side), None)
        if other is not None:
            _report(
                spec,
                f"{who}, and `{spec.tables[other].title}` is {_OWN[spec.tables[other].side]}",
                other,
                sql.span,
                report,
            )


def _report(spec: m.Spec, message: str, table: str, span: Span, report: Report) -> None:
    related = [Label(spec.tables[table].span, f"this is {_OWN[spec.tables[table].side]}")]
    report.error("AFS221", message, span, related=related, help="what goes from one side to the other, a `sync` does")
