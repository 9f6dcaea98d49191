"""Worlds: rows written in the spec or read from files, held to what the tables declare."""

from __future__ import annotations

from collections.abc import Mapping

from forgec.diagnostics import Label
from forgec.model.drafts import Documents, Draft, flat_rows
from forgec.model.filling import Filling
from forgec.model.happenings import build_happenings, report_unknown
from forgec.model.spec import Table, World
from forgec.model.world_keys import check_keys
from forgec.sql.check import SqlChecker
from forgec.sql.scope import Scope, table_at
from forgec.syntax import nodes


def build_world(item: nodes.World, tables: Mapping[str, Table], checker: SqlChecker, scope: Scope) -> World:
    """The world with its rows by table; rows that break a declaration are reported."""
    filling = Filling(tables, checker, scope)
    for fill in item.fills:
        table = table_at(tables, [part.text for part in fill.table])
        if table is None:
            report_unknown(fill, tables, checker.report)
        elif isinstance(fill, nodes.Fill):
            filling.add(flat_rows(fill, table, checker, scope))
        elif isinstance(fill, nodes.Documents):
            filling.add(Documents(tables, checker, scope).rows(fill, table))
        else:
            checker.report.error("AFS609", "rows are read from .csv, .json, .jsonl and .parquet", fill.origin.span)
    for table in tables.values():
        if table.single:
            _check_single(table, item, filling)
    happenings = build_happenings(item, tables, checker, scope)
    if not checker.report.failed and item.base is None and not happenings:  # else it is not whole yet
        check_keys(filling.rows, tables, checker.report)
    doc = item.doc.value if item.doc else ""
    held = {name: tuple(row.values for row in rows) for name, rows in filling.rows.items()}
    places = {name: tuple(row.span for row in rows) for name, rows in filling.rows.items()}
    return World(
        name=item.name.text,
        doc=doc,
        span=item.name.span,
        rows=held,
        places=places,
        base=item.base.text if item.base else None,
        seed=item.seed,
        happenings=happenings,
    )


def _check_single(table: Table, item: nodes.World, filling: Filling) -> None:
    """The one row of a single: of its defaults where the world does not say otherwise."""
    report, filled = filling.checker.report, filling.rows[table.name]
    for again in filled[1:]:
        related = [Label(filled[0].span, "this is it")]
        report.error("AFS602", f"`{table.name}` has one row", again.span, related=related)
    if filled or item.base or any([part.text for part in fill.table] == [table.name] for fill in item.fills):
        return
    missing = [f"`{c.name}`" for c in table.columns if not c.optional and c.default is None]
    if missing:
        message = f"the world must fill `{table.name}`: {', '.join(missing)} has no default"
        report.error("AFS409", message, item.name.span)
        return
    filling.add([Draft(table, item.name.span)])
