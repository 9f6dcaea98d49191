"""The reward of an episode, and why it is what it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias
from typing import Literal as OneOf

from .encoding import encode
from .equality import Difference, differences, equal, plainly_equal, shown
from .plan import GoldRun, gold_run
from .positions import without_gaps
from .results import json_able
from .says import said
from .starts import evaluate
from .states import BaseRows, Changes
from .tasks import Never, Task

if TYPE_CHECKING:
    from .environment import Environment
    from .episode import Episode
    from .schema import Table

REWARD_VERSION = 1
"""Another one wherever the same episode may be paid otherwise."""
MAX_REASONS = 20
"""How many differences of the state are listed."""

Ground: TypeAlias = OneOf["state", "expect", "says", "never", "rule"]


@dataclass(frozen=True)
class Shortfall:
    """One thing that keeps an episode from being right. State differences carry the row they are about."""

    kind: Ground
    text: str
    difference: Difference | None = None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Reward:
    """1.0 for an episode that is right in every respect, else 0.0 and all the reasons, in a fixed order."""

    value: float
    reasons: tuple[Shortfall, ...] = ()


def reward(env: Environment, episode: Episode, task: Task) -> Reward:
    """Judge the episode as it stands now: its state against gold's, expectations, sayings, forbidden calls and audited
    rules. Of several plans, the one that it comes nearest to counts.

    Raises `GoldError` when the task's own plan fails, and `ValueError` for an episode of another world or start.
    """
    return rewards(env, [(episode, task)])[0]


def rewards(env: Environment, asked: Iterable[tuple[Episode, Task]]) -> list[Reward]:
    """The rewards of many episodes: DuckDB is asked once for what gold expects of all those of a task.

    Raises what `reward` does.
    """
    pairs = list(asked)
    for episode, task in pairs:
        _check(episode, task)
    runs = [gold_run(env, task, episode.seed) for episode, task in pairs]
    holding = _holding(env, [(episode, gold) for (episode, _), gold in zip(pairs, runs, strict=True)])
    return [
        _reward(env, episode, task, gold, holds)
        for (episode, task), gold, holds in zip(pairs, runs, holding, strict=True)
    ]


def _check(episode: Episode, task: Task) -> None:
    if episode.world != task.world:
        raise ValueError(f"{task.name} plays in {task.world}, the episode in {episode.world}")
    if episode.task is not task and (task.prepared or task.never):
        raise ValueError(f"the episode did not begin with the task {task.name}")


def _reward(env: Environment, episode: Episode, task: Task, gold: GoldRun, holds: Sequence[bool]) -> Reward:
    """The reward, where it is known which of gold's expectations hold."""
    nearest = _against(env, episode, gold, holds)
    for plan in range(1, len(task.plans)):
        if not nearest:
            break
        reasons = shortfalls(env, episode, gold_run(env, task, episode.seed, plan))
        if len(reasons) < len(nearest):
            nearest = reasons
    return Reward(0.0 if nearest else 1.0, nearest)


def shortfalls(env: Environment, episode: Episode, gold: GoldRun) -> tuple[Shortfall, ...]:
    """What keeps an episode from being as one plan wants it. Raises `ValueError` for an episode of another world."""
    return _against(env, episode, gold, _holding(env, [(episode, gold)])[0])


def _against(env: Environment, episode: Episode, gold: GoldRun, holds: Sequence[bool]) -> tuple[Shortfall, ...]:
    return (
        *_state(episode, gold),
        *_expectations(gold, holds),
        *_sayings(episode, gold),
        *_forbidden(env, episode, gold),
        *_rules(episode),
    )


def _state(episode: Episode, gold: GoldRun) -> list[Shortfall]:
    found = state_differences(episode, gold.episode)
    reasons = [Shortfall("state", one.text, one) for one in found[:MAX_REASONS]]
    if len(found) > MAX_REASONS:
        reasons.append(Shortfall("state", f"and {len(found) - MAX_REASONS} more differences of the state"))
    return reasons


def state_differences(actual: Episode, wanted: Episode) -> list[Difference]:
    """What the state of `actual` has otherwise than that of `wanted`, two episodes of one environment and world."""
    return [] if _is_alike(actual, wanted) else differences(*_beside(actual, wanted))


def same_state(actual: Episode, wanted: Episode) -> bool:
    """Whether there are no `state_differences`, which takes less than to say what they are."""
    return _is_alike(actual, wanted) or equal(*_beside(actual, wanted))


def _is_alike(actual: Episode, wanted: Episode) -> bool:
    """Whether both came to equal rows under equal keys, as most equal states did: no list has to be numbered anew."""
    if actual.base is not wanted.base:
        return False
    return plainly_equal(tuple(actual.base.tables.values()), actual.overlay or {}, wanted.overlay or {})


def _beside(actual: Episode, wanted: Episode) -> tuple[tuple[Table[Any], ...], BaseRows, Changes, Changes]:
    base = actual.base
    if base is not wanted.base:
        raise ValueError("only episodes of one environment and world can be compared")
    ours, theirs = (without_gaps(base, episode.changes()) for episode in (actual, wanted))
    return tuple(base.tables.values()), lambda name, keys: base.rows(base.tables[name], keys), ours, theirs


def _expectations(gold: GoldRun, holds: Sequence[bool]) -> list[Shortfall]:
    expected = zip(gold.task.expect, holds, strict=True)
    return [Shortfall("expect", f"expected: {expectation.text}") for expectation, met in expected if not met]


def _holding(env: Environment, judged: Sequence[tuple[Episode, GoldRun]]) -> list[list[bool]]:
    """Which expectations of its gold run hold in each episode.

    None does whose condition has no answer there, such as two rows where one was to be.
    """
    holding = [[False] * len(gold.task.expect) for _, gold in judged]
    waiting: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for i, (episode, gold) in enumerate(judged):
        for j, expectation in enumerate(gold.task.expect):
            waiting.setdefault((id(episode.base), id(expectation.condition)), []).append((i, j))
    for places in waiting.values():
        i, j = places[0]
        condition = judged[i][1].task.expect[j].condition
        asks = [(judged[i][0], [ref.read(judged[i][1].values) for ref in condition.inputs]) for i, _ in places]
        answers = env.evaluate_all(condition.query, asks, condition.kind)
        for (i, j), answer in zip(places, answers, strict=True):
            holding[i][j] = answer is True
    return holding


def _sayings(episode: Episode, gold: GoldRun) -> list[Shortfall]:
    return [
        Shortfall("says", f"not said: {saying.doc} ({_wanted(value)})")
        for saying, value in zip(gold.task.says, gold.sayings, strict=True)
        if value is not None and not said(value, episode.messages)
    ]


def _wanted(value: Any) -> str:
    return ", ".join(shown(one) for one in value) if isinstance(value, list | tuple) else shown(value)


def _forbidden(env: Environment, episode: Episode, gold: GoldRun) -> list[Shortfall]:
    return [
        Shortfall("never", f"never to be called: {never.text}")
        for never in gold.task.never
        if any(_is(env, episode, gold, never, *call) for call in episode.noted or ())
    ]


def _is(env: Environment, episode: Episode, gold: GoldRun, never: Never, tool: str, given: list[Any]) -> bool:
    """Whether a call, whose arguments are `given` as a snapshot holds them, is a forbidden one."""
    if tool != never.tool:
        return False
    for parameter, value in zip(env.tool(tool).parameters, given, strict=True):
        wanted = never.arguments.get(parameter.name)
        if wanted is not None:
            named = json_able(evaluate(env, episode, wanted, gold.values))
            if encode(parameter.type, None if named is None else parameter.type.decode(named)) != value:
                return False
    return True


def _rules(episode: Episode) -> list[Shortfall]:
    return [Shortfall("rule", f"rule broken: {name}") for name in dict.fromkeys(episode.broken_rules)]
