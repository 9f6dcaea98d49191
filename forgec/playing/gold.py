"""The gold plan of a task, a step at a time: some reasoning and the call that needs it; at the end, what is said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from forgec_runtime import Environment, Episode, Reason, Result, Step, Task
from forgec_runtime.plan import known_at_start
from forgec_runtime.results import json_able
from forgec_runtime.says import spoken
from forgec_runtime.starts import evaluate
from forgec_runtime.tasks import Expression, Node


@dataclass(frozen=True)
class Progress:
    """How far a plan was played: the number of its nodes, and the values of facts and nodes."""

    nodes: int = 0
    values: Mapping[str, Any] = field(default_factory=dict)
    ended: bool = False


class GoldCall(NamedTuple):
    """A call of the plan and its result."""

    node: str
    tool: str
    arguments: dict[str, Any]
    result: Result


@dataclass(frozen=True)
class GoldStep:
    """One step. `problem` is why the plan could not go on: nothing was changed and no progress made then."""

    progress: Progress
    reasons: tuple[tuple[Reason, Any], ...] = ()
    call: GoldCall | None = None
    sayings: tuple[str, ...] = ()
    problem: str = ""


class _Failed(Exception):
    """A value of the plan that cannot be computed in the present state."""


def start(env: Environment, episode: Episode, task: Task) -> Progress:
    """Nothing played, the facts known."""
    return Progress(0, known_at_start(env, episode, task))


def next_step(env: Environment, episode: Episode, task: Task, progress: Progress) -> GoldStep:
    """Play on in `episode`, up to the next call, or to the end and what is to be said there."""
    values = dict(progress.values)
    reasons: list[tuple[Reason, Any]] = []
    try:
        for number, node in enumerate(task.plan.order()[progress.nodes :], progress.nodes + 1):
            if not _applies(env, episode, node, values):
                values[node.name] = None
                continue
            if isinstance(node, Step):
                call = _call(env, episode, node, values)
                values[node.name] = call.result.value
                if not call.result.ok:
                    return GoldStep(progress, tuple(reasons), call, problem=f"{node.name} failed")
                return GoldStep(Progress(number, values), tuple(reasons), call)
            values[node.name] = _value(env, episode, node.name, node.value, values)
            reasons.append((node, values[node.name]))
        told = [_spoken(env, episode, saying.doc, saying.value, values) for saying in task.says]
        sayings = tuple(text for text in told if text is not None)
    except _Failed as failed:
        return GoldStep(progress, tuple(reasons), problem=str(failed))
    episode.messages.extend(sayings)
    return GoldStep(Progress(len(task.plan.nodes), values, ended=True), tuple(reasons), sayings=sayings)


def is_over(task: Task, progress: Progress) -> bool:
    """Whether nothing is left: no node, and nothing to say."""
    return progress.ended or (progress.nodes == len(task.plan.nodes) and not task.says)


def _applies(env: Environment, episode: Episode, node: Node, values: Mapping[str, Any]) -> bool:
    """Whether a node is not skipped."""
    return node.when is None or _value(env, episode, f"{node.name} when", node.when, values) is True


def _call(env: Environment, episode: Episode, step: Step, values: Mapping[str, Any]) -> GoldCall:
    arguments = {
        name: json_able(_value(env, episode, f"{step.name}, argument {name}", argument, values))
        for name, argument in step.arguments.items()
    }
    (result,) = env.step([(episode, step.tool, arguments)], by=None)
    return GoldCall(step.name, step.tool, arguments, result)


def _value(env: Environment, episode: Episode, where: str, expression: Expression, values: Mapping[str, Any]) -> Any:
    try:
        return evaluate(env, episode, expression, values)
    except Exception as error:  # a state that the plan did not foresee: whatever the query ran into is the answer
        raise _Failed(f"{where} cannot be computed: {error}") from error


def _spoken(
    env: Environment, episode: Episode, doc: str, expression: Expression, values: Mapping[str, Any]
) -> str | None:
    value = _value(env, episode, f"says {doc!r}", expression, values)
    try:
        return None if value is None else spoken(value)
    except ValueError as error:
        raise _Failed(f"says {doc!r}: {error}") from error
