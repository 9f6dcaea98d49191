"""Limits that do not say which rows they take."""

from __future__ import annotations

from collections.abc import Iterator

from forgec.checks.subject import Finding, Subject
from forgec.model.uses import trees
from forgec.sql.tree import exp


def unordered_limits(subject: Subject) -> Iterator[Finding]:
    """A query takes some of its rows with `limit`, and does not say which with `order by`.

    The rows come in the order of the columns that are selected, so that the result is always the same; but that this is
    the order that is meant, nobody can tell.

    Bad:

        tool next_loan(member_id -> members) returns text "The loan that is due next." {
          return select loan_id from loans where member_id = $member_id limit 1 else "Nothing is lent";
        }

    Good:

        tool next_loan(member_id -> members) returns text "The loan that is due next." {
          return select loan_id from loans where member_id = $member_id order by due, loan_id limit 1
            else "Nothing is lent";
        }
    """
    for sql in subject.sqls:
        for tree in trees(sql):
            for query in tree.find_all(exp.Select, exp.SetOperation):
                if query.args.get("limit") is not None and not query.meta.get("ordered"):
                    yield Finding("this `limit` does not say which rows", sql.span, help="say it with `order by`")
