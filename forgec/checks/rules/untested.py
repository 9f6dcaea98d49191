"""What no test shows."""

from __future__ import annotations

from collections.abc import Iterator

from forgec.checks.subject import Finding, Subject
from forgec.model import spec as m


def untested_tools(subject: Subject) -> Iterator[Finding]:
    """A tool is called by no test and in no plan, in a spec that has tests and tasks.

    Whether it does what it says, nobody knows.

    Bad:

        tool rename(member_id -> members, name text "The new one") "Change the name of a member." {
          update members set name = $name where member_id = $member_id;
        }

    Good:

        tool rename(member_id -> members, name text "The new one") "Change the name of a member." {
          update members set name = $name where member_id = $member_id;
        }

        test "a new name" on monday {
          rename(member_id: 'M1', name: 'Ida');
          expect members['M1'].name = 'Ida';
        }
    """
    spec = subject.spec
    called = {node.tool for task in spec.tasks.values() for node in task.plan if isinstance(node, m.CallNode)}
    called |= {run.call.tool for run in _runs(spec)}
    for tool in spec.tools.values() if subject.is_finished else ():
        if tool.name not in called:
            yield Finding(f"no test and no plan calls `{tool.name}`", tool.span)


def untested_rules(subject: Subject) -> Iterator[Finding]:
    """No test shows that an enforced rule refuses a call, in a spec that has tests.

    A rule whose condition is turned round refuses everybody else, and no plan need notice.

    Bad:

        rule debtors_wait enforced on lend "Whoever owes 20.00 or more borrows nothing.": $m.owes < 20;

    Good:

        rule debtors_wait enforced on lend "Whoever owes 20.00 or more borrows nothing.": $m.owes < 20;

        test "debtors wait" on monday {
          lend(member_id: 'M2', book_id: 'B1') fails "Whoever owes 20.00 or more borrows nothing.";
        }
    """
    texts = {run.fails for run in _runs(subject.spec)}
    for rule in subject.spec.rules if subject.spec.tests else ():
        if rule.verdict == "enforced" and rule.doc not in texts:
            yield Finding(f"no test shows that `{rule.name}` refuses a call", rule.span)


def _runs(spec: m.Spec) -> Iterator[m.Run]:
    return (step for test in spec.tests for step in test.steps if isinstance(step, m.Run))
