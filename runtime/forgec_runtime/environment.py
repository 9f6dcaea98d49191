"""Environments: many episodes, stepped together."""

from __future__ import annotations

import datetime
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from . import query as queries
from . import snapshots, starts
from .answers import Answers, Asked, Rows
from .call import Call
from .constraints import Constraints, Invariant, Sync
from .data.completing import denied
from .data.holding import hold
from .engine import EngineError
from .episode import Episode
from .errors import FAULT_TEXT, STOPPED, Ask, Fault, Fetch, Refusal
from .hashes import Hashes
from .limits import MAX_RESULT, too_long
from .query import Query
from .results import Result
from .reward import Reward, reward, rewards
from .schema import Index, Table
from .tasks import Kind, Task, TaskError
from .tool import Arguments, Side, Tool, decode_arguments, unknown_tool
from .world import Base, Stored, World

if TYPE_CHECKING:
    from .telemetry import Telemetry

StepCall = tuple[Episode, str, Arguments]
"""An episode, the name of a tool, and its arguments."""

_Later = dict[Episode, deque[Call] | None]
"""The episodes of a step, each with the calls that follow its running one; few have any."""


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
        self.executions = 0
        """How many times DuckDB was asked for anything."""
        self._tables = {table.name: table for table in self.tables}
        self._constraints = Constraints(self._tables, invariants, syncs)
        self._bases: dict[str, Base] = {}
        self._grown: set[Base] = set()
        self._stopped = False
        self._answers: Answers | None = None
        self.telemetry: Telemetry | None = None
        """Counts what calls come to and take, while there is one: see `measure`."""

    # -- episodes ----------------------------------------------------------------------------------------------

    def base(self, world: str) -> Base:
        """The rows of a world, loaded on first use. Raises `KeyError` for an unknown world, `LoadError`."""
        if world not in self._bases:
            base = self.worlds[world].load(self.name, self._tables, self.allowed)
            if self.worlds[world].outside:
                hold(base, self._constraints, self._at_once)
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
            hold(stored.open(self._tables), self._constraints, self._at_once)
        return stored

    def adopt(self, stored: Stored) -> None:
        """Read a world from where another process stored it."""
        self._bases[stored.origin.world] = stored.open(self._tables)

    def start_of(self, start: str) -> tuple[str, Task | None]:
        """The world, and the task, that an episode would begin in. Raises `KeyError` for an unknown name."""
        task = self.tasks.get(start)
        world = task.world if task is not None else start
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
        tools = self._callable[by]
        telemetry = self.telemetry
        decode: Callable[[Tool, Arguments], list[Any] | str] = decode_arguments
        begin: Callable[[int, Episode, Tool, Sequence[Any]], Call] = Call
        if telemetry is not None:
            decode, begin = telemetry.decode, telemetry.begin
        results: list[Result | None] = [None] * len(calls)
        later: _Later = {}
        ready: list[Call] = []
        for index, (episode, name, arguments) in enumerate(calls):
            tool = tools.get(name) if isinstance(name, str) else None
            if tool is None:
                results[index] = Result("invalid", unknown_tool(name, tools))
                continue
            decoded = decode(tool, arguments)
            if isinstance(decoded, str):
                results[index] = Result("invalid", decoded)
                continue
            call = begin(index, episode, tool, decoded)
            if episode not in later:
                later[episode] = None
                ready.append(call)
            elif (queue := later[episode]) is not None:
                queue.append(call)
            else:
                later[episode] = deque((call,))
        self._play(ready, later, results)
        if telemetry is not None:
            telemetry.stepped(calls, results)
        return results  # type: ignore[return-value]  # every call has ended

    def perform(self, episode: Episode, function: Callable[[Call], None]) -> Result:
        """Have a function write to an episode, as the body of a tool would: all that a call keeps is kept."""
        results: list[Result | None] = [None]
        self._play([Call(0, episode, Tool("", function), ())], {episode: None}, results)
        (result,) = results
        assert result is not None
        return result

    def keep_answers(self) -> None:
        """Ask DuckDB nothing twice from now on, in whichever episodes: worth its memory where alike calls are played in
        alike states again and again, as certification does. Results must not be changed then.
        """
        self._answers = self._answers or Answers()

    def measure(self) -> Telemetry:
        """Begin to count what calls come to and take, anew."""
        from .telemetry import Telemetry

        self.telemetry = Telemetry(self._callable[None])
        return self.telemetry

    def measured(self) -> Telemetry | None:
        """What was counted so far, None when nothing is."""
        return self.telemetry

    def stop(self) -> None:
        """Called from another thread while a step runs: end it soon.

        Its calls that have not ended are faults, whose detail is `STOPPED`. A statement that runs is interrupted, one
        that begins just then is not: say it again until the step has ended.
        """
        self._stopped = True
        for base in list(self._bases.values()):
            base.connection.interrupt()

    # -- the scheduler -----------------------------------------------------------------------------------------

    def _play(self, ready: list[Call], later: _Later, results: list[Result | None]) -> None:
        """Run calls, and those that follow them, to their ends."""
        try:
            while ready:
                ready = self._round(ready, later, results)
        finally:
            self._stopped = False
        while self._grown:
            self._grown.pop().trim()

    def _round(self, ready: list[Call], later: _Later, results: list[Result | None]) -> list[Call]:
        """Run each call until it ends or waits, then fetch what is waited for; gives the calls to run again."""
        fetches: dict[tuple[int, str, str | Index | None], list[tuple[Call, Fetch]]] = {}
        asks: dict[tuple[int, int], list[tuple[Call, Ask]]] = {}
        constraints = self._constraints
        for call in ready:  # grows: the next call of an episode follows as soon as one has ended
            try:
                if self._stopped:
                    raise Fault(STOPPED)
                result = call.run(constraints, self._at_once)
            # what is kept lets go of its traceback: that would lead back here, and keep the episode until a collection
            except Fetch as fetch:
                place = id(call.episode.base), fetch.table.name, fetch.column
                fetches.setdefault(place, []).append((call, fetch.with_traceback(None)))
                continue
            except Ask as ask:
                asks.setdefault((id(call.episode.base), id(ask.query)), []).append((call, ask.with_traceback(None)))
                continue
            except Refusal as refusal:
                text = str(refusal)
                result = Result("refused", text if len(text) <= MAX_RESULT else str(too_long()))
            except Fault as fault:
                result = Result("fault", FAULT_TEXT, detail=str(fault))
            except Exception as error:  # one tool's mistake must not take the other episodes of the step with it
                result = Result("fault", FAULT_TEXT, detail=repr(error))
            results[call.index] = result
            if queue := later[call.episode]:
                ready.append(queue.popleft())
        again: list[Call] = []
        for fetched in fetches.values():
            again.extend(self._fetched(fetched, later, results))
        for asked in asks.values():
            again.extend(self._answer(asked, later, results))
        return again

    def _fetch(self, waiting: list[tuple[Call, Fetch]]) -> None:
        began = perf_counter()
        self.executions += 1
        base, first = waiting[0][0].episode.base, waiting[0][1]
        values = [value for _, fetch in waiting for value in fetch.values]
        if first.column is None:
            base.fetch(first.table, values)
        else:
            base.fetch_where(first.table, first.column, values)
        self._grown.add(base)
        if self.telemetry is not None:
            self.telemetry.asked([call for call, _ in waiting], perf_counter() - began)

    def _at_once(self, call: Call, wanted: Fetch | Ask) -> list[dict[str, Any]]:
        """Fetch what one call wants. Raises `Fault`."""
        try:
            if isinstance(wanted, Fetch):
                self._fetch([(call, wanted)])
                return []
            return self._execute(call.episode.base, wanted.query, [(call, wanted)])[0]
        except EngineError as error:
            raise Fault(STOPPED if self._stopped else str(error)) from error

    def _fetched(self, waiting: list[tuple[Call, Fetch]], later: _Later, results: list[Result | None]) -> list[Call]:
        """Fetch the same kind of rows for all calls that wait for them; those that it fails for end here, alone."""
        try:
            self._fetch(waiting)
        except Exception as error:  # DuckDB also raises others than its own
            if len(waiting) > 1 and not self._stopped:
                return [call for one in waiting for call in self._fetched([one], later, results)]
            return self._failed([call for call, _ in waiting], error, later, results)
        return [call for call, _ in waiting]

    def _answer(self, waiting: list[tuple[Call, Ask]], later: _Later, results: list[Result | None]) -> list[Call]:
        """Answer one query for all calls that wait for it; those that it fails for end here, alone."""
        query = waiting[0][1].query
        try:
            answers = self._execute(waiting[0][0].episode.base, query, waiting)
        except Exception as error:  # as above
            if len(waiting) > 1 and not self._stopped:
                return [call for one in waiting for call in self._answer([one], later, results)]
            return self._failed([call for call, _ in waiting], error, later, results)
        for (call, _), answer in zip(waiting, answers, strict=True):
            call.answers.append(answer)
        return [call for call, _ in waiting]

    def _failed(self, calls: list[Call], error: Exception, later: _Later, results: list[Result | None]) -> list[Call]:
        """End calls that the engine failed; gives those that follow them."""
        following = []
        for call in calls:
            results[call.index] = Result(
                "fault", FAULT_TEXT, detail=STOPPED if self._stopped else str(error) or repr(error)
            )
            if queue := later[call.episode]:
                following.append(queue.popleft())
        return following

    def _execute(self, base: Base, query: Query, waiting: list[tuple[Call, Ask]]) -> list[list[dict[str, Any]]]:
        began = perf_counter()
        asks = [(ask.values, call.seen(query.tables)) for call, ask in waiting]
        found = self._ask(base, query, asks)
        if self.telemetry is not None:
            self.telemetry.asked([call for call, _ in waiting], perf_counter() - began)
        return found

    def _ask(self, base: Base, query: Query, asks: Sequence[Asked]) -> list[Rows]:
        return self._answers.of(base, query, asks, self._asked) if self._answers else self._asked(base, query, asks)

    def _asked(self, base: Base, query: Query, asks: Sequence[Asked]) -> list[Rows]:
        self.executions += 1
        return queries.execute(base.connection, query, self._tables, asks)

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
            found = self._ask(asks[0][0].base, query, seen)
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
