"""The order of a plan: its edges follow from the names that its nodes refer to."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import networkx as nx

from forgec.diagnostics import Label, Report, did_you_mean
from forgec.model.names import check_name
from forgec.sql.scope import Scope
from forgec.syntax import nodes

PlanNode = nodes.CallNode | nodes.ReasonNode


def in_order(plan: tuple[PlanNode, ...], scope: Scope, report: Report) -> list[PlanNode] | None:
    """The nodes in the order of the spec as far as their edges allow; None when the plan is no DAG."""
    by_name: dict[str, PlanNode] = {}
    for node in plan:
        if not check_name(node.name, "node", report) or taken(node.name, scope, report):
            return None
        if node.name.text in by_name:
            related = [Label(by_name[node.name.text].name.span, "first here")]
            report.error("AFS208", f"the node `{node.name}` is declared twice", node.name.span, related=related)
            return None
        by_name[node.name.text] = node
    if _stands_in_order(plan):
        return list(plan)
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(by_name)
    for node in plan:
        for name in needs(node):
            if name.text in by_name:
                graph.add_edge(name.text, node.name.text)
            elif name in node.after:
                hint = did_you_mean(name.text, by_name)
                report.error("AFS704", f"unknown node `{name}`", name.span, help=hint)
                return None
    if not nx.is_directed_acyclic_graph(graph):
        _report_cycle(graph, by_name, report)
        return None
    position = {name: i for i, name in enumerate(by_name)}
    return [by_name[name] for name in nx.lexicographical_topological_sort(graph, key=lambda name: position[name])]


def _stands_in_order(plan: tuple[PlanNode, ...]) -> bool:
    """Whether every node refers to those above it alone, as most plans are written."""
    later = {node.name.text for node in plan}
    for node in plan:
        if not later.isdisjoint(name.text for name in needs(node)):
            return False
        later.remove(node.name.text)
    above = {node.name.text for node in plan}
    return all(name.text in above for node in plan for name in node.after)


def needs(node: PlanNode) -> list[nodes.Name]:
    """The names that a node refers to, in its values, in its condition or by `after`."""
    values = [node.value] if isinstance(node, nodes.ReasonNode) else [argument.value for argument in node.arguments]
    return [*names_in(*values, node.condition), *node.after]


def names_in(*values: nodes.Given | None) -> list[nodes.Name]:
    """The names that values refer to."""
    names: list[nodes.Name] = []
    for value in values:
        if isinstance(value, nodes.SqlText):
            names.extend(nodes.Name(param, param.text[1:]) for param in value.params)
        elif isinstance(value, nodes.Path):
            names.append(nodes.Name(value.span, value.path.partition(".")[0]))
    return names


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


def taken(name: nodes.Name, scope: Scope, report: Report) -> bool:
    """Whether a value has this name already; reports when so."""
    if name.text in scope.values:
        report.error("AFS208", f"`${name}` has a value already", name.span)
    return name.text in scope.values
