"""Tasks as the runtime reads them: a JSON object a line."""

from __future__ import annotations

import datetime
import decimal
import json
from collections.abc import Iterable
from typing import Any

from forgec.model import spec as m
from forgec.plans.package import Computation, ComputedPlan, ReasonPlan, ReferencePlan, StepPlan, TaskPlan


def tasks_text(plans: Iterable[TaskPlan]) -> str:
    """The file with all tasks."""
    return "".join(json.dumps(_task(plan), ensure_ascii=False) + "\n" for plan in plans)


def _task(plan: TaskPlan) -> dict[str, Any]:
    task = plan.task
    return {
        "name": task.name,
        "world": task.world,
        "doc": task.doc,
        "intent": task.intent,
        "facts": [{"name": fact.name, "doc": fact.doc, "value": _constant(fact.value)} for fact in task.facts],
        "plan": [_node(node) for node in plan.plan],
        "expect": [{"text": text, "condition": _expression(condition)} for text, condition in plan.expect],
        "says": [{"doc": doc, "value": _expression(value)} for doc, value in plan.says],
    }


def _node(node: StepPlan | ReasonPlan) -> dict[str, Any]:
    if isinstance(node, ReasonPlan):
        return {"name": node.name, "doc": node.doc, "value": _expression(node.computation)}
    arguments = {name: _expression(value) for name, value in node.arguments}
    after = {"after": list(node.after)} if node.after else {}
    return {"name": node.name, "tool": node.tool, "arguments": arguments, **after}


def _expression(value: Computation) -> Any:
    if isinstance(value, m.Constant):
        return _constant(value.value)
    if isinstance(value, ReferencePlan):
        return {"$": ".".join(value.path)}
    assert isinstance(value, ComputedPlan)
    query = value.query
    return {
        "sql": query.text,
        "tables": query.tables,
        "values": [(path.replace(".", "__"), type_.sql) for path, type_ in query.values],
        "columns": query.columns,
        "order": query.order,
        "inputs": [".".join(path) for path in value.inputs],
        "kind": value.kind,
    }


def _constant(value: Any) -> Any:
    """A value such that `forgec_runtime.task_file.constant` gives it back."""
    if isinstance(value, decimal.Decimal):
        return {"decimal": format(value, "f")}
    if isinstance(value, datetime.datetime):
        return {"timestamp": value.isoformat()}
    if isinstance(value, datetime.date):
        return {"date": value.isoformat()}
    if isinstance(value, dict):
        return {"fields": {name: _constant(part) for name, part in value.items()}}
    if isinstance(value, list):
        return [_constant(part) for part in value]
    return value
