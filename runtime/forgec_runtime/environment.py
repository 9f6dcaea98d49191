"""Environments: many episodes, stepped together."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import snapshots, starts
from .answers import Answers, Twins
from .base import Base
from .call import Call
from .constraints import Constraints, Invariant, Sync
from .data.completing import denied
from .data.holding import hold
from .engine import EngineError
from .episode import Episode
from .errors import Fault
from .hashes import Hashes
from .query import Query
from .results import Result
from .reward import Reward, reward, rewards
from .scheduler import Scheduler, StepCall
from .schema import Table
from .tasks import Kind, Task, TaskError
from .tool import Side, Tool
from .world import Stored, World

if TYPE_CHECKING:
    from .telemetry import Telemetry


class Environment:
    """A compiled environment. Episodes share the rows of their world; each holds only what it changed."""

    def __init__(
        self,
        name: str,
        *,
        clock: datetime.datetime,
        tables: Iterable[Table[Any]],
        tools: Iterable[Tool],
        worlds: Iterable[World],
        doc: str = "",
        policy: str = "",
        invariants: tuple[Invariant, ...] = (),
        syncs: tuple[Sync, ...] = (),
        tasks: Mapping[str, Task] | Iterable[Task] = (),
        hashes: Hashes | None = None,
    ) -> None:
        self.name = name
        self.hashes = hashes
        """What identifies this environment, its worlds and tasks; None for one that was not compiled."""
        self.doc = doc
        self.clock = clock
        self.policy = policy
        self.tables: tuple[Table[Any], ...] = tuple(tables)
        everyone = {tool.name: tool for tool in tools}
        self.tools = {name: tool for name, tool in everyone.items() if tool.side == "agent"}
        """What the agent can call."""
        self.user_tools = {name: tool for name, tool in everyone.items() if tool.side == "user"}
        """What the user can call."""
        self._callable: dict[Side | None, dict[str, Tool]] = {
            "agent": self.tools, "user": self.user_tools, None: everyone
        }  # fmt: skip
        self.worlds = {world.name: world for world in worlds}
        self.tasks = tasks if isinstance(tasks, Mapping) else {task.name: task for task in tasks}
        self.allowed: frozenset[str] = frozenset()
        """The sources outside of the package that worlds may read."""
        self._tables = {table.name: table for table in self.tables}
        self._constraints = Constraints(self._tables, invariants, syncs)
        self._scheduler = Scheduler(self._tables, self._constraints)
        self._bases: dict[str, Base] = {}

    @property
    def executions(self) -> int:
        """How many times DuckDB was asked for anything."""
        return self._scheduler.executions

    @property
    def telemetry(self) -> Telemetry | None:
        """Counts what calls come to and take, while there is one: see `measure`."""
        return self._scheduler.telemetry

    # -- episodes ----------------------------------------------------------------------------------------------

    def base(self, world: str) -> Base:
        """The rows of a world, loaded on first use. Raises `KeyError` for an unknown world, `LoadError`."""
        if world not in self._bases:
            base = self.worlds[world].load(self.name, self._tables, self.allowed)
            if self.worlds[world].outside:
                hold(base, self._constraints, self._scheduler.at_once)
            self._bases[world] = base
        return self._bases[world]

    def allow(self, sources: Iterable[str]) -> None:
        """Let worlds read rows outside of their package: of these distributions, and from the files that these
        environment variables name.
        """
        self.allowed = frozenset(sources)

    def denied(self, world: str) -> list[str]:
        """The sources of a world that were not allowed."""
        return denied(self.worlds[world].outside, self.allowed)

    def store(self, world: str, folder: Path) -> Stored:
        """Put a world into a database in `folder`, for `adopt` in other processes. Raises `LoadError`."""
        stored = self.worlds[world].store(self.name, self._tables, folder / "world.duckdb", self.allowed)
        if self.worlds[world].outside:
            hold(stored.open(self._tables), self._constraints, self._scheduler.at_once)
        return stored

    def adopt(self, stored: Stored) -> None:
        """Read a world from where another process stored it."""
        self._bases[stored.origin.world] = stored.open(self._tables)

    def start_of(self, start: str) -> tuple[str, Task | None]:
        """The world, and the task, that an episode would begin in. Raises `KeyError` for an unknown name."""
        world, task = start, None
        if start in self.tasks:
            task = self.tasks[start]
            world = task.world
        if world not in self.worlds:
            known = ", ".join([*self.worlds, *self.tasks])
            raise KeyError(f"{self.name} has no world or task {start!r}; it has {known}")
        return world, task

    def reset(self, start: str | Task, seed: int = 0) -> Episode:
        """A fresh episode in a world, or of a task in its world.

        The seed draws the samples of a task; without samples it changes nothing. Raises `KeyError` for an unknown name,
        `TaskError` for a task that cannot begin, `LoadError`.
        """
        world, task = self.start_of(start) if isinstance(start, str) else (start.world, start)
        if task is None:
            return Episode(world, self.base(world))
        return Episode(world, self.base(world), task, seed if task.sampled else 0, starts.start(self, task, seed))

    def restore(self, snapshot: bytes) -> Episode:
        """The episode that `Episode.snapshot` wrote, in this process or another; it goes its own way from there.

        Raises `SnapshotError` for bytes that are damaged, or of another environment, schema, world or format, and
        `LoadError`.
        """
        world, task, seed = self.start_of_snapshot(snapshot)
        try:
            episode = self.reset(task or world, seed)
        except TaskError as error:
            raise snapshots.misfit(str(error)) from error
        snapshots.fill(episode, snapshot)
        return episode

    def start_of_snapshot(self, snapshot: bytes) -> tuple[str, Task | None, int]:
        """The world, the task and its seed that a snapshot is of. Raises `SnapshotError`."""
        world, name, seed = snapshots.start_of(snapshot, self.name)
        task = self.tasks.get(name) if name is not None else None
        if world not in self.worlds:
            raise snapshots.misfit(f"{self.name} has no world {world!r}")
        if name is not None and (task is None or task.world != world):
            raise snapshots.misfit(f"{self.name} has no task {name!r} in the world {world}")
        return world, task, seed

    def call(self, episode: Episode, tool: str, by: Side | None = "agent", /, **arguments: Any) -> Result:
        """One call: a step of one."""
        return self.step([(episode, tool, arguments)], by)[0]

    def tool(self, name: str) -> Tool:
        """A tool of either side. Raises `KeyError` for an unknown name."""
        return self._callable[None][name]

    def reward(self, episode: Episode, task: Task) -> Reward:
        """The reward of an episode as it stands, with the reasons when it is not 1. Raises `GoldError`."""
        return reward(self, episode, task)

    def rewards(self, asked: Iterable[tuple[Episode, Task]]) -> list[Reward]:
        """The rewards of many episodes, each for a task."""
        return rewards(self, asked)

    def step(self, calls: Sequence[StepCall], by: Side | None = "agent") -> list[Result]:
        """Run calls of any tools in any episodes; the results are in the order of the calls.

        Calls of one episode run in the order given. A call that fails changes nothing and fails alone. How often
        DuckDB is asked depends on the tools called, not on the number of calls.

        The calls are the agent's, who knows no other tools than its own; or the user's; or, with None, each is made by
        the side that the tool is of.
        """
        return self._scheduler.step(calls, self._callable[by])

    def perform(self, episode: Episode, function: Callable[[Call], None]) -> Result:
        """Have a function write to an episode, as the body of a tool would: all that a call keeps is kept."""
        return self.perform_all([(episode, function)])[0]

    def perform_all(self, writes: Sequence[tuple[Episode, Callable[[Call], None]]]) -> list[Result]:
        """Have functions write to episodes, each to another one, as the calls of a step do."""
        results: list[Result | None] = [None] * len(writes)
        calls = [Call(i, episode, Tool("", function), ()) for i, (episode, function) in enumerate(writes)]
        self._scheduler.play(calls, {call.episode: None for call in calls}, results)
        return results  # type: ignore[return-value]  # every call has ended

    def keep_answers(self, twins: Twins | None = None) -> None:
        """Ask DuckDB nothing twice from now on, in whichever episodes, and nothing at all that one of the `twins` of
        queries answers: worth its memory where alike calls are played in alike states again and again, as
        certification does. Results must not be changed then.
        """
        self._scheduler.answers = self._scheduler.answers or Answers(twins)

    def measure(self) -> Telemetry:
        """Begin to count what calls come to and take, anew."""
        from .telemetry import Telemetry

        telemetry = self._scheduler.telemetry = Telemetry(self._callable[None])
        return telemetry

    def measured(self) -> Telemetry | None:
        """What was counted so far, None when nothing is."""
        return self.telemetry

    def stop(self) -> None:
        """Called from another thread while a step runs: end it soon.

        Its calls that have not ended are faults, whose detail is `STOPPED`. A statement that runs is interrupted, one
        that begins just then is not: say it again until the step has ended.
        """
        self._scheduler.stopped = True
        for base in list(self._bases.values()):
            base.connection.interrupt()

    # -- queries -----------------------------------------------------------------------------------------------

    def evaluate(self, episode: Episode, query: Query, values: Sequence[Any], kind: Kind = "value") -> Any:
        """The answer of a query on the episode as it stands. Raises `Fault` for more rows than `kind` holds."""
        (answer,) = self.evaluate_all(query, [(episode, values)], kind)
        if isinstance(answer, Fault):
            raise answer
        return answer

    def evaluate_all(
        self, query: Query, asks: Sequence[tuple[Episode, Sequence[Any]]], kind: Kind = "value"
    ) -> list[Any]:
        """The answers of a query on episodes of one world, each with values of its own: one execution for all of them.

        Where there is no answer stands the `Fault` that says why.
        """
        seen = [(values, episode.overlay or {}) for episode, values in asks]
        try:
            found = self._scheduler.ask(asks[0][0].base, query, seen)
        except EngineError as error:
            if len(asks) == 1:
                return [Fault(str(error))]
            half = len(asks) // 2
            return self.evaluate_all(query, asks[:half], kind) + self.evaluate_all(query, asks[half:], kind)
        return [_answer(query, rows, kind) for rows in found]


def _answer(query: Query, rows: list[dict[str, Any]], kind: Kind) -> Any:
    if kind == "rows":
        return rows
    if len(rows) > 1:
        return Fault("more than one row")
    if not rows:
        return None
    return rows[0] if kind == "row" else rows[0][query.columns[0]]
