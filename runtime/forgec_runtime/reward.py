"""The reward of an episode, and why it is what it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias
from typing import Literal as OneOf

from .equality import Difference, differences, shown
from .errors import Fault
from .plan import GoldRun, evaluate, gold_run
from .positions import without_gaps
from .says import said
from .tasks import Computed, Task

if TYPE_CHECKING:
    from .environment import Environment
    from .episode import Episode

MAX_REASONS = 20
"""How many differences of the state are listed."""

Ground: TypeAlias = OneOf["state", "expect", "says", "rule"]


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
    """Judge the episode as it stands now: its state against gold's, expectations, sayings and audited rules.

    Raises `GoldError` when the task's own plan fails, and `ValueError` for an episode of another world.
    """
    if episode.world != task.world:
        raise ValueError(f"{task.name} plays in {task.world}, the episode in {episode.world}")
    gold = gold_run(env, task)
    reasons = (
        *_state(episode, gold),
        *_expectations(env, episode, gold),
        *_sayings(episode, gold),
        *_rules(episode),
    )
    return Reward(0.0 if reasons else 1.0, reasons)


def _state(episode: Episode, gold: GoldRun) -> list[Shortfall]:
    found = state_differences(episode, gold.episode)
    reasons = [Shortfall("state", one.text, one) for one in found[:MAX_REASONS]]
    if len(found) > MAX_REASONS:
        reasons.append(Shortfall("state", f"and {len(found) - MAX_REASONS} more differences of the state"))
    return reasons


def state_differences(actual: Episode, wanted: Episode) -> list[Difference]:
    """What the state of `actual` has otherwise than that of `wanted`, two episodes of one environment and world."""
    base = actual.base
    if base is not wanted.base:
        raise ValueError("only episodes of one environment and world can be compared")
    tables = tuple(base.tables.values())
    ours, theirs = (without_gaps(base, episode.changes()) for episode in (actual, wanted))
    return differences(tables, lambda name, keys: base.rows(base.tables[name], keys), ours, theirs)


def _expectations(env: Environment, episode: Episode, gold: GoldRun) -> list[Shortfall]:
    return [
        Shortfall("expect", f"expected: {expectation.text}")
        for expectation in gold.task.expect
        if not _holds(env, episode, expectation.condition, gold)
    ]


def _holds(env: Environment, episode: Episode, condition: Computed, gold: GoldRun) -> bool:
    try:
        return evaluate(env, episode, condition, gold.values) is True
    except Fault:  # a state in which the condition has no answer, such as two rows where one was to be
        return False


def _sayings(episode: Episode, gold: GoldRun) -> list[Shortfall]:
    return [
        Shortfall("says", f"not said: {saying.doc} ({_wanted(value)})")
        for saying, value in zip(gold.task.says, gold.sayings, strict=True)
        if not said(value, episode.messages)
    ]


def _wanted(value: Any) -> str:
    return ", ".join(shown(one) for one in value) if isinstance(value, list | tuple) else shown(value)


def _rules(episode: Episode) -> list[Shortfall]:
    return [Shortfall("rule", f"rule broken: {name}") for name in dict.fromkeys(episode.broken_rules)]
