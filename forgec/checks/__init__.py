"""Checks of whole specs, run in order over the model. Each is a function of its own module."""

from __future__ import annotations

from collections.abc import Callable

from forgec.checks.hidden import hidden_stays_hidden
from forgec.checks.sides import sides_apart
from forgec.checks.syncs import syncs_in_order, worlds_in_step
from forgec.checks.tasks_begin import tasks_begin
from forgec.checks.worlds_hold import worlds_hold
from forgec.diagnostics import Report
from forgec.model.spec import Spec

Check = Callable[[Spec, Report], None]

CHECKS: tuple[Check, ...] = (sides_apart, hidden_stays_hidden, syncs_in_order, worlds_in_step, worlds_hold, tasks_begin)


def run_checks(spec: Spec, report: Report) -> None:
    """Run every check; a check may rely on those before it having found nothing."""
    for check in CHECKS:
        if report.failed:
            return
        check(spec, report)
