"""Every world satisfies the checks and invariants of its environment from the start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forgec.diagnostics import Label, Report, counted
from forgec.model.spec import Check, Column, Spec, Table, World
from forgec.reference.constraints import failures
from forgec.reference.database import ReferenceDatabase
from forgec.sql.tree import exp
from forgec_runtime import sql
from forgec_runtime.engine import EngineError

MAX_ROWS = 3
"""How many rows that break an invariant are named."""


def worlds_hold(spec: Spec, report: Report) -> None:
    """Report the first row of each world that breaks a `check`, and each invariant that does not hold."""
    for world in spec.worlds.values():
        if world.known:
            _check(spec, world, report)


def _check(spec: Spec, world: World, report: Report) -> None:
    database = ReferenceDatabase(spec, world)
    for table in spec.tables.values():
        for column in table.columns:
            for check in column.checks:
                _check_rows(table, column, check, world, database, report)
    for invariant in spec.invariants:
        related = [Label(invariant.sql.span, "the invariant")]
        try:
            holds = database.holds(invariant.sql.expression, {})
        except EngineError as error:
            what = f"the invariant `{invariant.name}` cannot be computed in the world `{world.name}`"
            hint = "it must be true or false of every state"
            report.error("AFS606", f"{what}: {_reason(error)}", world.span, related=related, help=hint)
            continue
        if holds is not True:
            message = f"the world `{world.name}` breaks the invariant `{invariant.name}`"
            notes = _rows_that_break(invariant.sql.expression, database)
            report.error("AFS606", message, world.span, related=related, notes=notes)


def _check_rows(
    table: Table, column: Column, check: Check, world: World, database: ReferenceDatabase, report: Report
) -> None:
    rows = list(zip(world.rows[table.name], world.places[table.name], strict=True))
    related = [Label(check.sql.span, "the check")]
    for row, place in rows if not _all_hold(table, check, world.rows[table.name], database) else ():
        key = ", ".join(sql.text(row[part.name]) for part in table.key)
        named = f"{f'{table.title} {key}'.rstrip()}: {column.name} {sql.text(row[column.name])}"
        try:
            breaks = any(failures(check, database, {"row": row}))
        except EngineError as error:
            report.error("AFS606", f"{named} cannot be checked: {_reason(error)}", place, related=related)
            continue
        if breaks:
            report.error("AFS606", f"{named} breaks its check", place, related=related)


def _all_hold(table: Table, check: Check, rows: Sequence[Mapping[str, Any]], database: ReferenceDatabase) -> bool:
    """Whether no row breaks a check, as far as one query over all of them can say."""
    if check.over is not None:
        return not rows
    types = {column.name: column.type for column in table.columns}
    try:
        return False not in database.over(check.sql.expression, rows, types)
    except EngineError:
        return False


def _reason(error: EngineError) -> str:
    """What DuckDB says, without the statement that it says it about."""
    return str(error).splitlines()[0]


def _rows_that_break(condition: exp.Expr, database: ReferenceDatabase) -> list[str]:
    """What a `not exists (select ...)` finds: the groups, or the keys of the rows."""
    inner = condition.unnest()
    exists = inner.this.unnest() if isinstance(inner, exp.Not) else None
    query = exists.this.copy() if isinstance(exists, exp.Exists) else None
    terms = _named_terms(query, database.spec) if isinstance(query, exp.Select) else {}
    if query is None or not terms:
        return []
    for name in [name for name in terms if name not in query.named_selects]:
        query.append("expressions", exp.Alias(this=terms[name].copy(), alias=exp.to_identifier(name, quoted=True)))
    try:
        found = database.rows(query, {})
    except EngineError:  # `exists` is content with the first row, and need not meet one that cannot be computed
        return []
    rows = [", ".join(f"{name} {sql.text(row[name])}" for name in terms) for row in found]
    more = [f"and {counted(len(rows) - MAX_ROWS, 'other')}"] if len(rows) > MAX_ROWS else []
    return ["; ".join(["found: " + rows[0], *rows[1:MAX_ROWS], *more])] if rows else []


def _named_terms(query: exp.Select, spec: Spec) -> dict[str, exp.Expr]:
    """What tells one row of a select from the others; nothing where that is not simple."""
    outputs = {item.alias: item.this for item in query.selects}
    group = query.args.get("group")
    if group is not None:
        return {part.name or part.sql(): outputs.get(part.name, part) for part in group.expressions}
    if query.args.get("having") is not None or any(item.find(exp.AggFunc) for item in query.selects):
        return {}
    sources = [query.args["from_"].this, *(join.this for join in query.args.get("joins") or ())]
    if not all(isinstance(source, exp.Table) and source.name in spec.tables for source in sources):
        return {}
    return {
        f"{source.alias}.{column.name}": exp.column(column.name, table=source.alias)
        for source in sources
        for column in spec.tables[source.name].key
    }
