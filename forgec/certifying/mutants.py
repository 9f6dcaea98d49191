"""Perturbed plans: a call left out, another value for an argument, a write too many. None may be paid."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forgec.certifying.replay import Run, has_written, play, shown_call
from forgec.certifying.trial import Trial
from forgec.certifying.values import LEFT_OUT, other_values, values_by_name
from forgec.certifying.verdict import Kills, Outcome
from forgec_runtime import Environment, Episode, Parameter, Result
from forgec_runtime.plan import GoldCall
from forgec_runtime.reward import same_state

VALUES = 6
"""So many other values are tried for an argument, until one passes every guard."""
EXTRA = 3
"""So many calls are tried at the end of a plan, beside those of the plan itself."""
SHOWN = 10

LEFT, CHANGED, ADDED = "a call left out", "another argument", "a write added"


@dataclass
class Mutant:
    """One perturbed plan. `writes` says whether what is perturbed is a call that changes what the grader looks at."""

    kind: str
    text: str
    writes: bool
    gold: Run
    run: Run
    refused: bool = False
    paid: bool = False


@dataclass
class Found:
    """What perturbing the plans of one task came to."""

    mutants: list[Mutant]
    free: set[tuple[str, str]]
    """The nodes and arguments that make no difference to anything."""

    def kills(self) -> dict[str, Kills]:
        return {
            kind: Kills(
                sum(one.refused and not one.paid for one in made),
                sum(not one.refused and not one.paid for one in made),
                sum(one.paid for one in made),
            )
            for kind in (LEFT, CHANGED, ADDED)
            if (made := [one for one in self.mutants if one.kind == kind])
        }

    def survivors(self) -> tuple[str, ...]:
        return tuple(one.text for one in self.mutants if one.paid)[:SHOWN]

    def outcome(self) -> Outcome:
        """Fails where a call that writes can be left out, be another, or be one too many. A search that finds the same
        with other words is no fault, and shown all the same.
        """
        faults = [one for one in self.mutants if one.paid and one.writes]
        if faults:
            hint = "let the plan do nothing that does not show, and `expect` what the state does not tell"
            return Outcome("mutants", False, f"paid: {faults[0].text}", hint)
        paid = sum(one.paid for one in self.mutants)
        refused = sum(one.refused for one in self.mutants)
        text = f"{len(self.mutants) - paid} of {len(self.mutants)} not paid, {refused} of them refused by a tool"
        return Outcome("mutants", True, text if self.mutants else "no calls")


@dataclass
class _Probe:
    """A call that is tried at a place of a plan, in an episode of its own."""

    episode: Episode
    tool: str
    arguments: Mapping[str, Any]
    text: str = ""
    result: Result | None = None


@dataclass
class _Argument:
    """An argument of a call of a plan, and the values that are tried for it."""

    trial: Trial
    gold: Run
    call: GoldCall
    after: Episode
    """The episode as it was after the call."""
    name: str
    probes: list[_Probe]


def mutants(env: Environment, trials: Sequence[Trial]) -> list[Found]:
    """Perturb the plans of sound trials, one of a task each, and look who is paid."""
    found = [Found([], set()) for _ in trials]
    arguments: list[list[_Argument]] = [list(_arguments(env, trial)) for trial in trials]
    extras = [[(gold, _extras(env, trial, gold)) for gold in trial.golds] for trial in trials]
    _try(env, [probe for group in arguments for argument in group for probe in argument.probes])
    _try(env, [probe for group in extras for _, probes in group for probe in probes])
    for trial, one, changed, added in zip(trials, found, arguments, extras, strict=True):
        for gold in trial.golds:
            one.mutants.extend(_left_out(trial, gold))
        for argument in changed:
            _change(argument, one)
        for gold, probes in added:
            one.mutants.extend(_added(trial, gold, probes))
    play(env, [mutant.run for one in found for mutant in one.mutants])
    for trial, one in zip(trials, found, strict=True):
        one.mutants = [mutant for mutant in one.mutants if _judge(trial, mutant)]
    return found


def _judge(trial: Trial, mutant: Mutant) -> bool:
    """Whether it is a mutant at all: what has become another plan that is accepted is none."""
    mutant.refused = mutant.refused or bool(mutant.run.failures)
    like = trial.paid_as(mutant.run.episode, mutant.run.answers)
    mutant.paid = like is mutant.gold
    return like is None or mutant.paid


def _try(env: Environment, probes: Sequence[_Probe]) -> None:
    calls = [(probe.episode, probe.tool, dict(probe.arguments)) for probe in probes]
    for probe, result in zip(probes, env.step(calls, by=None), strict=True):
        probe.result = result


# -- a call left out -------------------------------------------------------------------------------------------


def _left_out(trial: Trial, gold: Run) -> Iterable[Mutant]:
    """The plan without each of its calls. What a call that only looks would have told is not known then; that of one
    that writes is: an agent may guess it.
    """
    for call, before, after in gold.stages():
        known = _known_before(gold, call.node)
        wrote = has_written(before, after)
        if wrote:
            known[call.node] = gold.values[call.node]
        rest = gold.graph.after(call.node)
        run = Run(before.fork(), trial.task, gold.graph, known, rest, lost=() if wrote else [call.node])
        scored = wrote and not same_state(before, after)
        yield Mutant(LEFT, f"without {call.node} = {shown_call(call.tool, call.arguments)}", scored, gold, run)


def _known_before(gold: Run, name: str) -> dict[str, Any]:
    """The values that are known before a node is played."""
    later = {name, *(node.name for node in gold.graph.after(name))}
    return {known: value for known, value in gold.values.items() if known not in later}


# -- another argument ------------------------------------------------------------------------------------------


def _arguments(env: Environment, trial: Trial) -> Iterable[_Argument]:
    for gold in trial.golds:
        for place, (call, _, after) in enumerate(gold.stages()):
            nearby = values_by_name(gold.calls[:place])
            for parameter in env.tool(call.tool).parameters:
                yield _Argument(
                    trial, gold, call, after, parameter.name, list(_probes(env, trial, gold, call, parameter, nearby))
                )


def _probes(
    env: Environment, trial: Trial, gold: Run, call: GoldCall, parameter: Parameter, nearby: Mapping[str, list[Any]]
) -> Iterable[_Probe]:
    value = call.arguments.get(parameter.name, LEFT_OUT)
    chance = random.Random(f"{trial.task.name}/{gold.graph.plan.name}/{call.node}/{parameter.name}")
    key = next((table.key[-1] for table in env.tables if table.name == parameter.references), parameter.name)
    known = nearby.get(key, [])
    for other in other_values(env, trial.task.world, parameter, value, list(known), VALUES, chance):
        given = {**call.arguments, parameter.name: other}
        if other is LEFT_OUT:
            del given[parameter.name]
        text = f"{call.node} = {shown_call(call.tool, given)}"
        yield _Probe(gold.before[call.node].fork(), call.tool, given, text)


def _change(argument: _Argument, found: Found) -> None:
    """Take the first value that passes every guard and makes a difference; where there is none, say so."""
    call, gold = argument.call, argument.gold
    passed = [probe for probe in argument.probes if probe.result is not None and probe.result.ok]
    other = [probe for probe in passed if _differs(probe, argument)]
    if not passed:
        if argument.probes:
            probe = argument.probes[0]
            run = Run(probe.episode, gold.task, gold.graph, {}, ())
            found.mutants.append(Mutant(CHANGED, probe.text, False, gold, run, refused=True))
        return
    if not other:
        found.free.add((call.node, argument.name))
        return
    probe = other[0]
    assert probe.result is not None
    known = {**_known_before(gold, call.node), call.node: probe.result.value}
    run = Run(probe.episode.fork(), gold.task, gold.graph, known, gold.graph.after(call.node))
    scored = not same_state(probe.episode, argument.after)
    found.mutants.append(Mutant(CHANGED, probe.text, scored, gold, run))


def _differs(probe: _Probe, argument: _Argument) -> bool:
    """Whether a call has another result than that of the plan, or leaves another state behind."""
    assert probe.result is not None
    return probe.result.text != argument.call.result.text or has_written(argument.after, probe.episode)


# -- a write added ---------------------------------------------------------------------------------------------


def _extras(env: Environment, trial: Trial, gold: Run) -> list[_Probe]:
    """Calls to make at the end of a plan: those of the plan that write, again, and some of other tools."""
    chance = random.Random(f"more of {trial.task.name}/{gold.graph.plan.name}")
    calls = {call.node: call for call in gold.calls}
    found = [(calls[name].tool, calls[name].arguments) for name in gold.writes()]
    nearby = values_by_name(gold.calls)
    tools = list(env.tools.values())
    for tool in chance.sample(tools, min(EXTRA, len(tools))):
        given = {}
        for parameter in tool.parameters:
            key = next((table.key[-1] for table in env.tables if table.name == parameter.references), parameter.name)
            near = list(nearby.get(key, []))
            values = other_values(env, trial.task.world, parameter, LEFT_OUT, near, 1, chance)
            if values and (parameter.required or chance.random() < 0.5):
                given[parameter.name] = values[0]
        found.append((tool.name, given))
    return [_Probe(gold.episode.fork(), name, given, f"and then {shown_call(name, given)}") for name, given in found]


def _added(trial: Trial, gold: Run, probes: Sequence[_Probe]) -> Iterable[Mutant]:
    """The plan with a call at its end that changed something; those that did not are no writes."""
    for probe in probes:
        assert probe.result is not None
        if probe.result.ok and has_written(gold.episode, probe.episode):
            run = Run(probe.episode, gold.task, gold.graph, gold.values, ())
            yield Mutant(ADDED, probe.text, not same_state(probe.episode, gold.episode), gold, run)
