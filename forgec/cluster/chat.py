"""Dialogues as text, as Qwen3 and other models of that form read and write them: ChatML, `<think>`, `<tool_call>`.

`templates/cluster/qwen3.jinja` renders the same form from messages. Unlike the template that comes with the models, it
keeps what was thought in earlier turns (interleaved thinking).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from forgec.dialogue import AssistantMessage, Message, ToolCall
from forgec.resources import resource
from forgec.rollouts.agents.chat import chat_message

END = "<|im_end|>"
THOUGHT = "</think>"

_CALL = re.compile(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL)
_JSON = json.JSONDecoder()
_CONTROL = re.compile(r"<\|(\w+)\|>")


def read(written: str, *, thinking: bool = False) -> AssistantMessage:
    """What the agent did, by the text that it wrote; `thinking`: its turn was begun with `<think>` for it.

    Calls that are no calls become calls of no tool, so that the agent is told; thoughts without an end are no deed.
    """
    text = written.removesuffix("\n").removesuffix(END)
    reasoning = None
    if THOUGHT in text:
        thoughts, text = text.split(THOUGHT, 1)
        reasoning = thoughts.removeprefix("<think>").strip("\n")
    elif thinking or text.startswith("<think>"):
        return AssistantMessage(reasoning=text.removeprefix("<think>").strip("\n"), finish="length")
    calls = tuple(_call(found.group(1).strip()) for found in _CALL.finditer(text))
    return AssistantMessage(text=_CALL.sub("", text).strip(), calls=calls, reasoning=reasoning)


def observed(messages: Sequence[Message], *, ended: bool = True, thinking: bool = False) -> str:
    """The text between what the agent wrote and what it writes next.

    `ended`: what it wrote ends with `<|im_end|>` already, as generated tokens do. `thinking`: its next turn is begun
    with `<think>`.
    """
    parts = ["\n" if ended else f"{END}\n"]
    for i, one in enumerate(messages):
        answers = one.role == "tool"
        if not answers or i == 0 or messages[i - 1].role != "tool":
            parts.append("<|im_start|>user")
        content = harmless(one.content)
        parts.append(f"\n<tool_response>\n{content}\n</tool_response>" if answers else f"\n{content}")
        if not answers or i + 1 == len(messages) or messages[i + 1].role != "tool":
            parts.append(f"{END}\n")
    parts.append("<|im_start|>assistant\n" + ("<think>\n" if thinking else ""))
    return "".join(parts)


def prompt(messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], *, thinking: bool = False) -> str:
    """The text that an agent with these tools reads, up to where it writes."""
    told = [chat_message(one.model_copy(update={"content": harmless(one.content)})) for one in messages]
    return rendered(template_text(), told, tools=list(tools), open_thinking=thinking)


def rendered(template: str, messages: Sequence[Mapping[str, Any]], **values: Any) -> str:
    """A dialogue by a template, up to where the agent writes, as the engines render it. Raises `ValueError`."""
    try:
        text: str = _template(template).render(messages=messages, add_generation_prompt=True, **values)
    except (TemplateError, TypeError) as error:
        raise ValueError(str(error)) from None
    return text


def template_text() -> str:
    """The template, for engines that render dialogues themselves."""
    return resource("templates", "cluster", "qwen3.jinja").read_text(encoding="utf-8")


def harmless(text: str) -> str:
    """Text in which nothing is a control token of the model: what users and tools say may be anything."""
    return _CONTROL.sub(r"<| \1 |>", text)


@cache
def _template(text: str) -> Any:
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    return environment.from_string(text)


def _call(text: str) -> ToolCall:
    try:
        members = _members(text)
        name = json.loads(members["name"])
    except (ValueError, KeyError, RecursionError):
        return ToolCall.of("", text)
    return ToolCall.of(name, members.get("arguments", "{}")) if isinstance(name, str) else ToolCall.of("", text)


def _members(text: str) -> dict[str, str]:
    """The members of an object, each as it is written: numbers must not be read and written again.

    Raises `ValueError`.
    """
    found: dict[str, str] = {}
    place = _after(text, 0, "{")
    while True:
        key, place = _JSON.raw_decode(text, place)
        start = _after(text, place, ":")
        _, place = _JSON.raw_decode(text, start)
        found[str(key)] = text[start:place]
        rest = text[place:].lstrip()
        if rest == "}":
            return found
        place = _after(text, place, ",")


def _after(text: str, place: int, mark: str) -> int:
    """The place of what follows a mark. Raises `ValueError` where something else stands."""
    rest = text[place:].lstrip()
    if not rest.startswith(mark):
        raise ValueError(f"there is no {mark}")
    return len(text) - len(rest[1:].lstrip())
