"""The scheduler of steps: many calls run together, and whatever they wait for is fetched for all of them at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from . import garbage
from . import query as queries
from .answers import Answers, Asked, Rows
from .arguments import Arguments, decode_arguments, unknown_tool
from .base import Base
from .call import Call
from .constraints import Constraints
from .engine import EngineError
from .episode import Episode
from .errors import FAULT_TEXT, STOPPED, Ask, Fault, Fetch, Refusal
from .limits import MAX_RESULT, too_long
from .query import Query
from .results import Result
from .schema import Index, Table
from .tool import Tool

if TYPE_CHECKING:
    from .telemetry import Telemetry

StepCall = tuple[Episode, str, Arguments]
"""An episode, the name of a tool, and its arguments."""

_Later = dict[Episode, deque[Call] | None]
"""The episodes of a step, each with the calls that follow its running one; few have any."""


class Scheduler:
    """Runs the calls of an environment."""

    def __init__(self, tables: Mapping[str, Table[Any]], constraints: Constraints) -> None:
        self.executions = 0
        """How many times DuckDB was asked for anything."""
        self.stopped = False
        """Set from another thread: the step that runs ends soon."""
        self.telemetry: Telemetry | None = None
        self.answers: Answers | None = None
        """What DuckDB has answered, where that is kept."""
        self._tables = tables
        self._constraints = constraints
        self._grown: set[Base] = set()

    def step(self, calls: Sequence[StepCall], tools: Mapping[str, Tool]) -> list[Result]:
        """Run calls of these tools; see `Environment.step`."""
        results: list[Result | None] = [None] * len(calls)
        paused = garbage.pause(len(calls))
        try:
            ready, later = self._decoded(calls, tools, results)
            self.play(ready, later, results)
        finally:
            if paused:
                garbage.resume()
        if self.telemetry is not None:
            self.telemetry.stepped(calls, results)
        return results  # type: ignore[return-value]  # every call has ended

    def _decoded(
        self, calls: Sequence[StepCall], tools: Mapping[str, Tool], results: list[Result | None]
    ) -> tuple[list[Call], _Later]:
        """The first calls of all episodes, and those that follow them; what is no call has its result."""
        telemetry = self.telemetry
        later: _Later = {}
        ready: dict[str, list[Call]] = {}
        for index, (episode, name, arguments) in enumerate(calls):
            tool = tools.get(name) if isinstance(name, str) else None
            if tool is None:
                results[index] = Result("invalid", unknown_tool(name, tools))
                continue
            decoded = decode_arguments(tool, arguments) if telemetry is None else telemetry.decode(tool, arguments)
            if isinstance(decoded, str):
                results[index] = Result("invalid", decoded)
                continue
            if telemetry is None:
                call = Call(index, episode, tool, decoded)
            else:
                call = telemetry.begin(index, episode, tool, decoded)
            if episode not in later:
                later[episode] = None
                ready.setdefault(name, []).append(call)
            elif (queue := later[episode]) is not None:
                queue.append(call)
            else:
                later[episode] = deque((call,))
        # tool by tool: what a call has just used is still at hand for the next
        return [call for same in ready.values() for call in same], later

    def play(self, ready: list[Call], later: _Later, results: list[Result | None]) -> None:
        """Run calls, and those that follow them, to their ends."""
        try:
            while ready:
                ready = self._round(ready, later, results)
        finally:
            self.stopped = False
        while self._grown:
            self._grown.pop().trim()

    def _round(self, ready: list[Call], later: _Later, results: list[Result | None]) -> list[Call]:
        """Run each call until it ends or waits, then fetch what is waited for; gives the calls to run again."""
        fetches: dict[tuple[int, str, str | Index | None], list[tuple[Call, Fetch]]] = {}
        asks: dict[tuple[int, int], list[tuple[Call, Ask]]] = {}
        constraints = self._constraints
        for call in ready:  # grows: the next call of an episode follows as soon as one has ended
            try:
                if self.stopped:
                    raise Fault(STOPPED)
                result = call.run(constraints, self.at_once)
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

    def at_once(self, call: Call, wanted: Fetch | Ask) -> list[dict[str, Any]] | None:
        """Fetch what one call wants, if it costs nothing, or the call has begun again too often; None where it has to
        wait for others. Raises `Fault`.
        """
        if call.patient:
            if self.answers is None or isinstance(wanted, Fetch):
                return None
            return self.answers.known(call.base, wanted.query, (wanted.values, call.seen(wanted.query.tables)))
        try:
            if isinstance(wanted, Fetch):
                self._fetch([(call, wanted)])
                return []
            return self._execute(call.episode.base, wanted.query, [(call, wanted)])[0]
        except EngineError as error:
            raise Fault(STOPPED if self.stopped else str(error)) from error

    def _fetched(self, waiting: list[tuple[Call, Fetch]], later: _Later, results: list[Result | None]) -> list[Call]:
        """Fetch the same kind of rows for all calls that wait for them; those that it fails for end here, alone."""
        try:
            self._fetch(waiting)
        except Exception as error:  # DuckDB also raises others than its own
            if len(waiting) > 1 and not self.stopped:
                return [call for one in waiting for call in self._fetched([one], later, results)]
            return self._failed([call for call, _ in waiting], error, later, results)
        return [call for call, _ in waiting]

    def _answer(self, waiting: list[tuple[Call, Ask]], later: _Later, results: list[Result | None]) -> list[Call]:
        """Answer one query for all calls that wait for it; those that it fails for end here, alone."""
        query = waiting[0][1].query
        try:
            answers = self._execute(waiting[0][0].episode.base, query, waiting)
        except Exception as error:  # as above
            if len(waiting) > 1 and not self.stopped:
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
                "fault", FAULT_TEXT, detail=STOPPED if self.stopped else str(error) or repr(error)
            )
            if queue := later[call.episode]:
                following.append(queue.popleft())
        return following

    def _execute(self, base: Base, query: Query, waiting: list[tuple[Call, Ask]]) -> list[list[dict[str, Any]]]:
        began = perf_counter()
        asks = [(ask.values, call.seen(query.tables)) for call, ask in waiting]
        found = self.ask(base, query, asks)
        if self.telemetry is not None:
            self.telemetry.asked([call for call, _ in waiting], perf_counter() - began)
        return found

    def ask(self, base: Base, query: Query, asks: Sequence[Asked]) -> list[Rows]:
        """What a query answers to many. Raises `EngineError`."""
        return self.answers.of(base, query, asks, self._asked) if self.answers else self._asked(base, query, asks)

    def _asked(self, base: Base, query: Query, asks: Sequence[Asked]) -> list[Rows]:
        self.executions += 1
        return queries.execute(base.connection, query, self._tables, asks)
