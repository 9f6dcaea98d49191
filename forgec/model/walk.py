"""What bodies of tools and actions consist of: their statements, inner ones too, and the SQL of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from forgec.model import spec as m
from forgec.sql.query import Sql


def statements(body: Iterable[m.Statement]) -> Iterator[m.Statement]:
    """All statements of a body, those inside others and those of the actions that it does too, in order."""
    for statement in body:
        yield statement
        if isinstance(statement, m.If):
            for branch in statement.branches:
                yield from statements(branch.body)
        elif isinstance(statement, m.Each):
            yield from statements(statement.body)
        elif isinstance(statement, m.Do):
            yield from statements(statement.action.body)


def own(body: Iterable[m.Statement]) -> Iterator[m.Statement]:
    """All statements that are written in a body, those inside others too, in order."""
    for statement in body:
        yield statement
        if isinstance(statement, m.If):
            for branch in statement.branches:
                yield from own(branch.body)
        elif isinstance(statement, m.Each):
            yield from own(statement.body)


def sqls_of(statement: m.Statement) -> Iterator[Sql]:
    """The SQL of a statement and of its message, without that of statements inside it."""
    if isinstance(statement, m.If):
        yield from (branch.condition for branch in statement.branches if branch.condition is not None)
    elif isinstance(statement, m.Let | m.Set | m.Require | m.Each | m.Return | m.Write):
        yield statement.sql
    elif isinstance(statement, m.Do):
        yield from statement.arguments
    if isinstance(statement, m.Let | m.Require | m.Return | m.Reply | m.Fail) and statement.message is not None:
        yield from (part.sql for part in statement.message.parts if isinstance(part, m.Hole))


def written(body: Iterable[m.Statement]) -> set[str]:
    """The tables that a body writes to."""
    return {sql.change.table for statement in statements(body) for sql in sqls_of(statement) if sql.change is not None}


def actions_of(routine: m.Routine) -> list[m.Action]:
    """The actions that a routine does, also by way of others, each once."""
    found: list[m.Action] = []
    for statement in statements(routine.body):
        if isinstance(statement, m.Do) and not any(statement.action is one for one in found):
            found.append(statement.action)
    return found
