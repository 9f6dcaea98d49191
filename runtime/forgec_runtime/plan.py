"""Gold: a task's plan, played. What it did to the world is what any other way of doing the task has to match."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from . import starts
from .results import json_able
from .says import Unsayable, spoken
from .starts import evaluate
from .tasks import Expression, Step, Task, TaskError

if TYPE_CHECKING:
    from .environment import Environment
    from .episode import Episode
    from .results import Result

MAX_KEPT = 4096
"""How many gold runs an environment keeps; one is a few kilobytes."""


class GoldError(Exception):
    """A plan that cannot be played to its end: the task is wrong, not the agent."""


class GoldCall(NamedTuple):
    """One call of the plan; `arguments` are as an agent would write them in JSON."""

    node: str
    tool: str
    arguments: dict[str, Any]
    result: Result


@dataclass(frozen=True, eq=False)
class GoldRun:
    """A plan that was played: its episode, the value of each fact and node, and what a perfect agent would say."""

    task: Task
    episode: Episode
    values: Mapping[str, Any]
    calls: tuple[GoldCall, ...]
    sayings: tuple[Any, ...]
    answers: tuple[str, ...]


_kept: WeakKeyDictionary[Environment, dict[tuple[Task, int, int], GoldRun]] = WeakKeyDictionary()


def gold_run(env: Environment, task: Task, seed: int = 0, plan: int = 0) -> GoldRun:
    """The run of a task's plan, the gold one as a rule, played once and kept. Not to be changed.

    Raises `GoldError`, `TaskError`.
    """
    runs = _kept.setdefault(env, {})
    place = (task, seed if task.sampled else 0, plan)
    run = runs.get(place)
    if run is None:
        run = play_gold(env, task, seed=seed, plan=plan)
        if len(runs) >= MAX_KEPT:
            del runs[next(iter(runs))]
        runs[place] = run
    return run


def play_gold(
    env: Environment, task: Task, order: Sequence[str] | None = None, *, seed: int = 0, plan: int = 0
) -> GoldRun:
    """Play a plan in a fresh episode; `order` names its nodes in another legal order.

    Raises `GoldError`, `TaskError`.
    """
    return follow(env, env.reset(task, seed), task, order, plan=plan)


def known_at_start(env: Environment, episode: Episode, task: Task) -> dict[str, Any]:
    """The values of samples and facts. Raises `ValueError` for an episode that did not begin with the task."""
    if episode.task is task and episode.start is not None:
        return dict(episode.start.values)
    if task.prepared:
        raise ValueError(f"the episode did not begin with the task {task.name}")
    return dict(starts.start(env, task, 0).values)


def follow(
    env: Environment, episode: Episode, task: Task, order: Sequence[str] | None = None, *, plan: int = 0
) -> GoldRun:
    """Play a plan in the given `episode`. Raises `GoldError` at the first node that fails."""
    values = known_at_start(env, episode, task)
    calls: list[GoldCall] = []
    chosen = task.plans[plan]
    for node in chosen.order() if order is None else chosen.in_order(order):
        if node.when is not None and _evaluate(env, episode, task, f"{node.name} when", node.when, values) is not True:
            values[node.name] = None
        elif isinstance(node, Step):
            call = _call(env, episode, task, node, values)
            calls.append(call)
            values[node.name] = call.result.value
        else:
            values[node.name] = _evaluate(env, episode, task, node.name, node.value, values)
    sayings = tuple(_evaluate(env, episode, task, f"says {s.doc!r}", s.value, values) for s in task.says)
    pairs = zip(task.says, sayings, strict=True)
    answers = tuple(_answer(task, saying.doc, value) for saying, value in pairs if value is not None)
    return GoldRun(task, episode, values, tuple(calls), sayings, answers)


def _call(env: Environment, episode: Episode, task: Task, step: Step, values: Mapping[str, Any]) -> GoldCall:
    arguments = {
        name: json_able(_evaluate(env, episode, task, f"{step.name}, argument {name}", argument, values))
        for name, argument in step.arguments.items()
    }
    (result,) = env.step([(episode, step.tool, arguments)], by=None)
    if not result.ok:
        written = json.dumps(arguments, ensure_ascii=False)
        detail = f" ({result.detail})" if result.detail else ""
        raise GoldError(f"{task.name}: {step.name} = {step.tool}({written}) failed: {result.text}{detail}")
    return GoldCall(step.name, step.tool, arguments, result)


def _evaluate(
    env: Environment, episode: Episode, task: Task, where: str, expression: Expression, values: Mapping[str, Any]
) -> Any:
    try:
        return evaluate(env, episode, expression, values)
    except TaskError as error:
        raise GoldError(f"{task.name}: {where}: {error}") from error
    except Exception as error:  # whatever the query ran into, the author needs to know where
        raise GoldError(f"{task.name}: {where} cannot be computed: {error}") from error


def _answer(task: Task, doc: str, value: Any) -> str:
    try:
        return spoken(value)
    except Unsayable as error:
        raise GoldError(f"{task.name}: says {doc!r}: {error}") from error
