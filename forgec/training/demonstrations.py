"""What is imitated: trajectories as the tokens that a policy would have read and written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from forgec.rollouts.trajectory import Trajectory
from forgec.training.batches import Written
from forgec.training.template import Template, Tools
from forgec.training.tokenizer import AGENT
from forgec_runtime import Environment
from forgec_runtime.results import from_json


def demonstration(trajectory: Trajectory, template: Template, tools: Tools) -> Written:
    """The tokens of a trajectory; those of the agent's messages are to be imitated."""
    written = Written()
    written.give(template.beginning(tools))
    for message in trajectory.messages:
        if message.role == "assistant":
            written.give([AGENT])
            written.imitate(template.written(message, tools))
        elif message.role in ("user", "tool") and not message.tool_calls and message.by != "user":
            written.give(template.observed(message))
    return written


def texts(trajectories: Iterable[Trajectory]) -> Iterator[str]:
    """All that is said in trajectories, but for the policies of their environments: what a tokenizer is made of."""
    for trajectory in trajectories:
        for message in trajectory.messages:
            if message.role != "system":
                yield message.content
                yield from (call.arguments for call in message.tool_calls)


def names(environments: Mapping[str, Environment], trajectories: Iterable[Trajectory]) -> set[str]:
    """What a tokenizer is to keep whole: tools, parameters, values of enums, and the fields of results."""
    found: set[str] = set()
    for environment in environments.values():
        for tool in environment.tools.values():
            found.add(tool.name)
            _of_schema(tool.schema["function"].get("parameters", {}), found)
    for trajectory in trajectories:
        for message in trajectory.messages:
            if message.role == "tool":
                try:
                    _fields(from_json(message.content), found)
                except ValueError:
                    continue
    return found


def _of_schema(schema: Any, found: set[str]) -> None:
    if not isinstance(schema, Mapping):
        return
    for name, inner in schema.get("properties", {}).items():
        found.add(name)
        _of_schema(inner, found)
    found.update(value for value in schema.get("enum", ()) if isinstance(value, str))
    _of_schema(schema.get("items"), found)


def _fields(value: Any, found: set[str]) -> None:
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _fields(inner, found)
    if isinstance(value, dict):
        found.update(value)
