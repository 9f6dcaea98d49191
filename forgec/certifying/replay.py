"""Plans, played many at a time.

The calls of all runs that have come to a call are one step of the environment, and their equal queries one execution:
what it costs depends on how long plans are, hardly on how many are played.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from forgec.certifying.graph import Graph
from forgec.certifying.shapes import shaped
from forgec_runtime import Environment, Episode, Fault, Query, Result, Step, Task, TaskError
from forgec_runtime.base import Base
from forgec_runtime.plan import GoldCall, GoldRun
from forgec_runtime.results import json_able
from forgec_runtime.says import Unsayable, spoken
from forgec_runtime.tasks import Computed, Expression, Kind, Node, Ref


class Act(NamedTuple):
    """A run wants to make a call."""

    tool: str
    arguments: dict[str, Any]


class Ask(NamedTuple):
    """A run wants to know what a query gives."""

    asked: Computed
    inputs: list[Any]


Moves = Generator[Act | Ask, Any, None]
_Waiting = tuple["Run", Moves, Act | Ask]


class Run:
    """One plan, played from some node on; `values` are what is known then.

    A strict run ends at the first thing that fails, which is its `error`. One that is not goes on as an agent would:
    nodes that read what is not there are `lost`, too.
    """

    def __init__(
        self,
        episode: Episode,
        task: Task,
        graph: Graph,
        values: Mapping[str, Any],
        nodes: Sequence[Node],
        *,
        strict: bool = False,
        lost: Iterable[str] = (),
    ) -> None:
        self.episode = episode
        self.task = task
        self.graph = graph
        self.values = dict(values)
        self.nodes = nodes
        self.strict = strict
        self.lost = set(lost)
        self.error = ""
        self.failures = 0
        """How many calls were refused."""
        self.calls: list[GoldCall] = []
        self.before: dict[str, Episode] = {}
        """Of a strict run, the episode as it was before each call."""
        self.sayings: tuple[Any, ...] = ()
        self.answers: tuple[str, ...] = ()

    @property
    def sound(self) -> bool:
        return not self.error

    def stages(self) -> Iterator[tuple[GoldCall, Episode, Episode]]:
        """Of a strict run, each call with the episode before and after it."""
        later = [*(self.before[call.node] for call in self.calls[1:]), self.episode]
        for call, after in zip(self.calls, later, strict=True):
            yield call, self.before[call.node], after

    def writes(self) -> list[str]:
        """The calls of a strict run that changed anything, scored or not."""
        return [call.node for call, before, after in self.stages() if has_written(before, after)]

    @property
    def gold(self) -> GoldRun:
        """The run as the reward wants it."""
        return GoldRun(self.task, self.episode, self.values, tuple(self.calls), self.sayings, self.answers)


def has_written(before: Episode, after: Episode) -> bool:
    """Whether any row is another one than before, scored or not."""
    return (before.overlay or {}) != (after.overlay or {}) and before.changes() != after.changes()


class _Stop(Exception):
    """A strict run has failed, by its text."""


def play(env: Environment, runs: Iterable[Run]) -> None:
    """Play runs to their ends. What is to be said then is in their `answers`.

    Calls are made first, as far as all runs come with calls alone; then what all of them ask is answered.
    """
    waiting = _moved((run, _moves(run), None) for run in runs)
    while waiting:
        acting = [one for one in waiting if isinstance(one[2], Act)]
        asking = [one for one in waiting if isinstance(one[2], Ask)]
        if acting:
            calls = [(run.episode, *move) for run, _, move in acting if isinstance(move, Act)]
            answers: list[Any] = list(env.step(calls, by=None))
        else:
            acting, asking, answers = asking, [], _answers(env, asking)
        waiting = asking + _moved((run, moves, answer) for (run, moves, _), answer in zip(acting, answers, strict=True))


def _moved(answered: Iterable[tuple[Run, Moves, Any]]) -> list[_Waiting]:
    """The runs that want something more, each told what it wanted before."""
    found = ((run, moves, _next(moves, answer)) for run, moves, answer in answered)
    return [(run, moves, move) for run, moves, move in found if move is not None]


def _next(moves: Moves, answer: Any) -> Act | Ask | None:
    try:
        return moves.throw(answer) if isinstance(answer, Exception) else moves.send(answer)
    except StopIteration:
        return None


def _answers(env: Environment, waiting: Sequence[_Waiting]) -> list[Any]:
    """What is asked: queries of one shape are one query, whichever task they are of, and in whichever world where they
    read no table.
    """
    groups: dict[tuple[Query, Kind, Base | None], list[tuple[int, list[Any]]]] = {}
    for i, (run, _, move) in enumerate(waiting):
        asked, inputs = _asked(move)
        query, constants = shaped(asked.query)
        base = run.episode.base if query.tables else None
        groups.setdefault((query, asked.kind, base), []).append((i, [*inputs, *constants]))
    answers: list[Any] = [None] * len(waiting)
    for (query, kind, _), asking in groups.items():
        found = env.evaluate_all(query, [(waiting[i][0].episode, values) for i, values in asking], kind)
        for (i, _), answer in zip(asking, found, strict=True):
            answers[i] = answer
    return answers


def _asked(move: Act | Ask) -> Ask:
    assert isinstance(move, Ask)
    return move


def _moves(run: Run) -> Moves:
    try:
        for node in run.nodes:
            yield from _node(run, node)
        yield from _sayings(run)
    except _Stop as stop:
        run.error = str(stop)


def _node(run: Run, node: Node) -> Moves:
    name = node.name
    if name in run.lost or not run.lost.isdisjoint(run.graph.reads[name]):
        run.lost.add(name)
        return
    try:
        if node.when is not None and (yield from _value(run, node.when)) is not True:
            run.values[name] = None
        elif isinstance(node, Step):
            yield from _call(run, node)
        else:
            run.values[name] = yield from _value(run, node.value)
    except (TaskError, Fault) as error:
        if run.strict:
            raise _Stop(f"{name} cannot be computed: {_line(error)}") from error
        run.lost.add(name)


def _call(run: Run, step: Step) -> Moves:
    arguments = {}
    for name, argument in step.arguments.items():
        arguments[name] = json_able((yield from _value(run, argument)))
    if run.strict:
        run.before[step.name] = run.episode.fork()
    result: Result = yield Act(step.tool, arguments)
    if result.ok:
        run.values[step.name] = result.value
        run.calls.append(GoldCall(step.name, step.tool, arguments, result))
        return
    if run.strict:
        detail = f" ({result.detail})" if result.detail else ""
        raise _Stop(f"{step.name} = {shown_call(step.tool, arguments)} failed: {result.text}{detail}")
    run.failures += 1
    run.lost.add(step.name)


def shown_call(tool: str, arguments: Mapping[str, Any]) -> str:
    """A call as people read it."""
    given = ", ".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items())
    return f"{tool}({given})"


def _value(run: Run, expression: Expression) -> Generator[Act | Ask, Any, Any]:
    if isinstance(expression, Ref):
        return expression.read(run.values)
    if isinstance(expression, Computed):
        return (yield Ask(expression, [ref.read(run.values) for ref in expression.inputs]))
    return expression.value


def _sayings(run: Run) -> Moves:
    found, answers = [], []
    for saying in run.task.says:
        value = None
        try:
            value = yield from _value(run, saying.value)
            if value is not None:
                answers.append(spoken(value))
        except (TaskError, Fault, KeyError, Unsayable) as error:  # a key that is lost, where the run is not strict
            if run.strict:
                raise _Stop(f"says {saying.doc!r}: {_line(error)}") from error
        found.append(value)
    run.sayings, run.answers = tuple(found), tuple(answers)


def _line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0]
