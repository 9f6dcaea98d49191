"""OpenAI's Responses API: what models say in it, as messages of ours, and our chats, as it wants them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from forgec.dialogue import AssistantMessage, ToolCall, readable
from forgec.llm.answer import Answer, Call
from forgec.llm.errors import Unavailable
from forgec.llm.spending import Meter, Usage
from forgec.serving.gym.rows import tools_of

ATTEMPTS = 3
"""How often a model is asked for what it answers amiss."""

Ask = Callable[[dict[str, Any]], Awaitable[Any]]
"""Sends the body of a request to a model, and gives the body of its response."""


def said(output: Sequence[Any]) -> AssistantMessage:
    """What the items of a model's output come to. What is no item is passed over."""
    texts: list[str] = []
    reasoning: list[str] = []
    calls: list[ToolCall] = []
    for item in output:
        if not isinstance(item, Mapping):
            continue
        kind = item.get("type", "message")
        if kind == "function_call":
            name, arguments, id_ = item.get("name"), item.get("arguments"), item.get("call_id") or item.get("id")
            calls.append(
                ToolCall.of(
                    readable(name) if isinstance(name, str) else "",
                    readable(arguments) if isinstance(arguments, str) else "{}",
                    readable(id_) if isinstance(id_, str) else "",
                )
            )
        elif kind == "message" and item.get("role", "assistant") == "assistant":
            texts.append(text_of(item.get("content")))
        elif kind == "reasoning":
            reasoning.append(text_of(item.get("content")) or text_of(item.get("summary")))
    thought = "\n".join(part for part in reasoning if part)
    return AssistantMessage(
        text="\n".join(text for text in texts if text), calls=tuple(calls), reasoning=thought or None,
        reasoning_field="reasoning_content" if thought else None,
    )  # fmt: skip


def text_of(content: Any) -> str:
    """The text of a content: a string, or parts of which some are texts."""
    if isinstance(content, str):
        return readable(content)
    if not isinstance(content, list | tuple):
        return ""
    texts = [part.get("text", part.get("refusal")) for part in content if isinstance(part, Mapping)]
    return readable("".join(text for text in texts if isinstance(text, str)))


def last_words(output: Any) -> str:
    """What an agent said to the user after all of its calls."""
    items = output if isinstance(output, list) else []
    last = max((i for i, one in enumerate(items) if _kind(one).startswith("function_call")), default=-1)
    return said([one for one in items[last + 1 :] if _kind(one) == "message"]).text


def _kind(item: Any) -> str:
    kind = item.get("type", "message") if isinstance(item, Mapping) else ""
    return kind if isinstance(kind, str) else ""


class ResponsesModel:
    """A model behind a server of that API."""

    def __init__(self, ask: Ask, settings: Mapping[str, Any] | None = None) -> None:
        """`settings` stand in each request beside the dialogue: a temperature, say."""
        self._ask, self._settings = ask, settings or {}

    async def complete(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = (), *, meter: Meter,
        scope: str = "", settings: Mapping[str, Any] | None = None,
    ) -> Answer:  # fmt: skip
        """The model's answer. Raises `Unavailable`."""
        body = {**self._settings, **(settings or {}), "input": [item for one in messages for item in _items(one)]}
        if tools:
            body["tools"] = tools_of(tools)
        problem = ""
        for _ in range(ATTEMPTS):
            meter.requests += 1
            try:
                response = await self._ask(body)
            except Exception as error:  # whatever the server's client raises, of which nothing is known here
                meter.failed("endpoint")
                problem = f"{type(error).__name__}: {error}"[:500]
                continue
            output = response.get("output") if isinstance(response, Mapping) else None
            if isinstance(output, list):
                answer = said(output)
                usage = _usage(response)
                meter.add(usage or Usage(estimated=True), None)
                calls = tuple(Call(one.id, one.name, one.arguments) for one in answer.calls)
                return Answer(answer.text, calls, answer.reasoning, answer.reasoning_field, "stop", usage)
            meter.failed("unreadable")
            problem = "the answer has no output"
        raise Unavailable(f"no answer after {ATTEMPTS} attempts; the last one: {problem}")


def _items(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A message of a chat as items of an input."""
    if message["role"] == "tool":
        return [
            {"type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"]}
        ]  # fmt: skip
    text = message.get("content") or ""
    items: list[dict[str, Any]] = [{"role": message["role"], "content": text}] if text else []
    for call in message.get("tool_calls", ()):
        function = call["function"]
        items.append(
            {"type": "function_call", "call_id": call["id"], "name": function["name"],
             "arguments": function["arguments"]}
        )  # fmt: skip
    return items


def _usage(response: Mapping[str, Any]) -> Usage | None:
    usage = response.get("usage")
    if not isinstance(usage, Mapping):
        return None
    counts = [usage.get(name) for name in ("input_tokens", "output_tokens")]
    prompt, completion = (count if type(count) is int and count >= 0 else 0 for count in counts)
    return Usage(prompt, 0, completion, 0)
