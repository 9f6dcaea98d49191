"""A session: where it stands, how it came there, and the way back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from forgec.playing import gold
from forgec.playing.changes import Change, broken_since, changes
from forgec.playing.line import Mistake
from forgec_runtime import Environment, Episode, Result, Task, TaskError
from forgec_runtime.tool import Side


@dataclass(frozen=True)
class Moment:
    """Where the session stands after a line. `lasting` ones left something behind; only those are undone one by one.

    `error` is what the agent read when the call failed.
    """

    line: str
    episode: Episode
    gold: gold.Progress = field(default_factory=gold.Progress)
    lasting: bool = True
    error: str = ""


@dataclass(frozen=True)
class Called:
    """What a call came to: its result, the rows it changed, the audited rules it broke.

    `told` is the value of the result as an agent reads it.
    """

    result: Result
    changes: list[Change]
    broken: list[str]
    told: Any


class Session:
    """Episodes of one environment, one after another. An episode is never changed once it is a moment's."""

    def __init__(self, environment: Environment, world: str) -> None:
        self.environment = environment
        self.width = 100
        """The columns that lines may take."""
        self._past = [Moment(f".world {world}", self._fresh(world, None))]
        self._future: list[Moment] = []

    @property
    def now(self) -> Moment:
        return self._past[-1]

    @property
    def episode(self) -> Episode:
        return self.now.episode

    @property
    def task(self) -> Task | None:
        return self.episode.task

    @property
    def history(self) -> tuple[Moment, ...]:
        """All moments that were not undone, the first one being the start."""
        return tuple(self._past)

    def _fresh(self, world: str, task: Task | None, seed: int = 0) -> Episode:
        try:
            return self.environment.reset(task or world, seed)
        except TaskError as error:
            raise Mistake(str(error)) from error

    def start(self, line: str, world: str, task: Task | None = None, seed: int = 0) -> None:
        """Begin anew in a world, or with a task in its world. Raises `LoadError`."""
        episode = self._fresh(world, task, seed)
        progress = gold.start(self.environment, episode, task) if task is not None else gold.Progress()
        self._add(Moment(line, episode, progress))

    def begin_here(self) -> None:
        """Forget how it came here: there is nothing to undo."""
        del self._past[:-1]

    def call(self, line: str, tool: str, arguments: Mapping[str, Any], by: Side = "agent") -> Called:
        """Call a tool."""
        after = self.episode.fork()
        (result,) = self.environment.step([(after, tool, arguments)], by)
        changed, broken = changes(self.episode, after), broken_since(self.episode, after)
        lasting = bool(changed or broken) or after.counters != self.episode.counters
        error = "" if result.ok else result.text
        self._add(Moment(line, after if lasting else self.episode, self.now.gold, lasting, error))
        return Called(result, changed, broken, self._told(tool, result))

    def _told(self, tool: str, result: Result) -> Any:
        tools = {**self.environment.tools, **self.environment.user_tools}
        return tools[tool].told(result.value) if result.ok else None

    def say(self, line: str, text: str) -> None:
        """Tell the user something."""
        after = self.episode.fork()
        after.messages.append(text)
        self._add(Moment(line, after, self.now.gold))

    def gold(self, line: str, task: Task) -> tuple[gold.GoldStep, Called | None]:
        """Play the next step of the task's plan, with what its call came to."""
        before, after = self.episode, self.episode.fork()
        step = gold.next_step(self.environment, after, task, self.now.gold)
        called = None
        if step.call is not None:
            told = self._told(step.call.tool, step.call.result)
            called = Called(step.call.result, changes(before, after), broken_since(before, after), told)
        if step.problem:
            self._add(Moment(line, before, self.now.gold, False, step.problem))
        else:
            self._add(Moment(line, after, step.progress))
        return step, called

    def undo(self, count: int) -> list[Moment]:
        """Take back the last `count` moments that left something behind, and what came after them."""
        lasting = [place for place, moment in enumerate(self._past) if place and moment.lasting][-count:]
        if not lasting:
            return []
        undone = self._past[lasting[0] :]
        del self._past[lasting[0] :]
        self._future = undone + self._future
        return undone

    def redo(self, count: int) -> list[Moment]:
        """Bring back the next `count` moments that left something behind, and what came after them."""
        lasting = [place for place, moment in enumerate(self._future) if moment.lasting]
        end = lasting[count] if count < len(lasting) else len(self._future)
        redone = self._future[:end]
        del self._future[:end]
        self._past.extend(redone)
        return redone

    def fresh(self) -> Episode:
        """An episode as this one was at its start."""
        return self._fresh(self.episode.world, self.task, self.episode.seed)

    def _add(self, moment: Moment) -> None:
        self._past.append(moment)
        if moment.lasting:
            self._future = []
