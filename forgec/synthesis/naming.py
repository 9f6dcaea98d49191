"""What operations and their parameters are called in a spec."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from forgec.documents import Api, Operation
from forgec.starting.names import legal


@dataclass(frozen=True)
class Named:
    """An operation with its names: that of the tool, and that of each parameter."""

    operation: Operation
    tool: str
    parameters: Mapping[str, str]


def named(api: Api) -> list[Named]:
    """All operations in the order of the documents; no two tools have one name."""
    tools: list[str] = []
    found = []
    for number, operation in enumerate(api.operations, 1):
        tools.append(legal(operation.name, "tool", tools, number + 1))
        taken: list[str] = []
        for position, parameter in enumerate(operation.parameters, 1):
            taken.append(legal(parameter.name, "parameter", taken, position))
        names = dict(zip((one.name for one in operation.parameters), taken, strict=True))
        found.append(Named(operation, tools[-1], names))
    return found
