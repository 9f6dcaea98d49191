"""Writes after which everything is as it was."""

from __future__ import annotations

from collections.abc import Iterator

from forgec.checks.subject import Finding, Subject
from forgec.model import spec as m
from forgec.model import walk
from forgec.sql.query import Update
from forgec.sql.tree import Value, exp


def idle_writes(subject: Subject) -> Iterator[Finding]:
    """An `update` or `set` changes nothing: what it writes is there already.

    Mostly another column, or another value, was meant.

    Bad:

        tool reinstate(member_id -> members) "Make an account active again." {
          update members set standing = 'suspended' where member_id = $member_id and standing = 'suspended';
        }

    Good:

        tool reinstate(member_id -> members) "Make an account active again." {
          update members set standing = 'active' where member_id = $member_id and standing = 'suspended';
        }
    """
    for routine in subject.routines:
        for statement in walk.own(routine.body):
            if isinstance(statement, m.Set):
                tree = statement.sql.expression
                if isinstance(tree, Value) and tree.name == statement.name:
                    yield Finding(f"`${statement.name}` is set to what it is", statement.span)
            for sql in walk.sqls_of(statement):
                change = sql.change
                if isinstance(change, Update) and all(
                    _is_there(name, tree, change) for name, tree in change.assignments
                ):
                    yield Finding("this update changes nothing", statement.span)


def _is_there(name: str, tree: exp.Expr, change: Update) -> bool:
    """Whether a column of the rows that are updated has this value already."""
    column = exp.column(name, table=change.alias)
    if tree == column:
        return True
    return any(
        isinstance(part, exp.EQ) and column in (part.this, part.expression) and tree in (part.this, part.expression)
        for part in _all_of(change.where)
    )


def _all_of(condition: exp.Expr) -> Iterator[exp.Expr]:
    """The conditions that all hold where this one does."""
    while isinstance(condition, exp.Paren):
        condition = condition.this
    if isinstance(condition, exp.And):
        yield from _all_of(condition.this)
        yield from _all_of(condition.expression)
    else:
        yield condition
