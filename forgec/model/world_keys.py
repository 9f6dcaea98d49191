"""What the rows of a world owe each other: keys and unique values stand once, references lead somewhere."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from forgec.diagnostics import Label, Report, did_you_mean
from forgec.model.drafts import Draft
from forgec.model.filling import Rows
from forgec.model.spec import Table
from forgec_runtime import sql

MOST = 50
"""Mistakes that are told of the values of one column."""
NEAR = 2_000
"""Of so many keys, the one that was probably meant is looked for."""


def check_keys(rows: Mapping[str, Rows], tables: Mapping[str, Table], report: Report) -> None:
    """Keys and unique columns stand once; references lead somewhere."""
    for table in tables.values():
        check_unique(table, rows[table.name], report)
        _check_references(table, rows[table.name], rows, tables, report)


def check_unique(table: Table, filled: Rows, report: Report) -> None:
    """Keys and unique columns stand once."""
    groups = [[column.name for column in table.key], *([c.name] for c in table.columns if c.unique and not c.key)]
    for names in filter(None, groups):
        seen: dict[object, Draft] = {}
        told = 0
        for row in filled:
            value = tuple(row.values[name] for name in names)
            if None in value or seen.setdefault(value, row) is row or told == MOST:
                continue
            told += 1
            where = ", ".join(f"{name} {sql.text(row.values[name])}" for name in names)
            first, again = (one.place(names[0]) if len(names) == 1 else one.span for one in (seen[value], row))
            related = [Label(first, "first here")]
            report.error("AFS602", f"{table.title}: {where} stands twice", again, related=related)


def _check_references(
    table: Table, filled: Rows, rows: Mapping[str, Rows], tables: Mapping[str, Table], report: Report
) -> None:
    if table.parent is not None and len(table.inherited) > 1:
        _check_parents(table, tables[table.parent], filled, rows[table.parent], report)
    for tie in table.ties:
        known_keys = {tuple(row.values[column.name] for column in tables[tie.table].key) for row in rows[tie.table]}
        held = ((row, tuple(row.values[name] for name in tie.columns)) for row in filled)
        dangling = (row for row, key in held if None not in key and key not in known_keys)
        for row in islice(dangling, MOST):
            where = ", ".join(f"{name} {sql.text(row.values[name])}" for name in tie.columns)
            report.error("AFS603", f"{table.title}: {where} is no row of `{tables[tie.table].title}`", row.span)
    for column in table.columns:
        if column.references is None:
            continue
        target = tables[column.references]
        known = {row.values[target.key[0].name] for row in rows[target.name]}
        near = [*map(sql.text, known)] if len(known) <= NEAR else []
        dangling = (row for row in filled if row.values[column.name] is not None)
        for row in islice((row for row in dangling if row.values[column.name] not in known), MOST):
            value = sql.text(row.values[column.name])
            message = f"{table.title}: {column.name} {value} is no row of `{target.title}`"
            report.error("AFS603", message, row.place(column.name), help=did_you_mean(value, near))


def _check_parents(table: Table, parent: Table, filled: Rows, parents: Rows, report: Report) -> None:
    """Each row of a nested table has its row of the table around it, which a key of several columns names."""
    known = {tuple(row.values[column.name] for column in parent.key) for row in parents}
    keys = ((row, tuple(row.values[column.name] for column in table.inherited)) for row in filled)
    for row, key in islice((found for found in keys if found[1] not in known), MOST):
        where = ", ".join(f"{c.name} {sql.text(v)}" for c, v in zip(table.inherited, key, strict=True))
        message = f"{table.title}: {where} is no row of `{parent.title}`"
        report.error("AFS603", message, row.place(table.inherited[-1].name))
