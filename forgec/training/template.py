"""What a policy reads and writes, as tokens: a compact chat template.

    <|tools|> NAME NAME ... <|end|>                                  which tools there are, in place of their schemas
    <|user|> text <|end|>
    <|agent|> text <|end|>
    <|agent|> <|call|> NAME <|set|> PARAMETER value <|set|> PARAMETER value <|end|>
    <|result|> <|set|> COLUMN value <|set|> COLUMN value <|end|>     a row; others follow a <|row|>

A call and the row that its arguments come from have the same form, so that an argument is a copy. The policy's text of
the environment is left out: a small model learns an environment by playing in it.

Messages become tokens one by one, and only ever at the end: what a policy has read and written is never rendered again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forgec.dialogue import AssistantMessage, Message, ToolCall
from forgec.training.tokenizer import CALL, CLOSE, END, OPEN, RESULT, ROW, SET, TOOLS, USER, Tokenizer
from forgec_runtime.results import from_json, to_json

Tools = Sequence[Mapping[str, Any]]
MAX_DEPTH = 20
"""Deeper values of a result are read as the text that they are."""


class UnknownTool(ValueError):
    """A tool that a policy was not made for."""


class Template:
    """Messages to tokens, and a policy's tokens to messages."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer

    def beginning(self, tools: Tools) -> list[int]:
        """What stands before all messages. Raises `UnknownTool` for a tool or a parameter whose name is not whole."""
        ids = [TOOLS]
        for tool in tools:
            for name in (_name(tool), *_parameters(tool)):
                if name not in self.tokenizer.names:
                    raise UnknownTool(f"this policy does not know {name}, of the tool {_name(tool)}")
            ids.append(self.tokenizer.names[_name(tool)])
        return [*ids, END]

    def observed(self, message: Message) -> list[int]:
        """A message of the user, or the result of a call."""
        if message.role == "tool":
            return [RESULT, *self._result(message.content), END]
        return [USER, *self.tokenizer.encode(message.content), END]

    def written(self, message: Message | AssistantMessage, tools: Tools) -> list[int]:
        """What a policy would write to say this or make these calls, behind `<|agent|>`."""
        calls = message.tool_calls if isinstance(message, Message) else message.calls
        ids = self.tokenizer.encode(message.content if isinstance(message, Message) else message.text)
        for call in calls:
            ids += [CALL, *self.tokenizer.encode(call.name)]
            arguments = _arguments(call)
            for name, value in arguments.items():
                ids += [SET, *self.tokenizer.encode(name), *self.tokenizer.encode(_text(value))]
        return [*ids, END]

    def read(self, ids: Sequence[int], tools: Tools, number: int = 0) -> AssistantMessage:
        """The message that a policy wrote; calls are told apart by `number`, that of the turn.

        Whatever it wrote is a message: the environment says what is wrong with a call.
        """
        text, *calls = _parts([one for one in ids if one != END], CALL)
        known = {_name(tool): tool for tool in tools}
        return AssistantMessage(
            text=self.tokenizer.decode(text),
            calls=tuple(self._call(call, known, f"call_{number}_{i}") for i, call in enumerate(calls)),
        )

    def _call(self, ids: Sequence[int], tools: Mapping[str, Mapping[str, Any]], id_: str) -> ToolCall:
        name, *settings = _parts(ids, SET)
        tool = tools.get(self.tokenizer.decode(name))
        arguments: dict[str, str] = {}
        for setting in settings:
            parameter, value = self.tokenizer.decode(setting[:1]), self.tokenizer.decode(setting[1:])
            arguments[parameter] = _json(value, {} if tool is None else _parameters(tool).get(parameter, {}))
        written = ",".join(f"{to_json(parameter)}:{value}" for parameter, value in arguments.items())
        return ToolCall.of(self.tokenizer.decode(name), f"{{{written}}}", id_)

    def _result(self, text: str) -> list[int]:
        try:
            return list(self._flat(_parsed(text)))
        except (ValueError, RecursionError):
            return self.tokenizer.encode(text)

    def _flat(self, value: Any, depth: int = 0) -> Iterator[int]:
        """A value without braces, quotes and commas."""
        if depth > MAX_DEPTH:
            raise ValueError("too deep")
        if isinstance(value, dict):
            for name, inner in value.items():
                yield from (SET, *self.tokenizer.encode(name))
                nested = isinstance(inner, dict | list)
                yield from (OPEN, *self._flat(inner, depth + 1), CLOSE) if nested else self._flat(inner, depth + 1)
        elif isinstance(value, list):
            for inner in value:
                yield from (ROW, *self._flat(inner, depth + 1))
        else:
            yield from self.tokenizer.encode(_text(value))


class _Number(str):
    """A number as it was written, but for zeros at its end: 12.50 is read as 12.5, which is how calls have it, too."""

    __slots__ = ()

    def __new__(cls, written: str) -> _Number:
        plain = "." in written and "e" not in written.lower()
        return super().__new__(cls, written.rstrip("0").rstrip(".") if plain else written)


def _name(tool: Mapping[str, Any]) -> str:
    return str(tool["function"]["name"])


def _parameters(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = tool["function"].get("parameters", {}).get("properties", {})
    return found


def _parts(ids: Sequence[int], mark: int) -> list[list[int]]:
    """What stands between marks."""
    parts: list[list[int]] = [[]]
    for one in ids:
        if one == mark:
            parts.append([])
        else:
            parts[-1].append(one)
    return parts


def _parsed(text: str) -> Any:
    """JSON with its numbers as they are written. Raises `ValueError`, `RecursionError`."""
    return json.loads(text, parse_float=_Number, parse_int=_Number)


def _arguments(call: ToolCall) -> dict[str, Any]:
    try:
        found = _parsed(call.arguments)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _text(value: Any) -> str:
    """A value as a policy writes it: texts without quotes, all else as JSON."""
    return str(value) if isinstance(value, str) else _dumped(value)


def _dumped(value: Any) -> str:
    if isinstance(value, _Number):
        return str(value)
    if isinstance(value, dict):
        return f"{{{','.join(f'{to_json(name)}:{_dumped(inner)}' for name, inner in value.items())}}}"
    if isinstance(value, list):
        return f"[{','.join(map(_dumped, value))}]"
    return to_json(value)


def _json(text: str, schema: Mapping[str, Any]) -> str:
    """The JSON of an argument: of a text where the parameter may be one, else what the policy wrote, if it is any."""
    kinds = schema.get("type", "string")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if "string" in kinds and not ("null" in kinds and text == "null"):
        return to_json(text)
    try:
        from_json(text)
    except ValueError:
        return to_json(text)
    return text
