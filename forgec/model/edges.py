"""Plans that are not written in an order in which they can run: sorted by their edges."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import networkx as nx

from forgec.diagnostics import Label, Report, did_you_mean
from forgec.model.graph import PlanNode, needs


def sorted_by_edges(by_name: Mapping[str, PlanNode], report: Report) -> list[PlanNode] | None:
    """The nodes, each after those that it needs, else in the order of the spec; None when they are no DAG."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(by_name)
    for node in by_name.values():
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
