"""The order of a plan: its edges follow from the names that its nodes refer to."""

from __future__ import annotations

from forgec.diagnostics import Label, Report
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
    from forgec.model.edges import sorted_by_edges  # here: it brings networkx, and most plans stand in order

    return sorted_by_edges(by_name, report)


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


def taken(name: nodes.Name, scope: Scope, report: Report) -> bool:
    """Whether a value has this name already; reports when so."""
    if name.text in scope.values:
        report.error("AFS208", f"`${name}` has a value already", name.span)
    return name.text in scope.values
