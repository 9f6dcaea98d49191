"""Tools, and the arguments that agents send."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from .limits import MAX_ARGUMENTS, weight
from .results import from_json, json_able
from .types import MAX_NAMED, List, Map, Mismatch, Record, Type, described, did_you_mean, nullable

if TYPE_CHECKING:
    from .schema import Table

REQUIRED: Any = object()
"""Stands for the default of a parameter that has none."""

Side = Literal["agent", "user"]

Arguments = Mapping[str, Any] | str | bytes
"""What an agent sends: an object, or JSON text of one."""


@dataclass(frozen=True)
class Parameter:
    """One parameter. `references` names the table whose key it takes."""

    name: str
    type: Type
    doc: str = ""
    optional: bool = False
    references: str | None = None
    default: Any = REQUIRED

    @property
    def required(self) -> bool:
        return self.default is REQUIRED and not self.optional

    def json_schema(self) -> dict[str, Any]:
        """What may be given for it."""
        schema = described(nullable(self.type.json_schema(), self.optional), self.doc)
        return schema if self.default is REQUIRED else {**schema, "default": json_able(self.default)}


@dataclass(frozen=True, eq=False)
class Tool:
    """A tool: `function(call, *arguments)` in the order of `parameters`; `side` is who calls it.

    With `ends`, the episode has ended once a call of it succeeded. `rows` are the tables with alternatives of which it
    returns rows; of results of several kinds, that of a table has its columns.
    """

    name: str
    function: Callable[..., Any]
    doc: str = ""
    parameters: tuple[Parameter, ...] = field(default=())
    side: Side = "agent"
    ends: bool = False
    rows: tuple[Table[Any], ...] = ()

    def told(self, value: Any) -> Any:
        """The value that a call gives, as an agent reads it."""
        for table in self.rows:
            if not isinstance(value, Mapping) or value.keys() == table.document:
                return table.told(value)
        return value

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(parameter.name for parameter in self.parameters)

    @cached_property
    def takes_many(self) -> bool:
        """Whether its arguments may be many values in one, or many texts."""
        return len(self.parameters) > 10 or any(isinstance(p.type, List | Map | Record) for p in self.parameters)

    @cached_property
    def decoders(self) -> tuple[tuple[str, Parameter, Any, Callable[[Any], Any]], ...]:
        """The parameters with what stands in for each that is left out, and what decodes it."""
        return tuple(
            (p.name, p, None if p.optional and p.default is REQUIRED else p.default, p.type.decode)
            for p in self.parameters
        )

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The tool as an OpenAI function schema."""
        return tool_schema(self.name, self.doc, self.parameters)


def tool_schema(name: str, doc: str, parameters: Iterable[Parameter]) -> dict[str, Any]:
    """A tool as an OpenAI function schema."""
    parameters = tuple(parameters)
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": doc,
            "parameters": {
                "type": "object",
                "properties": {parameter.name: parameter.json_schema() for parameter in parameters},
                "required": [parameter.name for parameter in parameters if parameter.required],
                "additionalProperties": False,
            },
        },
    }


def decode_arguments(tool: Tool, given: Arguments) -> list[Any] | str:
    """The values of all parameters in order; a text that an agent can act on when `given` does not fit."""
    if type(given) is not dict:  # most are, and these questions are not free
        if isinstance(given, str | bytes):
            if len(given) > MAX_ARGUMENTS:
                return _TOO_LARGE
            try:
                given = from_json(given)
            except ValueError as error:
                return f"The arguments are not valid JSON: {error}"
        if not isinstance(given, Mapping):
            return "The arguments must be a JSON object"
    values: list[Any] = []
    problems: list[str] = []
    for name, parameter, default, decode in tool.decoders:
        value = given.get(name, default)
        if value is None or value is default:
            if value is REQUIRED or (value is None and not parameter.optional):
                problems.append(f"{name} must not be null" if name in given else f"{name} is missing")
            values.append(value)
            continue
        try:
            values.append(decode(value))
        except Mismatch as mismatch:
            problems.extend(mismatch.about(name))
    if not tool.names.issuperset(given):
        unknown = [str(name) for name in given if name not in tool.names]
        problems.extend(_unknown(tool, name) for name in unknown[:MAX_NAMED])
        if len(unknown) > MAX_NAMED:
            problems.append(f"nor are there {len(unknown) - MAX_NAMED} others")
    if problems:
        return "; ".join(problems)
    return _TOO_LARGE if tool.takes_many and weight(values) > MAX_ARGUMENTS else values


_TOO_LARGE = f"The arguments have more than {MAX_ARGUMENTS:,} characters"


def _unknown(tool: Tool, name: str) -> str:
    return f"there is no argument {name[:100]!r}{did_you_mean(name, tool.names)}"


def unknown_tool(name: object, tools: Mapping[str, Tool]) -> str:
    """What an agent reads that calls a tool which does not exist."""
    shown = str(name)[:100]
    close = get_close_matches(shown, sorted(tools), n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    return f"There is no tool {shown!r}.{hint} Tools: {', '.join(tools)}"
