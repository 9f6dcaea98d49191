"""Guards over what is not compared."""

from __future__ import annotations

from collections.abc import Iterator

from forgec.checks.subject import Finding, Subject
from forgec.model import spec as m
from forgec.model import walk
from forgec.model.uses import trees
from forgec.sql.query import Insert, Sql, Update
from forgec.sql.tree import Lookup, Value, exp


def unscored_guards(subject: Subject) -> Iterator[Finding]:
    """A guard reads a column that tools write and that is `unscored`.

    States that differ in it alone count as equal, and yet the next call would be refused in one of them and not in the
    other: an agent is paid for leaving behind what it should not have. Take `unscored` away, or allow it with the
    reason why nothing of it matters once an episode is over. Looked for by names that no compared column has, too.

    Bad:

        table lockers "At the pool" { locker_id text key, wrong integer default 0 unscored }

        tool miss(locker_id -> lockers as l) "Note a wrong code." {
          require $l.wrong < 3 else "The locker is blocked";

          update lockers set wrong = wrong + 1 where locker_id = $locker_id;
        }

    Good:

        table lockers "At the pool" { locker_id text key, wrong integer default 0 }

        tool miss(locker_id -> lockers as l) "Note a wrong code." {
          require $l.wrong < 3 else "The locker is blocked";

          update lockers set wrong = wrong + 1 where locker_id = $locker_id;
        }
    """
    tables = subject.spec.tables.values()
    unscored = {column.name for table in tables for column in table.columns if not column.scored}
    unscored -= {column.name for table in tables for column in table.columns if column.scored}
    unscored &= {name for routine in subject.routines for statement in walk.own(routine.body)
                 for sql in walk.sqls_of(statement) for name in _set(sql)}  # fmt: skip
    for routine in subject.routines:
        for statement in walk.own(routine.body):
            if isinstance(statement, m.Require):
                for name in sorted(unscored & _read(statement.sql)):
                    message = f"this guard reads `{name}`, which is not compared"
                    yield Finding(message, statement.sql.span, help="take `unscored` away from it")


def _set(sql: Sql) -> set[str]:
    """The columns that a change sets."""
    if isinstance(sql.change, Insert):
        return set(sql.change.columns)
    return {name for name, _ in sql.change.assignments} if isinstance(sql.change, Update) else set()


def _read(sql: Sql) -> set[str]:
    """The names of the columns that a condition reads, of rows that are bound to names, too."""
    found: set[str] = set()
    for tree in trees(sql):
        for node in tree.find_all(exp.Column, Lookup, Value):
            if isinstance(node, Lookup):
                found.add(str(node.args.get("field")))
            else:
                found |= set(node.name.split(".")[1:]) if isinstance(node, Value) else {node.name}
    return found
