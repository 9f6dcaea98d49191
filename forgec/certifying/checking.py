"""All checks over a batch of tasks. What all tasks have in common is done once: hundreds of plans are one step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from forgec.certifying.closure import closure
from forgec.certifying.facts import facts
from forgec.certifying.fresh import FreshProcess, fresh
from forgec.certifying.gold import gold, judged, starts
from forgec.certifying.idle import idle
from forgec.certifying.mutants import Found, mutants
from forgec.certifying.orders import orders
from forgec.certifying.ties import ties
from forgec.certifying.trial import Trial, digests, try_out
from forgec.certifying.verdict import Outcome, Verdict
from forgec_runtime import Environment, Task

SEEDS = 5
"""With so many seeds tasks are tried that are sampled, beginning with 0."""


def certify(environment: Environment, tasks: Iterable[Task], process: FreshProcess | None = None) -> list[Verdict]:
    """The verdicts on tasks, in their order; some hundreds at once cost least for each.

    The environment is that of a generated package, the tasks are its own or others of its worlds. A `process` is used
    where several batches are certified; else one is started for this batch. Raises `LoadError` for a world that
    cannot be read, `ValueError` for an environment that was not generated.
    """
    cases = _tried(environment, list(tasks))
    sound = [case for case in cases if all(trial.sound for trial in case)]
    found = dict(zip(map(id, sound), mutants(environment, [case[0] for case in sound]), strict=True))
    ordered = dict(zip(map(id, sound), orders(environment, sound), strict=True))
    tied = dict(zip(map(id, sound), ties(environment, sound), strict=True))
    if process is not None:
        again = fresh(process, sound)
    else:
        with FreshProcess(environment) as own:
            again = fresh(own, sound)
    same = dict(zip(map(id, sound), again, strict=True))
    return [
        _verdict(case, found[id(case)], [ordered[id(case)], tied[id(case)], same[id(case)]])
        if id(case) in found
        else _unsound(case)
        for case in cases
    ]


def _tried(environment: Environment, tasks: Sequence[Task]) -> list[list[Trial]]:
    asked = [(task, seed) for task in tasks for seed in range(SEEDS if task.sampled else 1)]
    trials = iter(try_out(environment, asked))
    return [[next(trials) for _ in range(SEEDS if task.sampled else 1)] for task in tasks]


def _unsound(case: Sequence[Trial]) -> Verdict:
    """Of a task whose plans cannot be played: all other questions are idle."""
    begun = starts(case)
    return Verdict(case[0].task.name, (begun, gold(case)) if begun.passed else (begun,), features=case[0].task.features)


def _verdict(case: Sequence[Trial], found: Found, others: Sequence[Outcome]) -> Verdict:
    task = case[0].task
    ordered, tied, again = others
    outcomes = (
        starts(case),
        gold(case),
        *judged(case),
        idle(case),
        closure(case, found.free),
        facts(task),
        ordered,
        found.outcome(),
        tied,
        again,
    )
    digest = digests(case[0])[0]
    return Verdict(task.name, outcomes, digest, found.kills(), found.survivors(), found.alternatives, task.features)
