"""What a task is made of, in numbers: for choosing and sorting tasks by how much they ask for."""

from __future__ import annotations

from typing import Any

from forgec.model import spec as m
from forgec.model.uses import edges, layers, writes_of


def features(spec: m.Spec, task: m.Task) -> dict[str, Any]:
    """Counts of the plan that is gold, and of what the task has around it."""
    plan = task.plans[0]
    calls = [node for node in plan.nodes if isinstance(node, m.CallNode)]
    writing = [node for node in calls if writes_of(spec.tools[node.tool])]
    needed = edges(plan)
    return {
        "calls": len(calls),
        "writes": len(writing),
        "reads": len(calls) - len(writing),
        "reasons": len(plan.nodes) - len(calls),
        "conditions": sum(node.when is not None for node in plan.nodes),
        "edges": sum(map(len, needed.values())),
        "depth": len(layers(needed)),
        "plans": len(task.plans),
        "requests": len(task.requests),
        "samples": len(task.samples),
        "facts": len(task.facts),
        "changes": len(task.change),
        "expect": len(task.expect),
        "says": len(task.says),
        "never": len(task.never),
        "tools": sorted({node.tool for node in calls}),
    }
