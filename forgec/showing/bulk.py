"""Tasks of a spec as lines that say the same in bulk."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from forgec.model import spec as m
from forgec.model.given import written
from forgec.sql.query import Sql
from forgec.sql.tree import Value
from forgec_runtime.task_file import encoded


def line(task: m.Task) -> str:
    """A task on a line."""
    return json.dumps(_task(task), ensure_ascii=False)


def _task(task: m.Task) -> dict[str, Any]:
    plans = [_plan(plan) for plan in task.plans]
    plain = len(plans) == 1 and plans[0].keys() == {"nodes"}
    return {
        "name": task.name,
        "world": task.world,
        **_some(
            doc=task.doc,
            intent=None if task.intent is None else _message(task.intent),
            tags=task.tags,
            requests=[_request(request) for request in task.requests],
            samples=[{"name": one.name, **_some(doc=one.doc), "rows": one.sql.text} for one in task.samples],
            facts=[_fact(fact) for fact in task.facts],
            change=[sql.text for sql in task.change],
        ),
        **({"plan": plans[0]["nodes"]} if plain else {"plans": plans}),
        **_some(
            expect=[one.sql.text for one in task.expect],
            says=[{**_some(doc=one.doc), "value": _given(one.value)} for one in task.says],
            never=[{"tool": one.tool, **_some(arguments=_arguments(one.arguments))} for one in task.never],
        ),
    }


def _some(**parts: Any) -> dict[str, Any]:
    """Those of some parts that are there."""
    return {name: part for name, part in parts.items() if part}


def _message(message: m.Message) -> str:
    parts = message.parts
    plain = [part.replace("{", "{{").replace("}", "}}") if isinstance(part, str) else part.text for part in parts]
    return "".join(plain)


def _request(request: m.Request) -> dict[str, Any]:
    when = None if request.when is None else request.when.text
    return {"name": request.name, "text": _message(request.text), **_some(after=request.after, when=when)}


def _fact(fact: m.Fact) -> dict[str, Any]:
    return {"name": fact.name, **_some(doc=_message(fact.told)), "value": _given(fact.value)}


def _plan(plan: m.Plan) -> dict[str, Any]:
    return {**_some(name=plan.name, doc=plan.doc), "nodes": [_node(node) for node in plan.nodes]}


def _node(node: m.CallNode | m.ReasonNode) -> dict[str, Any]:
    rest = _some(when=None if node.when is None else node.when.text, after=node.after)
    if isinstance(node, m.CallNode):
        return {"name": node.name, "tool": node.tool, **_some(arguments=_arguments(node.arguments)), **rest}
    many = not isinstance(node.value, m.Constant) and node.value.is_query and node.value.shape == node.shape
    return {"name": node.name, **_some(doc=node.doc), "reason": _given(node.value), **_some(many=many), **rest}


def _arguments(arguments: Mapping[str, m.Given]) -> dict[str, Any]:
    return {name: _given(value) for name, value in arguments.items()}


def _given(value: m.Given) -> Any:
    """A value as data, where that says the same as its SQL."""
    if isinstance(value, m.Constant):
        return encoded(value.value) if value.text == written(value.value) else {"sql": value.text}
    return _sql(value)


def _sql(sql: Sql) -> dict[str, str]:
    if isinstance(sql.tree, Value) and sql.text == f"${sql.tree.name}":
        return {"$": sql.tree.name}
    return {"sql": sql.text}
