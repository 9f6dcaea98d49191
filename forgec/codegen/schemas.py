"""Tools as an LLM sees them: OpenAI function schemas."""

from __future__ import annotations

from typing import Any

from forgec.model import spec as m
from forgec_runtime.types import nullable


def tool_schema(tool: m.Tool) -> dict[str, Any]:
    """The function schema of one tool."""
    required = [p.name for p in tool.parameters if not p.optional and p.default is None]
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.doc,
            "parameters": {
                "type": "object",
                "properties": {parameter.name: _property(parameter) for parameter in tool.parameters},
                "required": required,
                "additionalProperties": False,
            },
        },
    }


def _property(parameter: m.Parameter) -> dict[str, Any]:
    schema = nullable(parameter.type.json_schema(), parameter.optional)
    return {**schema, "description": parameter.doc} if parameter.doc else schema
