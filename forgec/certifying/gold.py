"""Whether plans do what they are there for: begin, end, be paid, and break nothing."""

from __future__ import annotations

from collections.abc import Sequence

from forgec.certifying.trial import Trial
from forgec.certifying.verdict import Outcome
from forgec_runtime.reward import Shortfall


def starts(trials: Sequence[Trial]) -> Outcome:
    """Episodes begin: rows are drawn, facts computed, the world is changed."""
    for trial in trials:
        if trial.error:
            hint = "widen the sample, or make its rows by a change"
            return Outcome("starts", False, f"{trial.where}{trial.error}", hint)
    return Outcome("starts", True, f"seeds 0 to {trials[-1].seed}" if len(trials) > 1 else "begins")


def gold(trials: Sequence[Trial]) -> Outcome:
    """Plans are played to their ends. Nothing that fails is passed over."""
    for trial in trials:
        for run in trial.golds:
            if not run.sound:
                hint = "play it with `forgec play`, and see what the tool says there"
                return Outcome("gold", False, f"{trial.where}{_of(run.graph.plan.name)}{run.error}", hint)
    plans = len(trials[0].task.plans)
    calls = sum(len(run.calls) for run in trials[0].golds)
    return Outcome("gold", True, f"{_counted(plans, 'plan')}, {_counted(calls, 'call')}")


def judged(trials: Sequence[Trial]) -> list[Outcome]:
    """What the reward has to say of the plans: whether they are paid, by the rules, and without forbidden calls."""
    found: dict[str, str] = {}
    for trial in trials:
        for run in trial.golds:
            for one in trial.shortfalls(run.episode, run.answers, run):
                found.setdefault(_check(one), f"{trial.where}{_of(run.graph.plan.name)}{one.text}")
    task = trials[0].task
    held = {
        "paid": f"{_counted(len(task.expect), 'condition')}, {_counted(len(task.says), 'saying')}",
        "rules": "none broken",
        "never": f"{_counted(len(task.never), 'call')} forbidden" if task.never else "nothing forbidden",
    }
    hints = {
        "paid": "the plan and what is expected of it contradict each other: correct one of them",
        "rules": "let the plan keep the rule; what breaks it is not paid to anybody",
        "never": "take the call out of the plan, or out of what is forbidden",
    }
    return [
        Outcome(name, name not in found, found.get(name, evidence), hints[name] if name in found else "")
        for name, evidence in held.items()
    ]


def _check(one: Shortfall) -> str:
    return {"rule": "rules", "never": "never"}.get(one.kind, "paid")


def _of(plan: str) -> str:
    return f"plan {plan}: " if plan else ""


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
