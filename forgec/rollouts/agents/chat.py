"""Messages as OpenAI's chat completions have them."""

from __future__ import annotations

import re
from typing import Any

from forgec.dialogue import Message, ToolCall
from forgec_runtime.results import from_json

_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")
MAX_NAME = 64
"""The longest name of a function that endpoints take."""


def chat_message(message: Message, *, reasoning: bool = True) -> dict[str, Any]:
    """A message for an endpoint; without its `reasoning` if that is to be dropped.

    What a model wrote amiss is not given back to it as it was, since endpoints refuse a dialogue with it: a name that
    is none, arguments that are no object. The result of such a call says what was wrong.
    """
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.content}
    if message.role != "assistant":
        return {"role": message.role, "content": message.content}
    told: dict[str, Any] = {"role": "assistant", "content": message.content}
    if reasoning and message.reasoning is not None:
        field = message.reasoning_field or "reasoning_content"
        if field == "content":
            told["content"] = f"<think>\n{message.reasoning}\n</think>\n\n{message.content}"
        else:
            told[field] = message.reasoning
    if message.tool_calls:
        told["tool_calls"] = [_call(call) for call in message.tool_calls]
    return told


def _call(call: ToolCall) -> dict[str, Any]:
    name = _NO_NAME.sub("_", call.name)[:MAX_NAME] or "unnamed"
    arguments = call.arguments if _is_object(call.arguments) else "{}"
    return {"id": call.id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _is_object(text: str) -> bool:
    try:
        return isinstance(from_json(text), dict)
    except ValueError:
        return False
