"""`test` blocks."""

from __future__ import annotations

from collections.abc import Mapping

from forgec.model.calls import build_call, known_world, result_of
from forgec.model.names import check_name
from forgec.model.spec import Expect, Run, Test, Tool, World
from forgec.sql.check import SqlChecker
from forgec.sql.scope import Cell, Scope
from forgec.syntax import nodes


def build_test(
    item: nodes.Test, tools: Mapping[str, Tool], worlds: Mapping[str, World], checker: SqlChecker, scope: Scope
) -> Test | None:
    """The test; None when its world is unknown."""
    if not known_world(item.world, worlds, checker.report):
        return None
    steps: list[Run | Expect] = []
    for node in item.steps:
        if isinstance(node, nodes.Expect):
            sql = checker.condition(node.sql, scope)
            if sql is not None:
                steps.append(Expect(sql=sql, span=node.span))
            continue
        run, scope = _run(node, tools, checker, scope)
        if run is not None:
            steps.append(run)
    if not item.steps:
        checker.report.error("AFS604", "this test does nothing", item.span)
    return Test(name=item.title.value, span=item.span, world=item.world.text, steps=tuple(steps))


def _run(node: nodes.Run, tools: Mapping[str, Tool], checker: SqlChecker, scope: Scope) -> tuple[Run | None, Scope]:
    call = build_call(node.call, tools, checker, scope)
    if node.name is not None and (call is None or call.tool in checker.report.broken or node.fails):
        checker.report.give_up(node.name.text)
    tool = tools.get(node.call.tool.text)
    returns = None
    if node.returns is not None and tool is not None:
        if tool.returns is None or not isinstance(tool.returns.shape, Cell):
            hint = "name the result and `expect` something of its columns"
            checker.report.error("AFS605", f"`{tool.name}` returns no single value", node.returns.span, help=hint)
        else:
            returns = checker.expression(node.returns, scope, tool.returns.shape.type, data=True)
    if node.name is not None and node.fails is not None:
        checker.report.error("AFS607", "a call that fails has no result to name", node.name.span)
    elif node.name is not None and tool is not None and tool.returns is None:
        message = f"`{tool.name}` returns nothing to name"
        checker.report.error("AFS607", message, node.name.span, about=tool.name)
    elif node.name is not None and check_name(node.name, "value", checker.report):
        if node.name.text in scope.values:
            checker.report.error("AFS208", f"`${node.name}` has a value already", node.name.span)
        scope = result_of(tool, scope, node.name.text)
    if call is None or (node.returns is not None and returns is None):
        return None, scope
    name = node.name.text if node.name else None
    fails = node.fails.value if node.fails else None
    return Run(name=name, call=call, fails=fails, returns=returns, span=node.span), scope
