"""Syncs: bodies that nobody calls, and that cannot fail."""

from __future__ import annotations

from collections.abc import Iterator

from forgec.model import spec as m
from forgec.model.bodies import build_tool
from forgec.model.types import TypeResolver
from forgec.model.walk import statements
from forgec.sql.check import SqlChecker
from forgec.sql.scope import Scope
from forgec.syntax import nodes


def build_sync(item: nodes.Sync, types: TypeResolver, checker: SqlChecker, scope: Scope) -> m.Tool | None:
    """The sync as a tool without parameters, its condition around the body; None when it has statements that it cannot.

    A condition stands around the body as an `if`.
    """
    wrong = [node for node in _statements(item.body) if _may_end(node)]
    for node in wrong:
        hint = "whatever a call did, a sync only follows: put its writes into an `if`"
        checker.report.error("AFS513", "a sync neither fails nor returns", node.span, help=hint)
    if wrong:
        return None
    body = item.body
    if item.condition is not None:
        body = (nodes.If(item.span, (nodes.Branch(item.span, item.condition, item.body),)),)
    tool = nodes.Tool(item.span, item.name, (), (), item.doc, body, "agent", ends=False)
    built = build_tool(tool, (), None, types, checker, scope)
    for statement in statements(built.body):
        if isinstance(statement, m.Do) and any(_has_guard(inner) for inner in statements(statement.action.body)):
            hint = "whatever a call did, a sync only follows: do an action without guards"
            checker.report.error("AFS513", f"`{statement.action.name}` may fail", statement.span, help=hint)
    return built


def _statements(body: tuple[nodes.Statement, ...]) -> Iterator[nodes.Statement]:
    for node in body:
        yield node
        if isinstance(node, nodes.If):
            for branch in node.branches:
                yield from _statements(branch.body)
        elif isinstance(node, nodes.Each):
            yield from _statements(node.body)


def _has_guard(statement: m.Statement) -> bool:
    if isinstance(statement, m.Let):
        return statement.message is not None
    return isinstance(statement, m.Require | m.Fail)


def _may_end(node: nodes.Statement) -> bool:
    if isinstance(node, nodes.Let):
        return node.message is not None
    return isinstance(node, nodes.Require | nodes.Return | nodes.Reply | nodes.Fail)
