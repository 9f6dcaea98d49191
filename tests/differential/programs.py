"""Programs of calls: what both executors play, and how programs are drawn at random."""

import datetime
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from forgec.model.spec import Parameter, Spec, Tool, World
from forgec_runtime import types as t
from forgec_runtime.results import json_able


@dataclass(frozen=True)
class Call:
    """One call in one of a program's episodes."""

    episode: int
    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Fork:
    """`episode` is dropped, and goes on as a copy of another."""

    episode: int
    of: int


Step = tuple[Call, ...] | Fork


@dataclass(frozen=True)
class Program:
    """Steps over episodes that start in these worlds, or as tasks of these names begin with a seed.

    `fetched`, where no table is small enough to be kept decoded.
    """

    worlds: tuple[str, ...]
    steps: tuple[Step, ...]
    fetched: bool = False
    seed: int = 0

    def __str__(self) -> str:
        """Python that makes this program again, a call a line."""
        lines = [f"Program({self.worlds!r}, fetched={self.fetched}, seed={self.seed}, steps=("]
        for step in self.steps:
            if isinstance(step, Fork):
                lines.append(f"    {step!r},")
            else:
                lines.extend(["    (", *(f"        {call!r}," for call in step), "    ),"])
        return "\n".join([*lines, "))"])

    @property
    def calls(self) -> list[Call]:
        return [call for step in self.steps if not isinstance(step, Fork) for call in step]

    def played(self, spec: Spec) -> str:
        """What to type to play each episode by hand; calls of different episodes show here in no order."""

        def line(call: Call) -> str:
            user = ".user " if spec.tools[call.tool].side == "user" else ""
            return f"> {user}{call.tool} {json.dumps(call.arguments)}"

        scripts = []
        for episode, world in enumerate(self.worlds):
            lines = [line(call) for call in self.calls if call.episode == episode]
            if lines:
                start = f"--world {world}" if world in spec.worlds else f"--task {world} --seed {self.seed}"
                scripts.append("\n".join([f"forgec play {spec.source.name} {start}", *lines]))
        return "\n".join(scripts)


TEXTS = (
    "", " ", "a", "A", " a ", "é", "ÉA", "ßİÉﬁǆΣ", "x'y", 'x"y', "%", "_", "a_b", "\\", "{x}", "NULL", "\n",
    "\U0001f600", "0", "-1", "2025-02-28", "new@example.org", "x" * 70,
)  # fmt: skip
INTEGERS = (0, 1, 2, 3, 5, -1, -2, 10, 100, t.MAX_INTEGER, -t.MAX_INTEGER, 2**31 - 1, 2**31, 2**52, 94906267)
DAYS = (0, 1, -1, 7, 30, -30, 365, -365)
WRONG: tuple[Any, ...] = (None, [], {}, "x" * 300, -1.5, True, "1e5", 10**30)


class Programs:
    """Draws programs for one spec: the same seed, the same program."""

    def __init__(self, spec: Spec, seed: object) -> None:
        self.spec = spec
        self.chance = random.Random(f"{seed}")
        self.beginning = random.Random(f"{seed}/tasks")
        self._worlds = [world for world in spec.worlds.values() if world.known]
        self._tasks: dict[str, list[str]] = {world.name: [] for world in self._worlds}
        for task in spec.tasks.values():
            if (task.samples or task.change) and task.world in self._tasks:
                self._tasks[task.world].append(task.name)
        self._weights = [4 if any(world.rows.values()) else 1 for world in self._worlds]

    def program(self, *, episodes: int = 0, calls: int = 0, tools: Sequence[str] = ()) -> Program:
        """So many episodes and calls, in groups of random sizes; unless told, a dozen calls, and now and then many.

        Most programs know few tools, so that calls meet what other calls have done.
        """
        chance = self.chance
        large = chance.random() < 0.1
        episodes = episodes or chance.randint(1, 3) * (3 if large else 1)
        calls = calls or (40 if large else 12)
        known = list(tools or self.spec.tools)
        tools = chance.sample(known, min(len(known), chance.randint(2, 6))) if chance.random() < 0.7 else known
        worlds = [world.name for world in chance.choices(self._worlds, self._weights, k=episodes)]
        first, steps = tuple(map(self._start, worlds)), list[Step]()
        while calls > 0:
            if episodes > 1 and chance.random() < 0.15:
                fork = Fork(*chance.sample(range(episodes), 2))
                worlds[fork.episode] = worlds[fork.of]
                steps.append(fork)
            else:
                step = self._step(worlds, tools)
                steps.append(step)
                calls -= len(step)
        return Program(first, tuple(steps), fetched=chance.random() < 0.25, seed=self.beginning.randrange(100))

    def _start(self, world: str) -> str:
        """A world, or now and then a task in it that begins otherwise than the world."""
        tasks = self._tasks[world]
        return self.beginning.choice(tasks) if tasks and self.beginning.random() < 0.4 else world

    def _step(self, worlds: Sequence[str], names: list[str]) -> tuple[Call, ...]:
        """Calls of one episode may follow each other, and some steps make one query for many calls."""
        size = self.chance.choice((1, 1, 2, len(worlds), 2 * len(worlds)))
        common = self.chance.choice(names)
        calls = []
        for _ in range(size):
            episode = self.chance.randrange(len(worlds))
            tool = common if self.chance.random() < 0.4 else self.chance.choice(names)
            arguments = self.arguments(self.spec.tools[tool], self.spec.worlds[worlds[episode]])
            calls.append(Call(episode, tool, arguments))
        return tuple(calls)

    def arguments(self, tool: Tool, world: World) -> dict[str, Any]:
        arguments = {}
        for parameter in tool.parameters:
            left_out = parameter.optional or parameter.default is not None
            if left_out and self.chance.random() < 0.3:
                continue
            arguments[parameter.name] = self._argument(parameter, world)
        if self.chance.random() < 0.01:
            arguments[self.chance.choice(list(arguments) or ["x"])] = self.chance.choice(WRONG)
        return arguments

    def _argument(self, parameter: Parameter, world: World) -> Any:
        if parameter.optional and self.chance.random() < 0.2:
            return None
        known = [value for value in self._known(parameter, world) if value is not None]
        if known and self.chance.random() < 0.8:
            return json_able(self.chance.choice(known))
        return self._any(parameter.type)

    def _known(self, parameter: Parameter, world: World) -> list[Any]:
        """Keys for a reference, made ones too; else the values of columns that are called like the parameter."""
        found: list[Any] = []
        for table in self.spec.tables.values():
            if parameter.references == table.name:
                found.extend(row[table.key[0].name] for row in world.rows[table.name])
                found.extend(self._made(table.serial) if table.serial else [])
            elif parameter.references is None and table.column(parameter.name) is not None:
                column = table.column(parameter.name)
                assert column is not None
                if column.type.sql == parameter.type.sql:
                    found.extend(row[parameter.name] for row in world.rows[table.name])
                    found.extend(self._made(table.serial) if column.serial and table.serial else [])
        return found

    def _made(self, pattern: str) -> list[str]:
        head, zeros, tail = pattern.partition("{")[0], pattern.count("0"), pattern.partition("}")[2]
        return [f"{head}{number:0{max(zeros, 1)}d}{tail}" for number in range(1, 6)]

    def _any(self, type_: t.Type) -> Any:
        chance = self.chance
        if isinstance(type_, t.Enum):
            return chance.choice(type_.values)
        if isinstance(type_, t.Boolean):
            return chance.random() < 0.5
        if isinstance(type_, t.Integer):
            return chance.choice(INTEGERS) if chance.random() < 0.5 else chance.randint(-20, 20)
        if isinstance(type_, t.Decimal):
            return self._decimal(type_)
        if isinstance(type_, t.Double):
            return chance.choice((0.0, -0.0, 1.5, -2.25, 1e16, 1e-7, 1e300, 0.1, 3))
        if isinstance(type_, t.Date):
            edges = ("0001-01-01", "9999-12-31", "2024-02-29")
            return chance.choice(edges) if chance.random() < 0.2 else str(self._moment().date())
        if isinstance(type_, t.Timestamp):
            return self._moment().isoformat()
        if isinstance(type_, t.Record):
            return {f.name: None if f.optional and chance.random() < 0.3 else self._any(f.type) for f in type_.fields}
        if isinstance(type_, t.List):
            return [self._any(type_.of) for _ in range(chance.choice((0, 1, 2, 5)))]
        if isinstance(type_, t.Map):
            return {self._any(type_.key): self._any(type_.of) for _ in range(chance.choice((0, 1, 3)))}
        return chance.choice(TEXTS)

    def _decimal(self, type_: t.Decimal) -> Any:
        unit = Decimal(1).scaleb(-type_.scale)
        most = 10**type_.precision - 1
        number = self.chance.choice(
            (0, 1, -1, most, -most, self.chance.randint(-most, most), self.chance.randint(0, 500))
        )
        return format(number * unit, "f")

    def _moment(self) -> datetime.datetime:
        odd = datetime.timedelta(microseconds=self.chance.choice((0, 0, 1, 120_000, 999_999)))
        return self.spec.clock + datetime.timedelta(days=self.chance.choice(DAYS)) + odd
