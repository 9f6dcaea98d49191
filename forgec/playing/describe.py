"""The parts of an environment in words: signatures of tools, tables, facts, rewards."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from forgec.diagnostics.cells import clean
from forgec.playing.show import Line, pairs_lines, text_lines, value_text
from forgec_runtime import Briefing, Parameter, Reward, Table, Task, Tool
from forgec_runtime import types as t
from forgec_runtime.results import json_able
from forgec_runtime.tool import REQUIRED


def type_text(parameter: Parameter) -> str:
    """The type of a parameter, as a spec writes it."""
    type_ = f"-> {parameter.references}" if parameter.references else str(parameter.type)
    default = parameter.default is not REQUIRED and parameter.default is not None
    return f"{type_}{'?' * parameter.optional}" + (f" default {value_text(parameter.default)}" if default else "")


def signature(tool: Tool) -> str:
    """A tool with its parameters on one line."""
    return f"{tool.name}({', '.join(f'{one.name} {type_text(one)}' for one in tool.parameters)})"


def tool_lines(tool: Tool) -> list[Line]:
    """All that an agent is told about a tool."""
    lines = [Line(signature(tool), "strong"), *text_lines(tool.doc, "  ")]
    pairs = [(one.name, type_text(one), clean(_parameter_doc(one))) for one in tool.parameters]
    return lines + (pairs_lines(pairs) if pairs else [])


def _parameter_doc(parameter: Parameter) -> str:
    type_ = parameter.type.of if isinstance(parameter.type, t.List) else parameter.type
    allowed = f"One of {', '.join(type_.values)}" if isinstance(type_, t.Enum) else ""
    return ". ".join(part for part in (parameter.doc.rstrip("."), allowed) if part)


def table_text(table: Table[Any]) -> str:
    """The columns of a table on one line, its key in front."""
    return ", ".join(f"{column.name}{'?' * column.optional}" for column in table.columns)


def fact_lines(briefing: Briefing) -> list[Line]:
    """What the user knows."""
    pairs = [(fact.name, value_text(fact.value), clean(fact.doc)) for fact in briefing.facts]
    return pairs_lines(pairs) if pairs else []


def task_lines(task: Task, briefing: Briefing) -> list[Line]:
    """What the user wants and knows."""
    doc = f": {clean(task.doc)}" if task.doc else ""
    requests = [line for one in briefing.requests for line in text_lines(f"{one.name}: {one.text}", "  ")]
    return [
        Line(f"task {task.name} in world {task.world}{doc}", "strong"),
        *(text_lines(briefing.intent, "  ") if briefing.intent else []),
        *requests,
        *fact_lines(briefing),
    ]


def reward_lines(reward: Reward) -> list[Line]:
    """The reward with its reasons."""
    head = Line(f"reward {reward.value:g}", "added" if reward.value == 1 else "removed")
    reasons = [(reason.kind, clean(reason.text)) for reason in reward.reasons]
    return [head, *(pairs_lines(reasons) if reasons else [])]


def facts_data(briefing: Briefing) -> list[dict[str, Any]]:
    """The facts for programs."""
    return [{"name": fact.name, "value": json_able(fact.value), "doc": fact.doc} for fact in briefing.facts]


def requests_data(briefing: Briefing) -> list[dict[str, Any]]:
    """The requests for programs."""
    return [{"name": one.name, "text": one.text, "after": list(one.after)} for one in briefing.requests]


def tools_data(tools: Iterable[Tool]) -> list[dict[str, Any]]:
    """Tools for programs: their schemas, as an agent gets them."""
    return [tool.schema for tool in tools]
