"""Whether plans with one thing wrong are paid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from forgec.certifying.perturbing.added import added, extras
from forgec.certifying.perturbing.changed import arguments
from forgec.certifying.perturbing.left_out import left_out
from forgec.certifying.perturbing.mutant import ADDED, CHANGED, LEFT, Mutant, try_all
from forgec.certifying.perturbing.values import Pools
from forgec.certifying.replay import play
from forgec.certifying.trial import Trial
from forgec.certifying.verdict import Kills, Outcome
from forgec_runtime import Environment
from forgec_runtime.says import said

SHOWN = 10
ALTERNATIVES = 5
"""So many perturbed plans of a task that are paid are shown."""


@dataclass
class Found:
    """What perturbing the plans of one task came to."""

    mutants: list[Mutant] = field(default_factory=list)
    free: set[tuple[str, str]] = field(default_factory=set)
    """The nodes and arguments that make no difference to anything."""
    alternatives: tuple[str, ...] = ()
    """Perturbed plans against which nothing speaks but that the plan ends otherwise."""

    def kills(self) -> dict[str, Kills]:
        return {
            kind: Kills(
                sum(one.refused and not one.paid for one in made),
                sum(not one.refused and not one.paid for one in made),
                sum(one.paid and one.scored for one in made),
                sum(one.paid and not one.scored for one in made),
            )
            for kind in (LEFT, CHANGED, ADDED)
            if (made := [one for one in self.mutants if one.kind == kind])
        }

    def survivors(self) -> tuple[str, ...]:
        return tuple(one.text for one in self.mutants if one.paid)[:SHOWN]

    def outcome(self) -> Outcome:
        """Fails where something that the grader looks at can be left out, be otherwise, or be one too many.

        A search that finds the same with other words is no fault, and shown all the same.
        """
        faults = [one for one in self.mutants if one.paid and one.scored]
        if faults:
            hint = "let the plan do nothing that does not show, and `expect` what the state does not tell"
            return Outcome("mutants", False, f"paid: {faults[0].text}", hint)
        same = sum(one.paid for one in self.mutants)
        refused = sum(one.refused for one in self.mutants)
        text = f"{len(self.mutants) - same} not paid, {refused} of them refused by a tool"
        text += f"; {same} change nothing that is compared" if same else ""
        return Outcome("mutants", True, text if self.mutants else "no calls")


def mutants(env: Environment, trials: Sequence[Trial]) -> list[Found]:
    """Perturb the plans of sound trials, one of a task each, and look who is paid."""
    pools = Pools(env)
    changed = [list(arguments(pools, trial)) for trial in trials]
    more = [[(gold, extras(pools, trial, gold)) for gold in trial.golds] for trial in trials]
    try_all(env, [probe for group in changed for argument in group for probe in argument.first])
    try_all(env, [probe for group in changed for argument in group for probe in argument.later])
    try_all(env, [probe for group in more for _, probes in group for probe in probes])
    choices: list[list[list[Mutant]]] = [
        [
            *([one] for gold in trial.golds for one in left_out(trial, gold)),
            *(argument.mutants() for argument in of_arguments),
            *([one] for gold, probes in of_extras for one in added(trial, gold, probes)),
        ]
        for trial, of_arguments, of_extras in zip(trials, changed, more, strict=True)
    ]
    play(env, [one.run for groups in choices for group in groups for one in group])
    return [
        _found(trial, groups, {(argument.call.node, argument.name) for argument in of_arguments if argument.is_free()})
        for trial, groups, of_arguments in zip(trials, choices, changed, strict=True)
    ]


def _found(trial: Trial, groups: Sequence[Sequence[Mutant]], free: set[tuple[str, str]]) -> Found:
    found = Found(free=free)
    alternatives: list[str] = []
    for group in groups:
        for one in group:
            one.judge(trial)
        real = sorted((one for one in group if not one.other), key=_tells_most)
        found.mutants.extend(real[:1])
        alternatives.extend(one.text for one in real if _is_alternative(trial, one))
    found.alternatives = tuple(alternatives[:ALTERNATIVES])
    return found


def _tells_most(one: Mutant) -> tuple[bool, bool, bool]:
    """Of mutants by the same argument the one that is paid comes first, then one that no tool refuses."""
    return (not (one.paid and one.scored), not one.paid, one.refused)


def _is_alternative(trial: Trial, one: Mutant) -> bool:
    """Whether nothing but the plan speaks against what a plan ends in that chose otherwise where nobody says what.

    It goes through, all that is expected holds, what is to be said is said, and no rule is broken. Where nothing is
    expected or said nobody can tell.
    """
    task, gold = trial.task, one.gold
    if not one.chosen or one.refused or one.paid or not (task.expect or task.says) or not one.scored:
        return False
    if any(value is not None and not said(value, one.run.answers) for value in gold.sayings):
        return False
    return {reason.kind for reason in trial.shortfalls(one.run.episode, one.run.answers, gold)} == {"state"}
