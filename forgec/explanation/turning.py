"""A trajectory, played again call by call: after each change, can the episode still come to its reward?

What is left of a plan is played in a fork of the episode: calls of it that were made already, with the same arguments
and with success, are not made again. If the grader pays the fork, the episode could still have been saved then. What a
plan looks up is first taken to be what gold found: who has changed something meanwhile may have looked before, or may
have known. A call that no plan has may stand for one of the same tool, said otherwise: the grader sees to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forgec.dialogue import Message, ToolCall
from forgec.rollouts.trajectory import Trajectory
from forgec_runtime import Environment, Episode, GoldError, Result, Task, TaskError
from forgec_runtime.arguments import decode_arguments
from forgec_runtime.errors import Fault
from forgec_runtime.plan import GoldRun, gold_run, known_at_start
from forgec_runtime.results import json_able
from forgec_runtime.reward import reward
from forgec_runtime.says import Unsayable, spoken
from forgec_runtime.starts import evaluate
from forgec_runtime.tasks import Expression, Plan, Step


class Mismatch(ValueError):
    """A trajectory that was not played in this environment, or not in it as it is now."""


@dataclass(frozen=True)
class Turn:
    """The first call after which no plan leads to the reward any more.

    `message` is the place of the call's message among all messages, from 0; `why` says what the nearest plan would
    lack even if all the rest of it were done.
    """

    message: int
    call: ToolCall
    why: tuple[str, ...]


@dataclass(frozen=True)
class Undone:
    """A call of the nearest plan that was never made with success; `arguments` as gold had them."""

    node: str
    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Explanation:
    """What is to be said of a trajectory. `turn` is None where the reward could be had until the end."""

    trajectory: Trajectory
    turn: Turn | None
    undone: tuple[Undone, ...]
    drift: str = ""
    """How the calls come out otherwise now than when they were recorded; empty where they do not."""


@dataclass
class _Made:
    """A call that was made with success; `arguments` by their values, in the order of the tool's parameters."""

    tool: str
    arguments: list[Any] | str
    value: Any
    changed: bool


def explain(env: Environment, trajectory: Trajectory) -> Explanation:
    """Play a trajectory again. Raises `Mismatch` for one of another environment, world or task."""
    task = _task(env, trajectory)
    episode = env.reset(task.name, trajectory.seed)
    made: list[_Made] = []
    turn: Turn | None = None
    drift = ""
    for place, call, told in _calls(trajectory.messages):
        side = told.by if told.by in ("agent", "user") else "agent"
        (result,) = env.step([(episode, call.name, call.arguments)], by=side)
        if not drift and told.cut is None and result.text != told.content:
            drift = f"message {place}: {call.name} gives {_short(result.text)}, and gave {_short(told.content)}"
        if result.ok:
            made.append(_Made(call.name, _values(env, call.name, call.arguments), result.value, result.changed))
        if turn is None and result.changed:
            lacking = _lacking(env, episode, task, made)
            if lacking:
                turn = Turn(place, call, lacking)
    return Explanation(trajectory, turn, _undone(env, task, made, trajectory.seed), drift)


def _task(env: Environment, trajectory: Trajectory) -> Task:
    if trajectory.environment != env.name:
        raise Mismatch(f"the trajectory was played in {trajectory.environment}, this is {env.name}")
    task = env.tasks.get(trajectory.task)
    if task is None:
        raise Mismatch(f"{env.name} has no task {trajectory.task!r} any more")
    played, known = trajectory.hashes, env.hashes
    if played is not None and known is not None:
        now = {"environment": known.environment, "world": known.worlds[task.world], "task": known.tasks[task.name]}
        changed = [name for name, value in now.items() if value != getattr(played, name)]
        if changed:
            raise Mismatch(f"its {' and '.join(changed)} changed since the trajectory was played")
    return task


def _calls(messages: Sequence[Message]) -> list[tuple[int, ToolCall, Message]]:
    """The calls that were run, each with the place of its message and its result."""
    asked = {call.id: (place, call) for place, message in enumerate(messages) for call in message.tool_calls}
    found = []
    for message in messages:
        if message.role == "tool" and message.kind != "not_run" and message.tool_call_id in asked:
            place, call = asked[message.tool_call_id]
            found.append((place, call, message))
    return found


def _lacking(env: Environment, episode: Episode, task: Task, made: Sequence[_Made]) -> tuple[str, ...]:
    """What the nearest plan lacks when the rest of it is played from here; nothing where one is paid."""
    nearest: tuple[str, ...] | None = None
    for number, plan in enumerate(task.plans):
        gold = gold_run(env, task, episode.seed, number)
        looked_up, strange = _looked_up(gold), _strange(env, gold, made)
        said_otherwise = [(looked_up, strange)] if strange else []
        for known, alike in ((looked_up, ()), *said_otherwise, ({}, ())):
            fork = episode.fork()
            try:
                lacking = _rest(env, fork, task, plan, made, known, alike)
            except (GoldError, TaskError, Fault, Unsayable) as error:
                lacking = (str(error),)
            if not lacking:
                return ()
            if nearest is None or len(lacking) < len(nearest):
                nearest = lacking
    return nearest or ()


def _looked_up(gold: GoldRun) -> dict[str, Any]:
    """The values of all nodes of a plan but of those that change something, as gold found them."""
    writes = {call.node for call in gold.calls if call.result.changed}
    return {name: value for name, value in gold.values.items() if name not in writes}


def _strange(env: Environment, gold: GoldRun, made: Sequence[_Made]) -> Sequence[_Made]:
    """The calls that changed something and are none of gold's."""
    left = list(made)
    for call in gold.calls:
        _taken(left, env, call.tool, call.arguments)
    return tuple(one for one in left if one.changed)


def _rest(
    env: Environment, fork: Episode, task: Task, plan: Plan, made: Sequence[_Made], known: Mapping[str, Any],
    alike: Sequence[_Made],
) -> tuple[str, ...]:  # fmt: skip
    """Play what is left of a plan in a fork, but for nodes whose values are `known`, and for those that calls `alike`
    stand for, being of the same tool; the reasons for which it is then not paid. Raises `GoldError`.
    """
    values = {**known_at_start(env, fork, task), **known}
    left, others = list(made), list(alike)

    def value(expression: Expression) -> Any:
        return evaluate(env, fork, expression, values)

    for node in (node for node in plan.order() if node.name not in known):
        if node.when is not None and value(node.when) is not True:
            values[node.name] = None
        elif not isinstance(node, Step):
            values[node.name] = value(node.value)
        else:
            arguments = {name: json_able(value(argument)) for name, argument in node.arguments.items()}
            done = _taken(left, env, node.tool, arguments)
            if done is None and (done := next((one for one in others if one.tool == node.tool), None)):
                others.remove(done)
            if done is not None:
                values[node.name] = done.value
                continue
            result: Result = env.step([(fork, node.tool, arguments)], by=None)[0]
            if not result.ok:
                raise GoldError(f"{node.tool} would fail: {result.text}")
            values[node.name] = result.value
    said = [value(saying.value) for saying in task.says]
    fork.messages.extend(spoken(one) for one in said if one is not None)
    return tuple(one.text for one in reward(env, fork, task).reasons)


def _undone(env: Environment, task: Task, made: Sequence[_Made], seed: int) -> tuple[Undone, ...]:
    """The calls of the plan that most of the made calls belong to which were not made."""
    best: tuple[Undone, ...] | None = None
    for number in range(len(task.plans)):
        left = list(made)
        undone = []
        for call in gold_run(env, task, seed, number).calls:
            if _taken(left, env, call.tool, call.arguments) is None:
                undone.append(Undone(call.node, call.tool, call.arguments))
        if best is None or len(undone) < len(best):
            best = tuple(undone)
    return best or ()


def _taken(left: list[_Made], env: Environment, tool: str, arguments: Mapping[str, Any]) -> _Made | None:
    """The first of the made calls that is this one, which then is no longer `left`."""
    wanted = _values(env, tool, arguments)
    for place, one in enumerate(left):
        if one.tool == tool and one.arguments == wanted:
            return left.pop(place)
    return None


def _values(env: Environment, tool: str, arguments: Mapping[str, Any] | str) -> list[Any] | str:
    """What the arguments of a call come to, however they are written and whatever of them is left to its default."""
    return decode_arguments(env.tool(tool), arguments)


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."
