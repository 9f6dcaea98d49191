"""One perturbed plan, and calls that are tried before it is known whether there will be one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forgec.certifying.replay import Run, shown_call
from forgec.certifying.trial import Trial
from forgec_runtime import Environment, Episode, Result
from forgec_runtime.reward import same_state

LEFT, CHANGED, ADDED = "a call left out", "another argument", "a write added"


@dataclass
class Mutant:
    """One perturbed plan. `chosen` says whether nobody names what is perturbed: the plan took another one
    of a list, or left it out."""

    kind: str
    words: str
    """What it does with a call, beside the plan,"""
    tool: str
    arguments: Mapping[str, Any]
    """and that call."""
    gold: Run
    run: Run
    places: tuple[Episode, Episode] | None = None
    """The episode right after what is perturbed, and as it is there in the plan."""
    chosen: bool = False
    refused: bool = False
    paid: bool = False
    other: bool = False
    """Whether it has become another plan that is accepted, and is no mutant at all."""

    @property
    def text(self) -> str:
        return self.words + shown_call(self.tool, self.arguments)

    @property
    def scored(self) -> bool:
        """Whether the grader looks at what is perturbed, in the place where it is."""
        return self.places is not None and not same_state(*self.places)

    def judge(self, trial: Trial) -> None:
        """Look whether it is paid, once it was played."""
        self.refused = self.refused or bool(self.run.failures)
        like = trial.paid_as(self.run.episode, self.run.answers)
        self.paid = like is self.gold
        self.other = like is not None and not self.paid


@dataclass
class Probe:
    """A call that is tried at some place of a plan."""

    episode: Episode
    """As it is there; once the call is tried, a copy of its own."""
    tool: str
    arguments: Mapping[str, Any]
    result: Result | None = None

    @property
    def passed(self) -> bool:
        return self.result is not None and self.result.ok


def try_all(env: Environment, probes: Sequence[Probe]) -> None:
    """Make all calls at once."""
    for probe in probes:
        probe.episode = probe.episode.fork()
    calls = [(probe.episode, probe.tool, dict(probe.arguments)) for probe in probes]
    for probe, result in zip(probes, env.step(calls, by=None), strict=True):
        probe.result = result


def known_before(gold: Run, name: str) -> dict[str, Any]:
    """The values that are known before a node is played."""
    places = gold.graph.places
    return {known: value for known, value in gold.values.items() if places.get(known, -1) < places[name]}
