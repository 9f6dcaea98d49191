"""Parameters that make no difference."""

from __future__ import annotations

from collections.abc import Iterator

from forgec.checks.subject import Finding, Subject, body_sqls
from forgec.model import spec as m
from forgec.model.uses import needs


def unread_parameters(subject: Subject) -> Iterator[Finding]:
    """A parameter of a tool, action or function is never read: what is given for it makes no difference.

    An agent that reads the schema expects one. A parameter of a tool that is a reference is looked up, and so is no
    finding; neither are those of a tool that looks at no table and changes none, such as one that hands over to people:
    its arguments are for whoever reads the calls.

    Bad:

        tool pay(member_id -> members, amount decimal(6, 2), method text) "Take a payment." {
          update members set owes = owes - $amount where member_id = $member_id;
        }

    Good:

        tool pay(member_id -> members, amount decimal(6, 2)) "Take a payment." {
          update members set owes = owes - $amount where member_id = $member_id;
        }
    """
    for function in subject.spec.functions.values():
        read = needs([function.sql])
        for parameter in function.parameters:
            if parameter.name not in read:
                yield _unread(parameter, function.name)
    for routine in subject.routines:
        is_tool = isinstance(routine, m.Tool)
        if not routine.parameters or (is_tool and not subject.touches_tables(routine)):
            continue
        rules = [rule.sqls[routine.name] for rule in subject.spec.rules if is_tool and routine.name in rule.sqls]
        read = needs([*body_sqls(routine), *rules])
        for parameter in routine.parameters:
            if read.isdisjoint({parameter.name, parameter.row}) and not (is_tool and parameter.references):
                yield _unread(parameter, routine.name)


def _unread(parameter: m.Parameter, owner: str) -> Finding:
    return Finding(f"`${parameter.name}` is never read in `{owner}`", parameter.span)
