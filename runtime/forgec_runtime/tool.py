"""Tools, and the parameters that they take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from .results import json_able
from .types import List, Map, Record, Text, Type, described, nullable

if TYPE_CHECKING:
    from .schema import Table

REQUIRED: Any = object()
"""Stands for the default of a parameter that has none."""

Side = Literal["agent", "user"]


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

    @property
    def absent(self) -> Any:
        """What stands in for it where it is left out."""
        return None if self.optional and self.default is REQUIRED else self.default

    def json_schema(self) -> dict[str, Any]:
        """What may be given for it."""
        schema = described(nullable(self.type.json_schema(), self.optional), self.doc)
        return schema if self.default is REQUIRED else {**schema, "default": json_able(self.default)}


class Tool:
    """A tool: `function(call, *arguments)` in the order of `parameters`; `side` is who calls it.

    With `ends`, the episode has ended once a call of it succeeded. `rows` are the tables with alternatives of which it
    returns rows; of results of several kinds, that of a table has its columns.
    """

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        doc: str = "",
        parameters: tuple[Parameter, ...] = (),
        side: Side = "agent",
        ends: bool = False,
        rows: tuple[Table[Any], ...] = (),
    ) -> None:
        self.name = name
        self.function = function
        self.doc = doc
        self.parameters = parameters
        self.side = side
        self.ends = ends
        self.rows = rows
        # what follows from these is asked for in every call
        self.names = frozenset(parameter.name for parameter in parameters)
        self.takes_many = len(parameters) > 10 or any(isinstance(p.type, List | Map | Record) for p in parameters)
        """Whether its arguments may be many values in one, or many texts."""
        self.decoders = tuple((one.name, one.type.decode, isinstance(one.type, Text)) for one in parameters)
        """The parameters, each with what decodes a value of it, and whether it is a text."""

    def told(self, value: Any) -> Any:
        """The value that a call gives, as an agent reads it."""
        for table in self.rows:
            if not isinstance(value, Mapping) or value.keys() == table.document:
                return table.told(value)
        return value

    @property
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
