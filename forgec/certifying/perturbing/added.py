"""Plans with one call more at their end, that writes."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

from forgec.certifying.perturbing.mutant import ADDED, Mutant, Probe
from forgec.certifying.perturbing.values import LEFT_OUT, Pools, near, other_values, values_by_name
from forgec.certifying.replay import Run, has_written
from forgec.certifying.trial import Trial
from forgec_runtime import Tool

TOOLS = 8
"""Of so many tools a call is tried, beside those calls of the plan that write."""
ATTEMPTS = 3
"""So many calls of each."""
KEPT = 4
"""So many of those that write are kept."""
WRITES = frozenset({"insert", "update", "delete"})
"""How the generated body of a tool writes: by these methods of its call, and no others."""


def extras(pools: Pools, trial: Trial, gold: Run) -> list[Probe]:
    """Calls to try at the end of a plan."""
    chance = random.Random(f"more of {trial.task.name}/{gold.graph.plan.name}")
    calls = {call.node: call for call in gold.calls}
    found: list[tuple[str, Mapping[str, Any]]] = [
        (calls[name].tool, calls[name].arguments) for name in gold.writes()
    ]  # fmt: skip
    nearby = values_by_name(gold.calls)
    tools = list(pools.env.tools.values())
    for tool in chance.sample(tools, min(TOOLS, len(tools))):
        found.extend((tool.name, given) for given in _drawn(pools, trial, tool, nearby, chance))
    return [Probe(gold.episode, name, given) for name, given in found if _may_write(pools.env.tool(name))]


@lru_cache(maxsize=256)
def _may_write(tool: Tool) -> bool:
    """Whether the code of a tool has a write in it; of what has no code to look at, it may be."""
    codes = [tool.function.__code__] if isinstance(tool.function, FunctionType) else []
    for code in codes:  # grows: what is defined inside
        if not WRITES.isdisjoint(code.co_names):
            return True
        codes += [one for one in code.co_consts if isinstance(one, CodeType)]
    return not codes


def _drawn(
    pools: Pools, trial: Trial, tool: Tool, nearby: Mapping[str, list[Any]], chance: random.Random
) -> Iterator[dict[str, Any]]:
    """Arguments for some calls of a tool; none where nothing fits a parameter that must be given."""
    fitting: dict[str, list[Any]] = {}
    for parameter in tool.parameters:
        values = other_values(
            pools, trial.task.world, parameter, LEFT_OUT, near(pools.env, parameter, nearby), ATTEMPTS, chance
        )  # fmt: skip
        if values:
            fitting[parameter.name] = values
        elif parameter.required:
            return
    for attempt in range(ATTEMPTS if fitting else 1):
        yield {
            parameter.name: fitting[parameter.name][attempt % len(fitting[parameter.name])]
            for parameter in tool.parameters
            if parameter.name in fitting and (parameter.required or chance.random() < 0.5)
        }


def added(trial: Trial, gold: Run, probes: Sequence[Probe]) -> Iterator[Mutant]:
    """The plan with a call at its end that changed something, of each tool one."""
    tools: dict[str, Probe] = {}
    for probe in probes:
        if probe.tool not in tools and probe.passed and has_written(gold.episode, probe.episode):
            tools[probe.tool] = probe
    for probe in list(tools.values())[:KEPT]:
        run = Run(probe.episode, trial.task, gold.graph, gold.values, ())
        yield Mutant(ADDED, "and then ", probe.tool, probe.arguments, gold, run, (probe.episode, gold.episode))
