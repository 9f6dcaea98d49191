"""Agents without a language model: gold, nobody, and one that calls at random. For tests, baselines and fuzzing."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakKeyDictionary

from . import types as t
from .plan import follow, known_at_start
from .query import Query
from .results import json_able
from .tasks import Task

if TYPE_CHECKING:
    from .environment import Environment
    from .episode import Episode
    from .tool import Parameter, Tool

MAX_POOL = 200
"""How many values of a column the random agent draws from."""


class Agent(Protocol):
    """Plays one task in one episode; what it tells the user goes to `episode.messages`."""

    def play(self, env: Environment, episode: Episode, task: Task) -> None: ...


class GoldAgent:
    """Makes the calls of a plan, gold as a rule, then says what is to be said. Raises `GoldError` where it fails."""

    def __init__(self, plan: int = 0) -> None:
        self.plan = plan

    def play(self, env: Environment, episode: Episode, task: Task) -> None:
        episode.messages.extend(follow(env, episode, task, plan=self.plan).answers)


class NoopAgent:
    """Does nothing and says nothing: a task that it passes is no task."""

    def play(self, env: Environment, episode: Episode, task: Task) -> None:
        return


class RandomAgent:
    """Calls tools at random, with arguments of the right types and, mostly, of this world.

    The same seed and task give the same calls, in every process.
    """

    def __init__(self, seed: int = 0, calls: int = 10) -> None:
        self.seed, self.calls = seed, calls
        self._worlds: WeakKeyDictionary[Environment, dict[str, WorldValues]] = WeakKeyDictionary()

    def play(self, env: Environment, episode: Episode, task: Task) -> None:
        for tool, arguments in self.drawn(env, episode, task, f"{self.seed}/{task.name}"):
            env.step([(episode, tool, arguments)])
            if episode.ended:
                return

    def drawn(self, env: Environment, episode: Episode, task: Task, seed: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """The calls of one play, as the `seed` draws them: tools with their arguments. None of them is made."""
        chance = random.Random(seed)
        worlds = self._worlds.setdefault(env, {})
        if episode.world not in worlds:
            worlds[episode.world] = WorldValues(env, episode.world)
        draw = _Draw(chance, worlds[episode.world], known_at_start(env, episode, task))
        tools = list(env.tools.values())
        for _ in range(self.calls if tools else 0):
            tool = chance.choice(tools)
            yield tool.name, draw.arguments(tool)


AGENTS: dict[str, Callable[[], Agent]] = {"gold": GoldAgent, "noop": NoopAgent, "random": RandomAgent}
"""The built-in agents by name, with their default settings."""


class WorldValues:
    """What stands in the columns of a world, for arguments: looked up once a column."""

    def __init__(self, env: Environment, world: str) -> None:
        self.env, self.world = env, world
        self.clock = env.clock
        self._pools: dict[tuple[str, str], list[Any]] = {}

    def fitting(self, parameter: Parameter) -> list[Any]:
        """The keys that a reference may lead to; else the values of the columns named like the parameter."""
        if parameter.references:
            columns = [(table.name, table.key[0]) for table in self.env.tables if table.name == parameter.references]
        else:
            all_columns = [(table.name, column.name) for table in self.env.tables for column in table.columns]
            columns = [(table, column) for table, column in all_columns if column == parameter.name]
        return [value for table, column in columns for value in self._column(table, column)]

    def _column(self, table: str, column: str) -> list[Any]:
        if (table, column) not in self._pools:
            self._pools[table, column] = self._query(table, column)
        return self._pools[table, column]

    def _query(self, table: str, column: str) -> list[Any]:
        sql = f'select distinct t."{column}" as v from {{{table}}} as t where t."{column}" is not null order by v'
        query = Query(f"{sql} limit {MAX_POOL}", tables=(table,), values=(), columns=("v",), order="q.v")
        return [row["v"] for row in self.env.evaluate(self.env.reset(self.world), query, (), "rows")]


class _Draw:
    """One play's draws."""

    def __init__(self, chance: random.Random, world: WorldValues, known: Mapping[str, Any]) -> None:
        self.chance, self.world = chance, world
        self.facts = {name: value for name, value in known.items() if value is not None}

    def arguments(self, tool: Tool) -> dict[str, Any]:
        return {p.name: self._argument(p) for p in tool.parameters if p.required or self.chance.random() < 0.5}

    def _argument(self, parameter: Parameter) -> Any:
        pools = [self.world.fitting(parameter)]
        if parameter.name in self.facts:
            pools.append([self.facts[parameter.name]])
        fitting = [[value for value in map(json_able, pool) if _fits(parameter.type, value)] for pool in pools]
        known = [pool for pool in fitting if pool]
        # now and then something else, or errors would never be seen
        if known and self.chance.random() < 0.9:
            return self.chance.choice(self.chance.choice(known))
        return self._any(parameter.type)

    def _any(self, type_: t.Type) -> Any:
        chance = self.chance
        if isinstance(type_, t.Enum):
            return chance.choice(type_.values)
        if isinstance(type_, t.Boolean):
            return chance.random() < 0.5
        if isinstance(type_, t.Integer):
            return chance.randint(0, 5)
        if isinstance(type_, t.Decimal):
            unit = Decimal(1).scaleb(-type_.scale)
            return json_able(chance.randrange(min(10**type_.precision, 10 ** (type_.scale + 2))) * unit)
        if isinstance(type_, t.Double):
            return chance.randrange(10_000) / 100
        if isinstance(type_, t.Date | t.Timestamp):
            moment = self.world.clock + datetime.timedelta(days=chance.randint(-30, 30))
            return json_able(moment if isinstance(type_, t.Timestamp) else moment.date())
        if isinstance(type_, t.Record):
            return {f.name: self._any(f.type) for f in type_.fields}
        if isinstance(type_, t.List):
            return [self._any(type_.of) for _ in range(chance.randint(0, 3))]
        if isinstance(type_, t.Map):
            return {self._any(type_.key): self._any(type_.of) for _ in range(chance.randint(0, 3))}
        texts = [value for value in self.facts.values() if isinstance(value, str)]
        return chance.choice([*texts, "unknown", "A-1"])


def _fits(type_: t.Type, value: Any) -> bool:
    try:
        type_.decode(value)
    except t.Mismatch:
        return False
    return True
