"""The arguments that agents send."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from .limits import MAX_ARGUMENTS, weight, weight_at_most
from .results import from_json
from .tool import REQUIRED
from .types import MAX_NAMED, MAX_TEXT, Mismatch, did_you_mean

if TYPE_CHECKING:
    from .tool import Tool

Arguments = Mapping[str, Any] | str | bytes
"""What an agent sends: an object, or JSON text of one."""


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
        given = dict(given)
    decoders = tool.decoders
    values: list[Any] | str | None = None
    if len(given) == len(decoders):
        values = []
        try:
            for name, decode, is_text in decoders:
                value = given[name]
                if is_text and type(value) is str and value.isprintable() and len(value) <= MAX_TEXT:
                    values.append(value)  # most are like this, and need not be asked more
                else:
                    values.append(decode(value))
        except (KeyError, Mismatch):  # also for a value that is null
            values = None
    if values is None:
        values = _one_by_one(tool, given)
        if isinstance(values, str):
            return values
    if tool.takes_many and weight_at_most(values) >= MAX_ARGUMENTS and weight(values) > MAX_ARGUMENTS:
        return _TOO_LARGE
    return values


def _one_by_one(tool: Tool, given: Mapping[str, Any]) -> list[Any] | str:
    """The values of all parameters, of which some are left out or null; or all that is wrong with them."""
    values: list[Any] = []
    problems: list[str] = []
    for parameter in tool.parameters:
        name = parameter.name
        value = given.get(name, parameter.absent)
        if value is None or value is parameter.absent:
            if value is REQUIRED or (value is None and not parameter.optional):
                problems.append(f"{name} must not be null" if name in given else f"{name} is missing")
            values.append(value)
            continue
        try:
            values.append(parameter.type.decode(value))
        except Mismatch as mismatch:
            problems.extend(mismatch.about(name))
    if not tool.names.issuperset(given):
        unknown = [str(name) for name in given if name not in tool.names]
        problems.extend(_unknown(tool, name) for name in unknown[:MAX_NAMED])
        if len(unknown) > MAX_NAMED:
            problems.append(f"nor are there {len(unknown) - MAX_NAMED} others")
    return "; ".join(problems) if problems else values


_TOO_LARGE = f"The arguments have more than {MAX_ARGUMENTS:,} characters"


def _unknown(tool: Tool, name: str) -> str:
    return f"there is no argument {name[:100]!r}{did_you_mean(name, tool.names)}"


def unknown_tool(name: object, tools: Mapping[str, Tool]) -> str:
    """What an agent reads that calls a tool which does not exist."""
    shown = str(name)[:100]
    close = get_close_matches(shown, sorted(tools), n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    return f"There is no tool {shown!r}.{hint} Tools: {', '.join(tools)}"
