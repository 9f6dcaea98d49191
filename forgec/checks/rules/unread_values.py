"""Values that bodies bind for nothing."""

from __future__ import annotations

from collections.abc import Iterator

from forgec.checks.subject import Finding, Subject, body_sqls, word
from forgec.model import spec as m
from forgec.model import walk
from forgec.model.uses import needs


def unread_values(subject: Subject) -> Iterator[Finding]:
    """A `let` binds a value that the body never reads.

    Either it is left over, or another value is read in its place. A `let` with `else` is a guard, and no finding.

    Bad:

        tool rename(member_id -> members as m, name text) returns text "Change a name." {
          let before = $m.name;
          update members set name = $name where member_id = $member_id;
          reply "{$m.name} is now called {$name}";
        }

    Good:

        tool rename(member_id -> members as m, name text) returns text "Change a name." {
          update members set name = $name where member_id = $member_id;
          reply "{$m.name} is now called {$name}";
        }
    """
    for routine in subject.routines:
        lets = [one for one in walk.own(routine.body) if isinstance(one, m.Let) and one.message is None]
        read = needs(body_sqls(routine)) if lets else set()
        for let in lets:
            if let.name not in read:
                hint = "an insert needs no `let`" if let.sql.change is not None else None
                yield Finding(f"`${let.name}` is never read", word(let.span, let.name), help=hint)
