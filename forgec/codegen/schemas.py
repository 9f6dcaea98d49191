"""Tools as an LLM sees them: OpenAI function schemas."""

from __future__ import annotations

from typing import Any

from forgec.model import spec as m
from forgec_runtime import Parameter
from forgec_runtime import tool as runtime
from forgec_runtime.tool import REQUIRED


def tool_schema(tool: m.Tool) -> dict[str, Any]:
    """The function schema of one tool, as its package gives it."""
    return runtime.tool_schema(tool.name, tool.doc, [_parameter(parameter) for parameter in tool.parameters])


def _parameter(parameter: m.Parameter) -> Parameter:
    default = REQUIRED if parameter.default is None else parameter.value
    return Parameter(parameter.name, parameter.type, parameter.doc, parameter.optional, default=default)
