"""How episodes of a task begin: what is drawn by the seed, what the user knows, and what is changed beforehand.

The same task and seed begin alike, in every process: samples are drawn from rows in their order, by a hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from .briefing import Asked, Briefing, Known
from .episode import Episode
from .errors import Fault, Refusal
from .schema import Key, Table
from .sql import formatted, text
from .sql.columns import misfit
from .tasks import Change, Computed, Expression, Hole, Literal, Message, Ref, Sample, Task, TaskError

if TYPE_CHECKING:
    from .call import Call
    from .environment import Environment
    from .episode import Overlay

MAX_KEPT = 4096
"""How many starts an environment keeps."""
MAX_POOL = 10_000
"""From how many rows a sample is drawn without asking for them again."""


@dataclass(frozen=True, eq=False)
class Start:
    """What an episode of a task begins with: values of samples and facts, and the rows that were changed."""

    values: Mapping[str, Any]
    briefing: Briefing
    overlay: Overlay | None = None
    counters: Mapping[str, int] | None = None


@dataclass
class _Starts:
    """What one environment knows about starts."""

    kept: dict[tuple[Task, int], Start] = field(default_factory=dict)
    pools: dict[Sample, list[dict[str, Any]]] = field(default_factory=dict)


_known: WeakKeyDictionary[Environment, _Starts] = WeakKeyDictionary()


def start(env: Environment, task: Task, seed: int) -> Start:
    """How the episodes of a task and a seed begin; made once and kept. Raises `TaskError`, `LoadError`."""
    known = _known.setdefault(env, _Starts())
    place = (task, seed if task.sampled else 0)
    found = known.kept.get(place)
    if found is None:
        found = _made(env, known, *place)
        if len(known.kept) >= MAX_KEPT:
            del known.kept[next(iter(known.kept))]
        known.kept[place] = found
    return found


def evaluate(env: Environment, episode: Episode, expression: Expression, values: Mapping[str, Any]) -> Any:
    """An expression's value, in the episode's present state and with the facts and results in `values`."""
    if isinstance(expression, Ref):
        return expression.read(values)
    if isinstance(expression, Computed):
        inputs = [ref.read(values) for ref in expression.inputs]
        return env.evaluate(episode, expression.query, inputs, expression.kind)
    return expression.value


def _made(env: Environment, known: _Starts, task: Task, seed: int) -> Start:
    episode = None if is_plain(task) else Episode(task.world, env.base(task.world))
    values: dict[str, Any] = {}
    for sample in task.samples:
        assert episode is not None
        values[sample.name] = _drawn(env, known, episode, task, seed, sample, values)
    for fact in task.facts:
        values[fact.name] = _value(env, episode, f"{task.name}: the fact {fact.name}", fact.value, values)

    def told(message: Message) -> str:
        return _told(env, episode, task, message, values)

    briefing = Briefing(
        told(task.intent),
        tuple(Asked(one.name, told(one.text), one.after) for one in task.requests),
        tuple(Known(fact.name, values[fact.name], told(fact.doc)) for fact in task.facts),
    )
    if not task.change:
        return Start(values, briefing)
    assert episode is not None
    result = env.perform(episode, _changer(env, task.change, values))
    if not result.ok:
        detail = f" ({result.detail})" if result.detail else ""
        raise TaskError(f"{task.name}: the change of its world fails: {result.text}{detail}")
    return Start(values, briefing, episode.overlay, episode.counters)


def is_plain(task: Task) -> bool:
    """Whether its episodes begin as those of its world do, with constants for the user: nothing can fail."""
    messages = [task.intent, *(one.text for one in task.requests), *(fact.doc for fact in task.facts)]
    computed = [fact for fact in task.facts if isinstance(fact.value, Ref | Computed)]
    return not (task.prepared or computed) and all(isinstance(one, str) for one in messages)


def _drawn(
    env: Environment, known: _Starts, episode: Episode, task: Task, seed: int, sample: Sample, values: Mapping[str, Any]
) -> Any:
    """The row that the seed draws, or the value of its only column."""
    rows = known.pools.get(sample)
    if rows is None:
        rows = _value(env, episode, f"{task.name}: the sample {sample.name}", sample.rows, values)
        if not sample.rows.inputs and len(rows) <= MAX_POOL:
            known.pools[sample] = rows
    if not rows:
        raise TaskError(f"{task.name}: with the seed {seed} there is no row to draw for the sample {sample.name}")
    row = rows[drawn(seed, task.name, sample.name, len(rows))]
    columns = sample.rows.query.columns
    return row[columns[0]] if len(columns) == 1 else row


def drawn(seed: int, task: str, sample: str, count: int) -> int:
    """Which of `count` rows a seed draws: any of them, as it seems, and always the same."""
    digest = hashlib.sha256(f"{seed}/{task}/{sample}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % count


def _value(env: Environment, episode: Episode | None, where: str, given: Any, values: Mapping[str, Any]) -> Any:
    if not isinstance(given, Ref | Computed | Literal):
        return given
    try:
        if isinstance(given, Computed):
            assert episode is not None
            return evaluate(env, episode, given, values)
        return given.read(values) if isinstance(given, Ref) else given.value
    except Fault as error:
        raise TaskError(f"{where} cannot be computed: {error}") from error


def _told(env: Environment, episode: Episode | None, task: Task, message: Message, values: Mapping[str, Any]) -> str:
    if isinstance(message, str):
        return message

    def shown(hole: Hole) -> str:
        value = _value(env, episode, f"{task.name}: a text", hole.value, values)
        return formatted(value, hole.format) if hole.format else text(value)

    return "".join(part if isinstance(part, str) else shown(part) for part in message.parts)


def _changer(env: Environment, changes: tuple[Change, ...], values: Mapping[str, Any]) -> Callable[[Call], None]:
    tables = {table.name: table for table in env.tables}

    def change(call: Call) -> None:
        for one in changes:
            inputs = [ref.read(values) for ref in one.rows.inputs]
            for row in call.rows(one.rows.query, *inputs):
                _write(call, one, tables[one.table], row)

    return change


def _write(call: Call, change: Change, table: Table[Any], row: Mapping[str, Any]) -> None:
    if change.kind == "insert":
        call.insert(table, _held(table, row))
        return
    key: Key = table.key_of(row) if table.key else ()
    found = call.find(table, key)
    assert found is not None
    if change.kind == "delete":
        call.delete(table, found)
    else:
        call.update(table, found, _held(table, {name: row[name] for name in row if name not in table.key}))


def _held(table: Table[Any], row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Values as the columns hold them. Raises `Refusal`."""
    optional = {column.name: column.optional for column in table.columns}
    for name, value in row.items():
        if value is None and not optional[name]:
            raise Refusal(f"{table.title}.{name} must not be null")
        problem = None if value is None else misfit(table.types[name], value)
        if problem:
            raise Refusal(f"{table.title}.{name}{problem}")
    return row
