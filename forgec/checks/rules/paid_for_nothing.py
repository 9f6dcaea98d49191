"""Tasks that are paid whatever is done."""

from __future__ import annotations

from collections.abc import Iterator

from forgec.checks.subject import Finding, Subject
from forgec.model import spec as m
from forgec.model import walk


def paid_for_nothing(subject: Subject) -> Iterator[Finding]:
    """No call of a plan, or of one of several, writes anything, and nothing has to be said: doing nothing is paid.

    A task that is about finding something out has a `says`.

    Bad:

        task what_is_owed on monday "A question" {
          intent "You want to know what you owe.";
          fact name "your name" = 'Ada';
          plan { who = members_called(name: $name); }
        }

    Good:

        task what_is_owed on monday "A question" {
          intent "You want to know what you owe.";
          fact name "your name" = 'Ada';
          plan { who = members_called(name: $name); }
          says "what is owed": (select owes from $who);
        }
    """
    writing = {tool.name for tool in subject.spec.tools.values() if walk.written(tool.body)}
    for task in subject.spec.tasks.values():
        plans = [{node.tool for node in plan.nodes if isinstance(node, m.CallNode)} for plan in task.plans]
        accepted = plans if not task.expect else plans[:1]  # behind the gold plan it holds
        if not task.says and any(writing.isdisjoint(tools) for tools in accepted):
            yield Finding(f"`{task.name}` pays an agent that does nothing", task.span, help="add a `says`")
