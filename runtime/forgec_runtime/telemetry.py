"""Where the time of calls goes: counters and seconds by tool and stage. Without one, nothing is counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from time import perf_counter
from typing import TYPE_CHECKING, Any

from .arguments import Arguments, decode_arguments
from .call import Call
from .results import Result
from .tool import Tool

if TYPE_CHECKING:
    from .call import AtOnce
    from .constraints import Constraints
    from .episode import Episode

STAGES = ("queue", "plan", "execute", "engine", "encode")
"""A call waits for its step; its arguments are decoded; its function runs, as often as it has to be; DuckDB answers
what it asks, together with others, among whom the time is shared out; its result becomes JSON."""

UNKNOWN = "(unknown)"
"""Stands for all tools that are called and do not exist."""
STARTS = "(starts)"
"""Stands for what begins the episodes of tasks."""


@dataclass
class Spent:
    """What the calls of one tool came to and took: calls by the kind of their results, seconds by stage."""

    calls: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))
    slowest: float = 0.0
    """The most seconds that one call took in this process, without its time in the queue."""


class Telemetry:
    """Counters of an environment that has these tools: `Environment.measure` begins to count."""

    def __init__(self, known: Iterable[str]) -> None:
        self.known = frozenset(known)
        self.tools: dict[str, Spent] = {}
        self.steps = 0
        self.queries = 0
        self.restarts = 0
        """How many workers had to be replaced."""

    def spent(self, tool: object) -> Spent:
        """The counters of a tool; those that agents make up share theirs."""
        name = tool if isinstance(tool, str) and tool in self.known else UNKNOWN if tool else STARTS
        found = self.tools.get(name)
        if found is None:
            found = self.tools[name] = Spent()
        return found

    def waited(self, tool: str, seconds: float) -> None:
        """A call waited for its step."""
        self.spent(tool).seconds["queue"] += seconds

    def decode(self, tool: Tool, given: Arguments) -> list[Any] | str:
        """What `decode_arguments` gives."""
        began = perf_counter()
        decoded = decode_arguments(tool, given)
        self.spent(tool.name).seconds["plan"] += perf_counter() - began
        return decoded

    def asked(self, calls: Sequence[Call], seconds: float) -> None:
        """DuckDB was asked for all of these."""
        self.queries += 1
        share = seconds / len(calls)
        for call in calls:
            self.spent(call.tool.name).seconds["engine"] += share
            if isinstance(call, MeasuredCall):
                call.took += share

    def begin(self, index: int, episode: Episode, tool: Tool, arguments: Sequence[Any]) -> Call:
        """A call that notes what it takes."""
        return MeasuredCall(self.spent(tool.name), index, episode, tool, arguments)

    def stepped(self, made: Sequence[tuple[Any, ...]], results: Sequence[Result | None]) -> None:
        """A step has ended, with these results."""
        self.steps += 1
        for (_, name, _), result in zip(made, results, strict=True):
            assert result is not None  # every call has ended
            calls = self.spent(name).calls
            calls[result.kind] = calls.get(result.kind, 0) + 1

    def add(self, other: Telemetry | Mapping[str, Any]) -> None:
        """Add what was counted elsewhere, such as in a worker, also as `as_dict` gives it."""
        data = other.as_dict() if isinstance(other, Telemetry) else other
        self.steps += data["steps"]
        self.queries += data["queries"]
        self.restarts += data["restarts"]
        for name, told in data["tools"].items():
            spent = self.spent(name)
            for kind, count in told["calls"].items():
                spent.calls[kind] = spent.calls.get(kind, 0) + count
            for stage, seconds in told["seconds"].items():
                spent.seconds[stage] += seconds
            spent.slowest = max(spent.slowest, told["slowest"])

    def as_dict(self) -> dict[str, Any]:
        """All of it, as JSON has it; tools by name."""
        tools = {
            name: {"calls": dict(sorted(one.calls.items())), "seconds": dict(one.seconds), "slowest": one.slowest}
            for name, one in sorted(self.tools.copy().items(), key=itemgetter(0))
        }
        return {"steps": self.steps, "queries": self.queries, "restarts": self.restarts, "tools": tools}

    def __str__(self) -> str:
        """A table: a line a tool, those that took longest first."""
        rows = sorted(self.tools.items(), key=lambda item: (-sum(item[1].seconds.values()), item[0]))
        width = max([len(name) for name in self.tools] + [len("microseconds a call")])
        lines = ["microseconds a call".ljust(width) + "   calls  not ok" + "".join(f"{name:>9}" for name in STAGES)]
        for name, one in rows:
            count = sum(one.calls.values())
            each = "".join(f"{one.seconds[stage] / max(count, 1) * 1e6:9.1f}" for stage in STAGES)
            lines.append(f"{name.ljust(width)}{count:8,}{count - one.calls.get('ok', 0):8,}{each}")
        calls = sum(sum(one.calls.values()) for one in self.tools.values())
        replaced = f", {self.restarts:,} workers replaced" if self.restarts else ""
        lines.append(f"{calls:,} calls in {self.steps:,} steps, {self.queries:,} times DuckDB was asked{replaced}")
        return "\n".join(lines)


class MeasuredCall(Call):
    """A call that notes what it takes."""

    __slots__ = ("_encoding", "_spent", "took")

    def __init__(self, spent: Spent, index: int, episode: Episode, tool: Tool, arguments: Sequence[Any]) -> None:
        super().__init__(index, episode, tool, arguments)
        self._spent = spent
        self._encoding = self.took = 0.0

    def run(self, constraints: Constraints, at_once: AtOnce) -> Result:
        began, encoded = perf_counter(), self._encoding
        try:
            return super().run(constraints, at_once)
        finally:
            took = perf_counter() - began
            self.took += took
            self._spent.seconds["execute"] += took - (self._encoding - encoded)
            self._spent.slowest = max(self._spent.slowest, self.took)

    def _told(self, value: Any) -> str:
        began = perf_counter()
        try:
            return super()._told(value)
        finally:
            took = perf_counter() - began
            self._encoding += took
            self._spent.seconds["encode"] += took
