"""Whether somebody is paid for nothing."""

from __future__ import annotations

from collections.abc import Sequence

from forgec.certifying.trial import Trial
from forgec.certifying.verdict import Outcome
from forgec_runtime.reward import state_differences


def idle(trials: Sequence[Trial]) -> Outcome:
    """Nothing done and nothing said earns nothing; nor does it, where nothing has to be done, to repeat the user."""
    evidence = ""
    for trial in trials:
        assert trial.start is not None
        if trial.paid_as(trial.start):
            hint = "add a `says` for what the user wants to hear, or a request that changes something"
            return Outcome("idle", False, f"{trial.where}doing nothing is paid", hint)
        if trial.paid_as(trial.start, told(trial)):
            hint = "let the user ask for something that only a call tells"
            return Outcome("idle", False, f"{trial.where}repeating what the user says is paid", hint)
        evidence = evidence or _why(trial)
    return Outcome("idle", True, evidence)


def told(trial: Trial) -> list[str]:
    """What the user can say."""
    assert trial.start is not None
    briefing = trial.start.briefing
    facts = [f"{fact.doc}: {fact.value}" for fact in briefing.facts]
    return [briefing.intent, *(request.text for request in briefing.requests), *facts]


def _why(trial: Trial) -> str:
    gold = trial.golds[0]
    assert trial.start is not None
    rows = len(state_differences(trial.start, gold.episode))
    if rows:
        return f"{rows} difference{'' if rows == 1 else 's'} of the state"
    return "nothing changes, but something has to be said"
