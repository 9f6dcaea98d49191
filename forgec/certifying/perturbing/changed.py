"""Plans with another value for one argument of one call, one that passes every guard where there is such a value."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from forgec.certifying.perturbing.mutant import CHANGED, Mutant, Probe, known_before
from forgec.certifying.perturbing.values import LEFT_OUT, Pools, near, other_values, values_by_name
from forgec.certifying.replay import Run, has_written
from forgec.certifying.trial import Trial
from forgec_runtime import Computed, Episode, Parameter, Reason, Ref
from forgec_runtime.plan import GoldCall
from forgec_runtime.results import json_able
from forgec_runtime.tasks import Expression

VALUES = 8
"""So many other values are tried for an argument."""
PLAYED = 3
"""With so many of those that pass the plan is played on."""
MOST = 40
"""So many values of a list are looked at."""


@dataclass
class Argument:
    """An argument of a call of a plan, and the calls that are tried with other values of it."""

    gold: Run
    call: GoldCall
    after: Episode
    """The episode as it was after the call."""
    name: str
    choice: list[Any]
    """What the plan chose from, where it is one of a list."""
    probes: list[Probe]

    @property
    def first(self) -> list[Probe]:
        """Those that are tried at first."""
        return self.probes[:PLAYED]

    @property
    def later(self) -> list[Probe]:
        """Those that are tried, too, where the plan is not played on with all of the first."""
        return [] if all(map(self._is_other, self.first)) else self.probes[PLAYED:]

    def is_free(self) -> bool:
        """Whether every value passes, as far as was tried, and makes no difference to anything."""
        return bool(self.probes) and all(probe.passed and not self._is_other(probe) for probe in self.probes)

    def mutants(self) -> list[Mutant]:
        """Perturbed plans to choose one of; none where no value makes a difference."""
        if not any(probe.passed for probe in self.probes):
            return [self._refused(probe) for probe in self.probes[:1]]
        return [self._played(probe) for probe in islice(filter(self._is_other, self.probes), PLAYED)]

    def _refused(self, probe: Probe) -> Mutant:
        run = Run(probe.episode, self.gold.task, self.gold.graph, {}, ())
        return self._mutant(probe, run, refused=True)

    def _played(self, probe: Probe) -> Mutant:
        gold, name = self.gold, self.call.node
        assert probe.result is not None
        known = {**known_before(gold, name), name: probe.result.value}
        run = Run(probe.episode.fork(), gold.task, gold.graph, known, gold.graph.after(name))
        chosen = self.name not in self.call.arguments or probe.arguments.get(self.name, LEFT_OUT) in self.choice
        return self._mutant(probe, run, places=(probe.episode, self.after), chosen=chosen)

    def _mutant(self, probe: Probe, run: Run, **known: Any) -> Mutant:
        return Mutant(CHANGED, f"{self.call.node} = ", probe.tool, probe.arguments, self.gold, run, **known)

    def _is_other(self, probe: Probe) -> bool:
        """Whether a call passes, and has another result than that of the plan, or leaves another state behind."""
        if probe.result is None or not probe.passed:
            return False
        return probe.result.text != self.call.result.text or has_written(self.after, probe.episode)


def arguments(pools: Pools, trial: Trial) -> Iterator[Argument]:
    """Every parameter of every call of all plans of a trial, given there or not."""
    for gold in trial.golds:
        steps = {step.name: step for step in gold.graph.steps}
        for place, (call, before, after) in enumerate(gold.stages()):
            nearby = values_by_name(gold.calls[:place])
            for parameter in pools.env.tool(call.tool).parameters:
                choice = _choice(gold, steps[call.node].arguments.get(parameter.name))
                close = choice or near(pools.env, parameter, nearby)
                probes = [
                    Probe(before, call.tool, given) for given in _others(pools, trial, gold, call, parameter, close)
                ]
                yield Argument(gold, call, after, parameter.name, choice, probes)


def _choice(gold: Run, value: Expression | None) -> list[Any]:
    """The values of which the plan chose one for an argument, as JSON: those that stood in the same column."""
    if not isinstance(value, Ref):
        return []
    node = gold.graph.plan.by_name.get(value.name)
    if not isinstance(node, Reason) or not isinstance(node.value, Computed):
        return []
    column = value.path[0] if value.path else node.value.query.columns[0]
    lists = [ref.read(gold.values) for ref in node.value.inputs]
    rows = [row for one in lists if isinstance(one, list) for row in one]
    found = [json_able(row[column]) for row in rows if isinstance(row, Mapping) and column in row]
    return found[:MOST]


def _others(
    pools: Pools, trial: Trial, gold: Run, call: GoldCall, parameter: Parameter, close: Sequence[Any]
) -> Iterator[dict[str, Any]]:
    """The arguments of a call, with other values for one of them."""
    name = parameter.name
    value = call.arguments.get(name, LEFT_OUT)
    chance = random.Random(f"{trial.task.name}/{gold.graph.plan.name}/{call.node}/{name}")
    for other in other_values(
        pools, trial.task.world, parameter, value, close, VALUES, chance
    ):  # fmt: skip
        rest = {one: held for one, held in call.arguments.items() if one != name}
        yield rest if other is LEFT_OUT else {**rest, name: other}
