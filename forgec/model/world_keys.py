"""What the rows of a world owe each other: keys and unique values stand once, references lead somewhere."""

from __future__ import annotations

from collections.abc import Mapping

from forgec.diagnostics import Label, Report, did_you_mean
from forgec.model.filling import Rows
from forgec.model.spec import Table
from forgec.source import Span
from forgec_runtime import sql


def check_keys(rows: Mapping[str, Rows], tables: Mapping[str, Table], report: Report) -> None:
    """Keys and unique columns stand once; references lead somewhere."""
    for table in tables.values():
        check_unique(table, rows[table.name], report)
        _check_references(table, rows[table.name], rows, tables, report)


def check_unique(table: Table, filled: Rows, report: Report) -> None:
    """Keys and unique columns stand once."""
    groups = [[column.name for column in table.key], *([c.name] for c in table.columns if c.unique and not c.key)]
    for names in filter(None, groups):
        seen: dict[object, Span] = {}
        for row in filled:
            value = tuple(row.values[name] for name in names)
            if None in value:
                continue
            span = row.place(names[0]) if len(names) == 1 else row.span
            if value in seen:
                where = ", ".join(f"{name} {sql.text(row.values[name])}" for name in names)
                related = [Label(seen[value], "first here")]
                report.error("AFS602", f"{table.title}: {where} stands twice", span, related=related)
            seen.setdefault(value, span)


def _check_references(
    table: Table, filled: Rows, rows: Mapping[str, Rows], tables: Mapping[str, Table], report: Report
) -> None:
    if table.parent is not None and len(table.inherited) > 1:
        _check_parents(table, tables[table.parent], filled, rows[table.parent], report)
    for tie in table.ties:
        known_keys = {tuple(row.values[column.name] for column in tables[tie.table].key) for row in rows[tie.table]}
        for row in filled:
            held = tuple(row.values[name] for name in tie.columns)
            if None not in held and held not in known_keys:
                where = ", ".join(f"{name} {sql.text(row.values[name])}" for name in tie.columns)
                report.error("AFS603", f"{table.title}: {where} is no row of `{tables[tie.table].title}`", row.span)
    for column in table.columns:
        if column.references is None:
            continue
        key = tables[column.references].key[0].name
        known = {row.values[key] for row in rows[column.references]}
        for row in filled:
            value = row.values[column.name]
            if value is not None and value not in known:
                target = tables[column.references].title
                message = f"{table.title}: {column.name} {sql.text(value)} is no row of `{target}`"
                hint = did_you_mean(sql.text(value), map(sql.text, known))
                report.error("AFS603", message, row.place(column.name), help=hint)


def _check_parents(table: Table, parent: Table, filled: Rows, parents: Rows, report: Report) -> None:
    """Each row of a nested table has its row of the table around it, which a key of several columns names."""
    known = {tuple(row.values[column.name] for column in parent.key) for row in parents}
    for row in filled:
        key = tuple(row.values[column.name] for column in table.inherited)
        if key not in known:
            where = ", ".join(f"{c.name} {sql.text(v)}" for c, v in zip(table.inherited, key, strict=True))
            message = f"{table.title}: {where} is no row of `{parent.title}`"
            report.error("AFS603", message, row.place(table.inherited[-1].name))
