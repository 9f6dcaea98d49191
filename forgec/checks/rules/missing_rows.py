"""Results that may be nothing, and do not say so."""

from __future__ import annotations

from collections.abc import Iterator

from forgec.checks.subject import Finding, Subject
from forgec.model import spec as m
from forgec.model import walk
from forgec.sql.scope import Cell, Row
from forgec.sql.tree import Value, exp


def missing_rows(subject: Subject) -> Iterator[Finding]:
    """A tool returns what a query finds, which may be nothing, and neither declares that nor says what is wrong then.

    The agent gets `null` where a row or a value is promised, and does not learn why.

    Bad:

        tool member_called(name text "All of it") returns members "Find a member by name." {
          return select * from members where name = $name limit 1;
        }

    Good:

        tool member_called(name text "All of it") returns members "Find a member by name." {
          return select * from members where name = $name order by member_id limit 1 else "Nobody is called {$name}";
        }
    """
    for tool in subject.spec.tools.values():
        keys = {parameter.name for parameter in tool.parameters if parameter.references is not None}
        for statement in walk.own(tool.body):
            if isinstance(statement, m.Return) and statement.message is None and _may_be_missing(statement, keys):
                help_ = 'say why with `else "..."`, or declare the result with `?`'
                yield Finding("this may find nothing, and the agent is not told why", statement.sql.span, help=help_)


def _may_be_missing(statement: m.Return, keys: set[str]) -> bool:
    result, tree = statement.result, statement.sql.tree
    if result.optional or not isinstance(result.shape, Cell | Row) or not isinstance(tree, exp.Select):
        return False
    if isinstance(result.shape, Cell) and result.shape.optional:
        return False
    where = tree.args.get("where")
    is_one = any(item.find(exp.AggFunc) is not None for item in tree.selects) and not tree.args.get("group")
    if tree.args.get("from_") is None or where is None or is_one:
        return False
    return not any(value.name.split(".")[0] in keys for value in where.find_all(Value))
