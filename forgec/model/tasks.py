"""`task` blocks: facts, and a plan whose edges are the references between its nodes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import networkx as nx

from forgec.diagnostics import Label, Report, did_you_mean
from forgec.model.calls import build_call, known_world, result_of
from forgec.model.names import check_name
from forgec.model.spec import CallNode, Constant, Expect, Fact, Given, ReasonNode, Says, Task, Tool, World
from forgec.sql.check import SqlChecker
from forgec.sql.constants import constant
from forgec.sql.query import Sql
from forgec.sql.scope import Cell, Row, Rows, Scope
from forgec.sql.tree import exp, is_constant
from forgec.syntax import nodes

PlanNode = nodes.CallNode | nodes.ReasonNode


def build_task(
    item: nodes.Task, tools: Mapping[str, Tool], worlds: Mapping[str, World], checker: SqlChecker, scope: Scope
) -> Task | None:
    """The task with its plan in an order that respects every edge; None when something was reported."""
    report = checker.report
    before = len(report)
    if not known_world(item.world, worlds, report):
        return None
    intents = [part for part in item.parts if isinstance(part, nodes.Intent)]
    if len(intents) != 1:
        hint = 'say what the user wants: intent """You want to ..."""'
        report.error("AFS701", "a task has one intent", item.name.span, help=hint)
    facts: list[Fact] = []
    for part in item.parts:
        if isinstance(part, nodes.Fact):
            fact, scope = _fact(part, checker, scope)
            if fact is not None:
                facts.append(fact)
            else:
                report.give_up(part.name.text)
    plans = [part for part in item.parts if isinstance(part, nodes.Plan)]
    if len(plans) != 1:
        hint = "say how it is done: plan { a = some_tool(some_parameter: 'value'); }"
        report.error("AFS702", "a task has one plan", item.name.span, help=hint)
        return None
    if not plans[0].nodes:
        report.error("AFS702", "this plan is empty", plans[0].span)
    ordered = _in_order(plans[0].nodes, scope, report)
    if ordered is None:
        return None
    plan, scope = _plan(ordered, tools, checker, scope)
    expect = [_expect(part, checker, scope) for part in item.parts if isinstance(part, nodes.Expect)]
    says = [_says(part, checker, scope) for part in item.parts if isinstance(part, nodes.Says)]
    if len(report) > before:
        return None
    return Task(
        name=item.name.text,
        doc=item.doc.value if item.doc else "",
        span=item.name.span,
        world=item.world.text,
        intent=intents[0].text.value,
        facts=tuple(facts),
        plan=tuple(plan),
        expect=tuple(part for part in expect if part),
        says=tuple(part for part in says if part),
    )


def _fact(node: nodes.Fact, checker: SqlChecker, scope: Scope) -> tuple[Fact | None, Scope]:
    if not check_name(node.name, "fact", checker.report) or _taken(node.name, scope, checker.report):
        return None, scope
    sql = checker.expression(node.sql, Scope(scope.tables, scope.functions))
    if sql is None or not checker.has_type(sql):
        return None, scope
    assert isinstance(sql.shape, Cell)
    if sql.reads:
        checker.report.error("AFS703", "a fact is a constant", node.sql.span, help="write the value itself")
        return None, scope
    value = constant(sql.expression, sql.shape.type, checker, node.sql.span)
    doc = node.doc.value if node.doc else ""
    cell = Cell(sql.shape.type, value is None)
    fact = Fact(name=node.name.text, doc=doc, span=node.span, cell=cell, value=value)
    return fact, scope.with_value(node.name.text, cell)


def _taken(name: nodes.Name, scope: Scope, report: Report) -> bool:
    if name.text in scope.values:
        report.error("AFS208", f"`${name}` has a value already", name.span)
    return name.text in scope.values


def _in_order(plan: tuple[PlanNode, ...], scope: Scope, report: Report) -> list[PlanNode] | None:
    """The nodes in the order of the spec as far as their edges allow; None when the plan is no DAG."""
    by_name: dict[str, PlanNode] = {}
    for node in plan:
        if not check_name(node.name, "node", report) or _taken(node.name, scope, report):
            return None
        if node.name.text in by_name:
            related = [Label(by_name[node.name.text].name.span, "first here")]
            report.error("AFS208", f"the node `{node.name}` is declared twice", node.name.span, related=related)
            return None
        by_name[node.name.text] = node
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(by_name)
    for node in plan:
        for name in _needs(node):
            if name.text in by_name:
                graph.add_edge(name.text, node.name.text)
            elif isinstance(node, nodes.CallNode) and name in node.after:
                hint = did_you_mean(name.text, by_name)
                report.error("AFS704", f"unknown node `{name}`", name.span, help=hint)
                return None
    if not nx.is_directed_acyclic_graph(graph):
        _report_cycle(graph, by_name, report)
        return None
    position = {name: i for i, name in enumerate(by_name)}
    return [by_name[name] for name in nx.lexicographical_topological_sort(graph, key=lambda name: position[name])]


def _needs(node: PlanNode) -> list[nodes.Name]:
    """The names that a node refers to, in its SQL or by `after`."""
    if isinstance(node, nodes.ReasonNode):
        texts: list[nodes.SqlText] = [node.sql]
        after: tuple[nodes.Name, ...] = ()
    else:
        texts, after = [argument.sql for argument in node.call.arguments], node.after
    names = [nodes.Name(param, param.text[1:]) for text in texts for param in text.params]
    return [*names, *after]


def _report_cycle(graph: nx.DiGraph[str], by_name: Mapping[str, PlanNode], report: Report) -> None:
    """Name the nodes of one cycle, starting at the one that stands first."""
    position = {name: i for i, name in enumerate(by_name)}
    cycles = [sorted(c, key=lambda name: position[name]) for c in nx.strongly_connected_components(graph) if len(c) > 1]
    loops = [[name] for name in by_name if graph.has_edge(name, name)]
    inside = min([*loops, *cycles], key=lambda names: position[names[0]])
    found = [edge[0] for edge in nx.find_cycle(graph.subgraph(inside), inside[0])]
    chain = " -> ".join([*found, found[0]])
    related = [Label(by_name[b].name.span, f"needs `{a}`") for a, b in pairwise(found)]
    report.error(
        "AFS705",
        f"the plan runs in a circle: {chain}",
        by_name[found[0]].name.span,
        f"needs `{found[-1]}`",
        related=related,
    )


def _plan(
    ordered: list[PlanNode], tools: Mapping[str, Tool], checker: SqlChecker, scope: Scope
) -> tuple[list[CallNode | ReasonNode], Scope]:
    plan: list[CallNode | ReasonNode] = []
    for node in ordered:
        if isinstance(node, nodes.ReasonNode):
            reason, scope = _reason(node, checker, scope)
            if reason is not None:
                plan.append(reason)
            else:
                checker.report.give_up(node.name.text)
            continue
        call = build_call(node.call, tools, checker, scope)
        scope = result_of(tools.get(node.call.tool.text), scope, node.name.text)
        if call is None or call.tool in checker.report.broken:
            checker.report.give_up(node.name.text)
        else:
            after = tuple(name.text for name in node.after)
            arguments = {name: given(sql, checker) for name, sql in call.arguments.items()}
            plan.append(CallNode(name=node.name.text, span=node.span, tool=call.tool, arguments=arguments, after=after))
    return plan, scope


def _reason(node: nodes.ReasonNode, checker: SqlChecker, scope: Scope) -> tuple[ReasonNode | None, Scope]:
    sql = checker.any(node.sql, scope)
    if sql is None or not checker.has_type(sql):
        return None, scope
    shape = sql.shape
    if isinstance(shape, Rows) and not node.many:
        single = len(shape.columns) == 1
        shape = next(iter(shape.columns.values())) if single else Row(shape.columns, True, shape.table)
    doc = node.doc.value if node.doc else ""
    reason = ReasonNode(name=node.name.text, doc=doc, span=node.span, value=given(sql, checker), shape=shape)
    return reason, scope.with_value(node.name.text, shape)


def _expect(node: nodes.Expect, checker: SqlChecker, scope: Scope) -> Expect | None:
    sql = checker.condition(node.sql, scope)
    return Expect(sql=sql, span=node.span) if sql else None


def _says(node: nodes.Says, checker: SqlChecker, scope: Scope) -> Says | None:
    sql = checker.expression(node.sql, scope)
    return Says(doc=node.doc.value if node.doc else "", value=given(sql, checker), span=node.span) if sql else None


def given(sql: Sql, checker: SqlChecker) -> Given:
    """What a piece of SQL says of a value: a constant where it depends on nothing else."""
    if not isinstance(sql.shape, Cell) or sql.reads or not is_constant(sql.expression):
        return sql
    if isinstance(sql.tree, exp.Null):
        return Constant(value=None, cell=sql.shape, text=sql.text)
    value = constant(sql.expression, sql.shape.type, checker, sql.span)
    return Constant(value=value, cell=sql.shape, text=sql.text)
