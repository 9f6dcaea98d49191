"""What an import found, as JSON and as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from forgec.diagnostics import counted


@dataclass(frozen=True)
class Failing:
    """A gold action that fails; `writes` if its tool can write, so that something may be lost."""

    task: str
    action: int
    tool: str
    text: str
    writes: bool


@dataclass(frozen=True)
class Idle:
    """A task whose gold leaves the state as it is; `told` if the user has to be told something at least."""

    task: str
    told: bool


@dataclass(frozen=True)
class Ordered:
    """Two gold actions of a task that may not be exchanged: numbers from 1, and tools."""

    task: str
    first: int
    then: int
    tools: tuple[str, str]


@dataclass(frozen=True)
class LeftOut:
    """A task that is not imported."""

    task: str
    why: str


@dataclass
class Report:
    """Tasks are called by their ids in tau2-bench."""

    domain: str
    tasks: int
    gold_actions: int = 0
    imported: list[str] = field(default_factory=list)
    failing: list[Failing] = field(default_factory=list)
    idle: list[Idle] = field(default_factory=list)
    ordered: list[Ordered] = field(default_factory=list)
    leaky: list[str] = field(default_factory=list)
    """Tasks in which tau2-bench writes what belongs to the last of several items to all of them."""
    judged_by_a_model: list[str] = field(default_factory=list)
    """Tasks with assertions in natural language, which are not taken over."""
    paid_for_nothing: list[str] = field(default_factory=list)
    """Imported tasks that pay an agent that does and says nothing."""
    left_out: list[LeftOut] = field(default_factory=list)

    def json(self) -> dict[str, Any]:
        """The report as JSON holds it."""
        return asdict(self)

    def text(self) -> str:
        """The report for people."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterable[str]:
        actions = counted(self.gold_actions, "gold action")
        yield f"{self.domain}: {counted(self.tasks, 'task')} with {actions}; {len(self.imported)} imported"
        if self.failing:
            tasks = dict.fromkeys(one.task for one in self.failing)
            count = f"{counted(len(self.failing), 'gold action')} in {counted(len(tasks), 'task')}"
            yield f"\n{count} fail, and are left out:"
            for one in self.failing:
                lost = ": a write is lost" if one.writes else ""
                yield f"  {one.task}, action {one.action}, {one.tool}: {one.text}{lost}"
        if self.idle:
            yield f"\nThe state is right in {counted(len(self.idle), 'task')} when nothing is done:"
            yield f"  {_names(one.task + (' (something has to be told)' if one.told else '') for one in self.idle)}"
        if self.paid_for_nothing:
            yield f"\nTasks that pay an agent that does and says nothing:\n  {_names(self.paid_for_nothing)}"
        if self.ordered:
            tasks = dict.fromkeys(one.task for one in self.ordered)
            yield f"\nThe order of gold actions matters in {counted(len(tasks), 'task')}:"
            for pair in self.ordered:
                yield f"  {pair.task}: {pair.tools[0]} ({pair.first}) before {pair.tools[1]} ({pair.then})"
        if self.leaky:
            yield "\nThe order of items matters in tau2-bench, which writes the price and options of the last to all:"
            yield f"  {_names(self.leaky)}"
        if self.judged_by_a_model:
            count = counted(len(self.judged_by_a_model), "task")
            yield f"\nAssertions in natural language are not taken over, of {count}:"
            yield f"  {_names(self.judged_by_a_model)}"
        if self.left_out:
            yield f"\n{counted(len(self.left_out), 'task')} not imported:"
            for left in self.left_out:
                yield f"  {left.task}: {left.why}"


def _names(names: Iterable[str] | Sequence[str]) -> str:
    return ", ".join(names)
