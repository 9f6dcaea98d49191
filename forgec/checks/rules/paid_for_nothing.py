"""Tasks that are paid whatever is done."""

from __future__ import annotations

from collections.abc import Iterator

from forgec.checks.subject import Finding, Subject
from forgec.model import spec as m
from forgec.model import walk


def paid_for_nothing(subject: Subject) -> Iterator[Finding]:
    """No call of a plan writes anything, and nothing has to be said: an agent that does nothing is paid.

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
        calls = {node.tool for node in task.plan if isinstance(node, m.CallNode)}
        if not task.says and not task.expect and writing.isdisjoint(calls):
            yield Finding(f"`{task.name}` pays an agent that does nothing", task.span, help="add a `says`")
