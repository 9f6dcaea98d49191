"""Other values for an argument, those first that somebody might mistake for the right one."""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from forgec_runtime import Environment, Parameter
from forgec_runtime import types as t
from forgec_runtime.agents import WorldValues
from forgec_runtime.plan import GoldCall
from forgec_runtime.results import json_able

LEFT_OUT: Any = object()
"""Stands for an argument that is not given."""
NEARBY = 40
"""So many values under a name are taken from the results of a run."""


class Pools:
    """The values of worlds that fit parameters, as JSON, each looked up once."""

    def __init__(self, env: Environment) -> None:
        self.env = env
        self._worlds = {name: WorldValues(env, name) for name in env.worlds}
        self._found: dict[tuple[str, str | None, str], list[Any]] = {}

    def fitting(self, world: str, parameter: Parameter) -> list[Any]:
        place = (world, parameter.references, parameter.name)
        if place not in self._found:
            values = [json_able(one) for one in self._worlds[world].fitting(parameter)]
            self._found[place] = [one for one in values if _fits(parameter, one)]
        return self._found[place]


def other_values(
    pools: Pools,
    world: str,
    parameter: Parameter,
    value: Any,
    nearby: Sequence[Any],
    number: int,
    chance: random.Random,
) -> list[Any]:
    """At most so many values for a parameter other than `value`, as JSON: from the results of the run (`nearby`), near
    the value itself, and from the world.
    """
    pool = pools.fitting(world, parameter)
    kinds = [chance.sample(nearby, len(nearby)), chance.sample(pool, min(len(pool), number + 1))]
    if not parameter.references:  # what is near a key by its letters is no key
        kinds.insert(1, list(_around(parameter.type, value)))
    found: list[Any] = []
    for one in _in_turn(kinds):
        if len(found) < number and not _is_same(one, value) and one not in found and _fits(parameter, one):
            found.append(one)
    if value is not LEFT_OUT and not parameter.required:
        found.append(LEFT_OUT)
    return found


def _in_turn(kinds: Sequence[list[Any]]) -> Iterator[Any]:
    """The first of each, the second of each, and so on."""
    for place in range(max(map(len, kinds), default=0)):
        yield from (kind[place] for kind in kinds if place < len(kind))


def _is_same(one: Any, value: Any) -> bool:
    return one == value and isinstance(one, bool) is isinstance(value, bool)


def values_by_name(calls: Sequence[GoldCall]) -> dict[str, list[Any]]:
    """What calls gave, by the names under which it stood."""
    found: dict[str, dict[Any, None]] = {}
    for call in calls:
        _gather(json_able(call.result.value), found)
    return {name: list(values)[:NEARBY] for name, values in found.items()}


def _gather(value: Any, found: dict[str, dict[Any, None]]) -> None:
    if isinstance(value, Mapping):
        for name, part in value.items():
            if isinstance(part, str | int | float) and not isinstance(part, bool):
                found.setdefault(name, {})[part] = None
            else:
                _gather(part, found)
    elif isinstance(value, list):
        for part in value:
            _gather(part, found)


def _around(type_: t.Type, value: Any) -> Iterator[Any]:
    """Values of a type that are near one."""
    if isinstance(type_, t.Enum):
        yield from type_.values
    elif isinstance(type_, t.Boolean):
        yield from (True, False)
    elif value is LEFT_OUT or value is None:
        return
    elif isinstance(type_, t.List):
        yield from _lists(type_, value)
    elif isinstance(type_, t.Record):
        for field in type_.fields:
            for other in _around(field.type, value.get(field.name)):
                yield {**value, field.name: other}
    elif isinstance(type_, t.Map):
        for key, held in value.items():
            yield {name: one for name, one in value.items() if name != key}
            for other in _around(type_.of, held):
                yield {**value, key: other}
    else:
        yield from _single(type_, value)


def _lists(type_: t.List, value: list[Any]) -> Iterator[Any]:
    for place, one in enumerate(value):
        yield [*value[:place], *value[place + 1 :]]
        for other in _around(type_.of, one):
            yield [*value[:place], other, *value[place + 1 :]]


def _single(type_: t.Type, value: Any) -> Iterator[Any]:
    if isinstance(type_, t.Integer):
        yield from (value + 1, value - 1)
    elif isinstance(type_, t.Decimal):
        unit = Decimal(1).scaleb(-type_.scale)
        exact = Decimal(str(value))
        yield from (json_able(one) for one in (exact - unit, exact + unit, exact - 1, exact + 1))
    elif isinstance(type_, t.Double):
        yield from (value + 1, value - 1)
    elif isinstance(type_, t.Date):
        day = datetime.date.fromisoformat(value)
        yield from (json_able(day + datetime.timedelta(days=days)) for days in (1, -1))
    elif isinstance(type_, t.Timestamp):
        moment = datetime.datetime.fromisoformat(value)
        yield from (json_able(moment + datetime.timedelta(days=days)) for days in (1, -1))
    elif isinstance(type_, t.Text):
        yield from (f"{value} too", f"x{value}")


def _fits(parameter: Parameter, value: Any) -> bool:
    if value is LEFT_OUT or value is None:
        return parameter.optional
    try:
        parameter.type.decode(value)
    except t.Mismatch:
        return False
    return True


def near(env: Environment, parameter: Parameter, nearby: Mapping[str, list[Any]]) -> list[Any]:
    """Those of the values that calls gave which stood under the name of a parameter, or of the key it refers to."""
    key = next((table.key[-1] for table in env.tables if table.name == parameter.references), parameter.name)
    return list(nearby.get(key, ()))
