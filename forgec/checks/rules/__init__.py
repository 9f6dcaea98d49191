"""Rules: what a spec may do and had better not. Each is a function of its own module, and its docstring explains it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from forgec.checks.rules.decided_conditions import decided_conditions, repeated_conditions
from forgec.checks.rules.floating_columns import floating_columns
from forgec.checks.rules.idle_writes import idle_writes
from forgec.checks.rules.literals_from_nowhere import literals_from_nowhere
from forgec.checks.rules.missing_rows import missing_rows
from forgec.checks.rules.missing_texts import missing_texts
from forgec.checks.rules.paid_for_nothing import paid_for_nothing
from forgec.checks.rules.rows_that_are_not_there import rows_that_are_not_there
from forgec.checks.rules.unknowable_keys import unknowable_keys
from forgec.checks.rules.unordered_limits import unordered_limits
from forgec.checks.rules.unread_facts import unread_facts
from forgec.checks.rules.unread_parameters import unread_parameters
from forgec.checks.rules.unread_values import unread_values
from forgec.checks.rules.unscored_guards import unscored_guards
from forgec.checks.rules.untested import untested_rules, untested_tools
from forgec.checks.rules.untouched_columns import untouched_columns
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
        _rule("AFW105", "a table or column that nothing reads or writes", untouched_columns),
        _rule("AFW201", "a condition that is always true, or never", decided_conditions),
        _rule("AFW202", "a condition that an earlier one decides", repeated_conditions),
        _rule("AFW203", "a write that changes nothing", idle_writes),
        _rule("AFW301", "a `limit` that does not say which rows", unordered_limits),
        _rule("AFW302", "a double that is computed and compared", floating_columns),
        _rule("AFW303", "a guard that reads what is not compared", unscored_guards),
        _rule("AFW401", "a key that no tool tells", unknowable_keys),
        _rule("AFW402", "a result that may be missing, without a word", missing_rows),
        _rule("AFW403", "a tool, environment or switch without documentation", missing_texts),
        _rule("AFW501", "an argument of a plan that nobody can know", literals_from_nowhere),
        _rule("AFW502", "a task that pays an agent that does nothing", paid_for_nothing),
        _rule("AFW503", "a tool that no test and no plan calls", untested_tools),
        _rule("AFW504", "an enforced rule that no test shows", untested_rules),
        _rule("AFW505", "a key in a task that no row of its world has", rows_that_are_not_there),
        Rule("AFW901", "a comment that allows nothing", inspect.getdoc(useless_permissions) or ""),
    )
}
"""Every rule by its code.

The first digit says what it is about: 1 names, 2 conditions and writes, 3 values, 4 tools, 5 tasks and tests, 9 the
comments that allow findings.
"""
