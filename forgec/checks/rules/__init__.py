"""Rules: what a spec may do and had better not. Each is a function of its own module, and its docstring explains it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from forgec.checks.rules.decided_conditions import decided_conditions, repeated_conditions
from forgec.checks.rules.unread_facts import unread_facts
from forgec.checks.rules.unread_parameters import unread_parameters
from forgec.checks.rules.unread_values import unread_values
from forgec.checks.rules.unused_declarations import unused_declarations
from forgec.checks.rules.useless_permissions import useless_permissions
from forgec.checks.subject import Finding, Subject

Find = Callable[[Subject], Iterable[Finding]]


@dataclass(frozen=True)
class Rule:
    """A rule: its code, which keeps its meaning for good, what it finds, why that matters with examples, and how.

    One without a `find` is about what the others find.
    """

    code: str
    title: str
    explanation: str
    find: Find | None = None


def _rule(code: str, title: str, find: Find) -> Rule:
    return Rule(code, title, inspect.getdoc(find) or "", find)


RULES: dict[str, Rule] = {
    rule.code: rule
    for rule in (
        _rule("AFW101", "a declaration that nothing uses", unused_declarations),
        _rule("AFW102", "a value that nothing reads", unread_values),
        _rule("AFW103", "a parameter that nothing reads", unread_parameters),
        _rule("AFW104", "a fact that the plan writes out instead of reading it", unread_facts),
        _rule("AFW201", "a condition that is always true, or never", decided_conditions),
        _rule("AFW202", "a condition that an earlier one decides", repeated_conditions),
        Rule("AFW901", "a comment that allows nothing", inspect.getdoc(useless_permissions) or ""),
    )
}
"""Every rule by its code. The first digit says what it is about: 1 names, 2 conditions, 9 comments that allow findings."""
