"""Programs of calls, run in a compiled environment and by the reference executor of the same spec."""

import datetime
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from forgec.diagnostics import Report
from forgec.diagnostics.text import render_text
from forgec.model.spec import Parameter, Spec, Tool, World
from forgec.pipeline import check_source, generate_package
from forgec.reference import ReferenceEpisode
from forgec.source import Source
from forgec_runtime import FAULT_TEXT, Environment, load_environment, results
from forgec_runtime import types as t
from forgec_runtime.results import json_able
from forgec_runtime.tool import decode_arguments


@dataclass(frozen=True)
class Call:
    """One call in one of a program's episodes."""

    episode: int
    tool: str
    arguments: Mapping[str, Any]


Steps = tuple[tuple[Call, ...], ...]


@dataclass(frozen=True)
class Program:
    """Calls grouped into steps, over episodes that start in these worlds."""

    worlds: tuple[str, ...]
    steps: Steps

    def __str__(self) -> str:
        lines = [f"Program({self.worlds!r}, ("]
        for step in self.steps:
            lines.append("    (" + ", ".join(map(repr, step)) + ",),")
        return "\n".join([*lines, "))"])


def compiled(text: str, folder: Path, name: str = "spec.afs") -> tuple[Spec, Environment]:
    """A spec, checked and compiled into `folder`."""
    report = Report()
    checked = check_source(Path(name), Source(name, text), report)
    assert checked.spec is not None, render_text(report)
    for file, content in generate_package(checked.spec).items():
        path = folder / checked.spec.name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return checked.spec, load_environment(folder / checked.spec.name)


def exact(value: Any) -> Any:
    """A value such that 1, 1.0, True and Decimal('1.00') are all different."""
    if isinstance(value, Mapping):
        return {name: exact(part) for name, part in value.items()}
    if isinstance(value, list):
        return [exact(part) for part in value]
    return type(value).__name__, repr(value)


ARITHMETIC = re.compile("overflow|out of range|conver|cast", re.IGNORECASE)
"""In the detail of a fault: a number that does not fit, a text that is no number."""


class Bench:
    """One spec, both ways.

    Where a part of an expression cannot be computed and its value would not matter (`false and 2**63 > 0`), DuckDB
    fails or not as its optimizer pleases. `arithmetic_may_fail` lets both be right, and ends the program there.
    """

    def __init__(self, spec: Spec, environment: Environment, *, arithmetic_may_fail: bool = False) -> None:
        self.spec = spec
        self.environment = environment
        self.arithmetic_may_fail = arithmetic_may_fail

    # -- running -----------------------------------------------------------------------------------------------

    def check(self, program: Program) -> None:
        """Raise `AssertionError` with the smallest program found when the two sides differ."""
        found = self.difference(program)
        if found is not None:
            smallest = self._shrunk(program)
            raise AssertionError(f"{self.difference(smallest)}\nin {smallest}")

    def difference(self, program: Program) -> str | None:
        """The first thing on which the two sides differ."""
        episodes = [self.environment.reset(world) for world in program.worlds]
        references = [ReferenceEpisode(self.spec, world) for world in program.worlds]
        for step in program.steps:
            found = self.environment.step([(episodes[call.episode], call.tool, call.arguments) for call in step])
            for call, result in zip(step, found, strict=True):
                ours = result.ok, exact(result.value), result.text
                theirs = self._reference(references[call.episode], call)
                if self.arithmetic_may_fail and ours != theirs:
                    if theirs[2] == FAULT_TEXT or (result.kind == "fault" and ARITHMETIC.search(result.detail)):
                        return None
                if ours != theirs:
                    return f"{call}\ncompiled:  {ours} {result.detail}\nreference: {theirs}"
        for i, (episode, reference) in enumerate(zip(episodes, references, strict=True)):
            ours, theirs = exact(episode.state()), exact(reference.state())
            if ours != theirs:
                return f"the state of episode {i}\n{_first_difference(ours, theirs)}"
            if episode.broken_rules != reference.broken_rules:
                return f"the broken rules of episode {i}: {episode.broken_rules} against {reference.broken_rules}"
        return None

    def _reference(self, episode: ReferenceEpisode, call: Call) -> tuple[bool, Any, str]:
        tool = self.environment.tools[call.tool]
        decoded = decode_arguments(tool, call.arguments)
        if isinstance(decoded, str):
            return False, exact(None), decoded
        named = dict(zip((parameter.name for parameter in tool.parameters), decoded, strict=True))
        answer = episode.call(call.tool, named)
        return answer.ok, exact(answer.value), results.to_json(answer.value) if answer.ok else answer.text

    def _shrunk(self, program: Program) -> Program:
        """The program without the steps and calls that the difference does not need."""
        smaller = True
        while smaller:
            smaller = False
            for candidate in _smaller(program):
                if self.difference(candidate) is not None:
                    program, smaller = candidate, True
                    break
        return program


def _smaller(program: Program) -> Iterator[Program]:
    steps = program.steps
    half = len(steps) // 2
    if half > 1:
        yield Program(program.worlds, steps[half:])
        yield Program(program.worlds, steps[:half])
    for i in range(len(steps) - 1, -1, -1):
        yield Program(program.worlds, steps[:i] + steps[i + 1 :])
    for i, step in enumerate(steps):
        if len(step) > 1:
            for j in range(len(step)):
                yield Program(program.worlds, (*steps[:i], step[:j] + step[j + 1 :], *steps[i + 1 :]))


def _first_difference(ours: Mapping[str, list[Any]], theirs: Mapping[str, list[Any]]) -> str:
    for name in ours:
        mine = [row for row in ours[name] if row not in theirs[name]]
        other = [row for row in theirs[name] if row not in ours[name]]
        if mine or other:
            return f"{name}, compiled:  {mine}\n{name}, reference: {other}"
    return "the order of rows"


# -- random programs ------------------------------------------------------------------------------------------------

TEXTS = (
    "", " ", "a", "A", " a ", "é", "ÉA", "ß", "İ", "x'y", 'x"y', "%", "_", "a_b", "\\", "{x}", "NULL", "\n",
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

    def program(self, episodes: int, steps: int, tools: Sequence[str] | None = None) -> Program:
        """A program over `episodes` episodes; in each step some of them make one or two calls."""
        names = list(tools or self.spec.tools)
        worlds = tuple(self.chance.choice(list(self.spec.worlds)) for _ in range(episodes))
        return Program(worlds, tuple(self._step(worlds, names) for _ in range(steps)))

    def _step(self, worlds: tuple[str, ...], names: list[str]) -> tuple[Call, ...]:
        size = self.chance.choice((1, 1, 2, len(worlds), 2 * len(worlds)))
        common = self.chance.choice(names)  # some steps make one query for many calls
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
