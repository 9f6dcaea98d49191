"""Conditions that come out in one way."""

from __future__ import annotations

from collections.abc import Iterator

from forgec.checks.conditions import Decided
from forgec.checks.subject import Finding, Subject
from forgec.diagnostics import Label

_HOLDS = {
    "guard": "this guard never fails",
    "branch": "this is always true",
    "rule": "no call of `{owner}` breaks this rule",
    "check": "this check refuses nothing",
    "invariant": "this always holds",
    "expect": "this always holds",
}
_FAILS = {
    "guard": "this guard always fails",
    "branch": "this is never true",
    "rule": "every call of `{owner}` breaks this rule",
    "check": "this check refuses everything",
    "rows": "no row satisfies this",
}


def decided_conditions(subject: Subject) -> Iterator[Finding]:
    """A condition is always true or never, whatever the state and the arguments are.

    A guard, check or rule that cannot fail protects nothing; a branch that is never taken does nothing. It is found out
    from types (what is never NULL, the values of an enum), and from the checks of columns and of types.

    Bad:

        tool remind(member_id -> members as m) returns text "The text of a reminder." {
          require $m.owes >= 0 else "{$m.name} has a credit";
          reply "{$m.name} owes {$m.owes}";
        }

        tool greet(name text?) returns text "Greet somebody." {
          require $name is null or $name is not null else "Give a name";
          reply "Hello {coalesce($name, 'you')}";
        }

    Good:

        tool remind(member_id -> members as m) returns text "The text of a reminder." {
          require $m.owes > 0 else "{$m.name} owes nothing";
          reply "{$m.name} owes {$m.owes}";
        }
    """
    for found in subject.decided:
        if found.because is None:
            yield from _finding(found)


def repeated_conditions(subject: Subject) -> Iterator[Finding]:
    """A condition is always true or never, because a guard, a rule or a branch before it made sure of that.

    What stands twice is changed in one place and not in the other.

    Bad:

        tool take_off(member_id -> members as m, amount decimal(6, 2)) "Take something off what is owed." {
          require $m.owes >= $amount else "{$m.name} owes only {$m.owes}";
          if ($m.owes < $amount) { fail "Too much"; }
          update members set owes = owes - $amount where member_id = $member_id;
        }

    Good:

        tool take_off(member_id -> members as m, amount decimal(6, 2)) "Take something off what is owed." {
          require $m.owes >= $amount else "{$m.name} owes only {$m.owes}";
          update members set owes = owes - $amount where member_id = $member_id;
        }
    """
    for found in subject.decided:
        if found.because is not None:
            yield from _finding(found)


def _finding(found: Decided) -> Iterator[Finding]:
    texts = _HOLDS if found.holds else _FAILS
    condition = found.condition
    if condition.kind in texts:
        message = texts[condition.kind].format(owner=condition.owner)
        related = tuple(Label(span, "because of this") for span in found.because or ())
        yield Finding(message, condition.span, related=related)
