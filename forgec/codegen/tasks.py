"""Tasks as the runtime reads them: a JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from forgec.model import spec as m
from forgec.model.features import features
from forgec.plans.tasks import Computation, ReferencePlan, TaskPlan
from forgec_runtime.task_file import encoded


def tasks_text(plans: Iterable[TaskPlan]) -> str:
    """The file with all tasks."""
    return "".join(json.dumps(task_data(plan), ensure_ascii=False) + "\n" for plan in plans)


def task_data(plan: TaskPlan) -> dict[str, Any]:
    """A task as JSON can hold it."""
    return _Line(plan).task()


class _Line:
    """One task as JSON has it; what a task does not have is left out, but what every reader asks for."""

    def __init__(self, plan: TaskPlan) -> None:
        self.plan = plan

    def task(self) -> dict[str, Any]:
        task = self.plan.task
        return {
            "name": task.name,
            "world": task.world,
            "doc": task.doc,
            **_some(tags=task.tags),
            "intent": "" if task.intent is None else self._message(task.intent),
            **_some(
                requests=[self._request(request) for request in task.requests],
                samples=[
                    {"name": one.name, "doc": one.doc, "rows": self._asked(one.sql, "rows")} for one in task.samples
                ],
            ),
            "facts": [
                {"name": fact.name, "doc": self._message(fact.told), "value": self._value(fact.value)}
                for fact in task.facts
            ],
            **_some(
                change=[
                    {"kind": one.kind, "table": one.table, "rows": _expression(one.rows)} for one in self.plan.changes()
                ],
            ),
            "plans": [
                {**_some(name=plan.name, doc=plan.doc), "nodes": [self._node(node) for node in plan.nodes]}
                for plan in task.plans
            ],
            "expect": [{"text": one.sql.span.on_one_line, "condition": self._asked(one.sql)} for one in task.expect],
            "says": [{"doc": one.doc, "value": self._value(one.value)} for one in task.says],
            **_some(
                never=[
                    {"tool": one.tool, "text": " ".join(one.text.split()), **self._arguments(one.arguments)}
                    for one in task.never
                ],
            ),
            "features": features(self.plan.spec, task),
        }

    def _message(self, message: m.Message) -> Any:
        parts = [
            part if isinstance(part, str) else {"value": self._value(part.sql), "format": part.format or ""}
            for part in message.parts
        ]
        if any(not isinstance(part, str) for part in parts):
            return parts
        return "".join(part for part in parts if isinstance(part, str))

    def _request(self, request: m.Request) -> dict[str, Any]:
        return {
            "name": request.name,
            **_some(after=request.after),
            **self._condition(request.when),
            "text": self._message(request.text),
        }

    def _node(self, node: m.CallNode | m.ReasonNode) -> dict[str, Any]:
        rest = {**_some(after=node.after), **self._condition(node.when)}
        if isinstance(node, m.ReasonNode):
            value = _expression(self.plan.computed(node.value, node.shape))
            return {"name": node.name, "doc": node.doc, "value": value, **rest}
        return {"name": node.name, "tool": node.tool, **self._arguments(node.arguments), **rest}

    def _arguments(self, arguments: Mapping[str, m.Given]) -> dict[str, Any]:
        return _some(arguments={name: self._value(value) for name, value in arguments.items()})

    def _condition(self, sql: m.Given | None) -> dict[str, Any]:
        return {} if sql is None else {"when": self._value(sql)}

    def _value(self, value: m.Given) -> Any:
        return _expression(self.plan.computed(value))

    def _asked(self, sql: Any, kind: Any = "value") -> Any:
        return _expression(self.plan.asked(sql, kind))


def _some(**parts: Any) -> dict[str, Any]:
    """Those of some parts that are there."""
    return {name: part for name, part in parts.items() if part}


def _expression(value: Computation) -> Any:
    if isinstance(value, m.Constant):
        return encoded(value.value)
    if isinstance(value, ReferencePlan):
        return {"$": value.path}
    query = value.query
    return {
        "sql": query.text,
        "tables": query.tables,
        "values": [(path.replace(".", "__"), type_.sql) for path, type_ in query.values],
        "columns": query.columns,
        "order": query.order,
        "inputs": [path for path, _ in query.values],
        "kind": value.kind,
    }
