"""Facts that a plan writes out instead of reading them."""

from __future__ import annotations

from collections.abc import Iterator

from forgec.checks.subject import Finding, Subject, word
from forgec.diagnostics import Label
from forgec.model import spec as m
from forgec.model.uses import needs, task_sqls
from forgec.source import Span


def unread_facts(subject: Subject) -> Iterator[Finding]:
    """A task states a fact that it never reads, and writes the same value out in a call of its plan.

    When the fact is changed the plan stays behind. A fact that nothing needs is no finding: users know more than is
    asked for.

    Bad:

        task pay_up on monday "Pay what is owed" {
          intent "You want to pay what you owe.";
          fact member "your number" = 'M1';
          plan { paid = settle(member_id: 'M1'); }
        }

    Good:

        task pay_up on monday "Pay what is owed" {
          intent "You want to pay what you owe.";
          fact member "your number" = 'M1';
          plan { paid = settle(member_id: $member); }
        }
    """
    for task in subject.spec.tasks.values():
        read = needs(task_sqls(task))
        for fact in task.facts:
            known = isinstance(fact.value, m.Constant) and fact.name not in read
            place = _written_out(task, fact.value) if known else None
            if place is not None:
                message = f"the fact `{fact.name}` is never read, and its value is written out"
                related = (Label(place, "the same value"),)
                yield Finding(message, word(fact.span, fact.name), related=related, help=f"write `${fact.name}` there")


def _written_out(task: m.Task, value: m.Given) -> Span | None:
    """The first argument of a call that is this value, written out."""
    for node in task.plan:
        for given in node.arguments.values() if isinstance(node, m.CallNode) else ():
            if isinstance(given, m.Constant) and isinstance(value, m.Constant) and given.value == value.value:
                return word(node.span, given.text)
    return None
