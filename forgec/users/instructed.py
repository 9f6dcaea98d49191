"""What is the user told to do with the tools of its own side? By their names, or in words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forgec.dialogue import ToolCall
from forgec.users.wording import concept, content, meanings, sentences, tokens

_JSON = re.compile(r"\{[^{}]*\}")
_TOLD = re.compile(
    r"\bplease\b|\b(?:can|could|would|will) you\b|\byou (?:can|should|need to|have to|must)\b|^\W*(?:then |now |next |"
    r"first |and |try to |try |\d+[.)] )*(?:turn|switch|toggle|open|enter|send|look|check|take|put|allow|see|press|tap|"
    r"use|run|mark|dismiss|reseat|remove|restart|set|make|show|read|start|stop)\b",
    re.IGNORECASE,
)
_PARTS = re.compile(r"[,;\n]|\band\b|\bthen\b", re.IGNORECASE)
_ALSO = {
    "toggl": ("turn", "switch", "activate", "deactivate", "enable", "disable"),
    "look": ("check", "see", "read"), "check": ("look", "see", "read"), "open": ("enter", "type", "unlock"),
    "allow": ("grant", "permit", "give"), "dismis": ("clear", "mark"), "take": ("remove", "reinsert"),
    "send": ("try", "resend"), "reseat": ("reinsert", "remove"),
}  # fmt: skip
"""Other verbs that tell somebody to do the same, by their stems."""
MAX_CALLS = 10
"""How many calls one message can bring about."""


@dataclass(frozen=True)
class _Tool:
    name: str
    words: frozenset[str]
    named: frozenset[str]
    does: frozenset[str]
    """What it does: the verbs that its name and its description begin with."""
    properties: Mapping[str, Any]
    required: Sequence[str]


class Instructions:
    """The tools of a user, as an agent may ask for them."""

    def __init__(self, tools: Sequence[Mapping[str, Any]]) -> None:
        self.tools = [_tool(tool["function"]) for tool in tools]

    def named(self, text: str) -> tuple[ToolCall, ...]:
        """The calls that a message tells the user to make by the names of tools, in their order."""
        return tuple(self._by_name(text)[:MAX_CALLS])

    def meant(self, text: str) -> tuple[ToolCall, ...]:
        """Those that it tells the user to make in words, where there is no doubt which."""
        return tuple(self._in_words(text)[:MAX_CALLS])

    def _by_name(self, text: str) -> list[ToolCall]:
        found = []
        for tool in self.tools:
            for place in re.finditer(rf"(?<![\w]){re.escape(tool.name)}(?!\w)", text):
                if "_" not in tool.name and not re.match(r"\s*[({`]", text[place.end() :]):
                    continue  # a word of English, perhaps: only with arguments behind it is it the tool
                found.append((place.start(), tool, text[place.end() :]))
        calls = []
        for _, tool, rest in sorted(found, key=lambda one: one[0]):
            given = _JSON.match(rest.lstrip(" `:(\n"))
            arguments = given[0] if given and _is_object(given[0]) else None
            if arguments is None:
                read = _arguments(tool, re.split(r"[.!?](?:\s|$)", rest)[0])
                arguments = json.dumps(read or {}, ensure_ascii=False)
            calls.append(ToolCall.of(tool.name, arguments))
        return calls

    def _in_words(self, text: str) -> list[ToolCall]:
        calls = []
        for sentence in sentences(text):
            if not self.tools or not _TOLD.search(sentence):
                continue
            for part in _PARTS.split(sentence):
                call = self._meant(part, sentence)
                if call is not None and call not in calls:
                    calls.append(call)
        return calls

    def _meant(self, part: str, sentence: str) -> ToolCall | None:
        heard = {concept(word) for word in tokens(part)}
        scored = []
        for tool in self.tools:
            named = heard & tool.named
            if heard & tool.does and len(named - tool.does) >= min(1, len(tool.named - tool.does)):
                scored.append((len(named), len(heard & tool.words), tool))
        if not scored:
            return None
        best = max(scored, key=lambda one: one[:2])
        if sum(one[:2] == best[:2] for one in scored) > 1:
            return None
        arguments = _arguments(best[2], sentence)
        return None if arguments is None else ToolCall.of(best[2].name, arguments)


def _tool(function: Mapping[str, Any]) -> _Tool:
    parameters = function["parameters"]
    name = function["name"]
    named = frozenset(meanings(name.replace("_", " "))) or frozenset({name})
    described = tokens(function.get("description", ""))
    words = frozenset(content(described))
    verbs = [name.split("_")[0], *described[:1]]
    does = frozenset(concept(other) for verb in verbs for other in (verb, *_ALSO.get(concept(verb), ())))
    return _Tool(name, words, named | does, does, parameters.get("properties", {}), parameters.get("required", ()))


def _arguments(tool: _Tool, text: str) -> dict[str, Any] | None:
    """The arguments that a text gives; None where one that is required is missing."""
    given: dict[str, Any] = {}
    for name, schema in tool.properties.items():
        value = _value(name, schema, text)
        if value is not None:
            given[name] = value
    return given if all(name in given for name in tool.required) else None


def _value(name: str, schema: Mapping[str, Any], text: str) -> Any:
    allowed = [value for value in schema.get("enum", ()) if isinstance(value, str)]
    for value in allowed:
        if re.search(rf"\b{re.escape(value)}\b", text, re.IGNORECASE):
            return value
    if allowed:
        for value in allowed:  # "picture" for pictures
            if re.search(rf"\b{re.escape(value.rstrip('s'))}", text, re.IGNORECASE):
                return value
        return None
    kind = schema.get("type")
    if kind in ("integer", "number"):
        number = re.search(r"-?\d+(?:\.\d+)?", text)
        if number is None:
            return None
        return float(number[0]) if kind == "number" else int(float(number[0]))
    if kind == "boolean":
        return None
    label = re.escape(name.replace("_", " "))
    labelled = re.search(rf"\b{label}\b\W*(?:is |code |number )*[\"'`]?([\w-]*\d[\w-]*)", text, re.IGNORECASE)
    quoted = re.search(r"[\"'`\u201c]([^\"'`\u201d]{1,200})[\"'`\u201d]", text)
    coded = re.search(r"\b[\w-]*\d[\w-]*\b", text)
    return labelled[1] if labelled else quoted[1] if quoted else coded[0] if coded else None


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False
