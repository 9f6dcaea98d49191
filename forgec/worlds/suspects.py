"""Which rows may be the ones that break an invariant: so that not every row has to be tried by itself."""

from __future__ import annotations

from typing import Any

from forgec.model.spec import Table
from forgec.reference.database import ReferenceDatabase
from forgec.sql.tree import Value, exp
from forgec_runtime.engine import EngineError, fetch

Suspects = tuple[tuple[str, ...], set[tuple[Any, ...]]]
"""Columns of a table, and what they hold in the rows that may be meant."""


def suspects(condition: exp.Expr, table: Table, database: ReferenceDatabase) -> Suspects | None:
    """The rows of a table that a `not exists (select ...)` finds; None where that cannot be said."""
    inner = condition.unnest()
    exists = inner.this.unnest() if isinstance(inner, exp.Not) else None
    query = exists.this if isinstance(exists, exp.Exists) else None
    if not isinstance(query, exp.Select) or query.args.get("from_") is None:
        return None
    sources = [query.args["from_"].this, *(join.this for join in query.args.get("joins") or ())]
    aliases = [source.alias for source in sources if isinstance(source, exp.Table) and source.name == table.name]
    names = _names(query, table, aliases)
    if not names:
        return None
    asked = query.copy()
    asked.set("expressions", [exp.column(name, table=aliases[0]) for name in names])
    try:
        found = fetch(database.connection, database.statements.emitter.text(asked, _no_value))
    except EngineError:
        return None
    return names, set(found)


def _names(query: exp.Select, table: Table, aliases: list[str]) -> tuple[str, ...]:
    """The columns that tell the rows, or the groups of rows, that a query finds."""
    if not aliases or any(query.args.get(clause) for clause in ("limit", "distinct")):
        return ()
    group = query.args.get("group")
    if group is not None:
        parts = [part for part in group.expressions if isinstance(part, exp.Column)]
        return tuple(part.name for part in parts if part.table == aliases[0])
    if query.args.get("having") is not None or any(item.find(exp.AggFunc) for item in query.selects):
        return ()
    return tuple(column.name for column in table.key)


def _no_value(node: Value) -> exp.Expr:
    raise AssertionError(f"`${node.name}` in an invariant")
