"""Answers of chat completions, read as leniently as they can be: endpoints differ, and models write what they like."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from forgec.dialogue import ReasoningField, readable
from forgec.llm.spending import Usage
from forgec_runtime.results import from_json


class Unreadable(ValueError):
    """An answer that is no chat completion. Asking again may help."""


@dataclass(frozen=True)
class Call:
    """A call that a model makes; `arguments` are what it wrote, which may be no JSON."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Answer:
    """What a model said. `reasoning_field` tells where the endpoint had the reasoning, to give it back there."""

    text: str
    calls: tuple[Call, ...]
    reasoning: str | None
    reasoning_field: ReasoningField | None
    finish: str
    usage: Usage | None
    """None where the endpoint did not tell."""


def parsed(body: bytes) -> Answer:
    """The answer in the body of a response. Raises `Unreadable`."""
    content = _json(body)
    if not isinstance(content, dict):
        raise Unreadable("the answer is no JSON object")
    if isinstance(content.get("error"), dict | str) and not content.get("choices"):
        raise Unreadable(f"the answer is an error: {str(content['error'])[:200]}")
    choices = content.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise Unreadable("the answer has no message")
    text = _text(message.get("content")) or _text(message.get("refusal"))
    reasoning, field = _reasoning(message)
    if reasoning is None and (thought := _thought(text)):
        (reasoning, text), field = thought, "content"
    finish = choice.get("finish_reason")
    return Answer(
        readable(text), _calls(message.get("tool_calls")), None if reasoning is None else readable(reasoning), field,
        finish if isinstance(finish, str) else "", _usage(content.get("usage")),
    )  # fmt: skip


def _json(body: bytes) -> Any:
    try:
        return from_json(body)
    except ValueError:
        pass
    try:  # it takes what the fast one does not: halves of surrogate pairs, NaN
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"the answer is not JSON: {str(error)[:200]}") from None


def _text(content: Any) -> str:
    """The text of a content, which may be a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(text for text in texts if isinstance(text, str))
    return ""


def _reasoning(message: Mapping[str, Any]) -> tuple[str | None, ReasoningField | None]:
    fields: tuple[ReasoningField, ...] = ("reasoning_content", "reasoning")
    for field in fields:
        text = message.get(field)
        if isinstance(text, str) and text:
            return text, field
    return None, None


def _thought(text: str) -> tuple[str, str] | None:
    """What a content thinks before it says something, and what it says; None where it only says something.

    The beginning may lack, where it is in the template of the model, and the end, where the model got no further.
    """
    opened = text.lstrip()
    thought, closed, said = opened.removeprefix("<think>").partition("</think>")
    if "<think>" in thought or not (closed or opened.startswith("<think>")):
        return None
    return thought.strip("\n"), said.lstrip()


def _calls(given: Any) -> tuple[Call, ...]:
    """Calls with ids of their own: what is missing, or there twice, is made up."""
    calls: list[Call] = []
    ids: set[str] = set()
    for number, one in enumerate(given if isinstance(given, list) else ()):
        call = one if isinstance(one, dict) else {}
        function = call.get("function")
        function = function if isinstance(function, dict) else {}
        id_, name, arguments = call.get("id"), function.get("name"), function.get("arguments")
        id_ = readable(id_)[:100] if isinstance(id_, str) else ""
        if not id_ or id_ in ids:
            id_ = f"call_{number}"
            while id_ in ids:
                id_ += "_"
        ids.add(id_)
        if arguments is None:
            arguments = "{}"
        written = arguments if isinstance(arguments, str) else json.dumps(arguments)
        calls.append(Call(id_, readable(name) if isinstance(name, str) else "", readable(written)))
    return tuple(calls)


def _usage(given: Any) -> Usage | None:
    if not isinstance(given, dict) or not _is_count(given.get("prompt_tokens")):
        return None

    def detail(of: str, name: str) -> int:
        details = given.get(of)
        return _count(details.get(name)) if isinstance(details, dict) else 0

    return Usage(
        _count(given.get("prompt_tokens")), detail("prompt_tokens_details", "cached_tokens"),
        _count(given.get("completion_tokens")), detail("completion_tokens_details", "reasoning_tokens"),
    )  # fmt: skip


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _count(value: Any) -> int:
    return value if _is_count(value) else 0
