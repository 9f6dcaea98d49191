"""Worlds: rows written in the spec or read from files, held to what the tables declare."""

from __future__ import annotations

from collections.abc import Mapping

from forgec.diagnostics import Label, did_you_mean
from forgec.model.drafts import Documents, Draft, flat_rows
from forgec.model.filling import Filling
from forgec.model.spec import Table, World
from forgec.model.world_keys import check_keys
from forgec.sql.check import SqlChecker
from forgec.sql.scope import Scope, table_at, titles
from forgec.syntax import nodes


def build_world(item: nodes.World, tables: Mapping[str, Table], checker: SqlChecker, scope: Scope) -> World:
    """The world with its rows by table; rows that break a declaration are reported."""
    filling = Filling(tables, checker, scope)
    for fill in item.fills:
        table = table_at(tables, [part.text for part in fill.table])
        if table is None:
            _report_unknown(fill, tables, checker)
        elif isinstance(fill, nodes.Fill):
            filling.add(flat_rows(fill, table, checker, scope))
        elif isinstance(fill, nodes.Documents):
            filling.add(Documents(tables, checker, scope).rows(fill, table))
        else:
            checker.report.error("AFS609", "rows are read from .csv, .json, .jsonl and .parquet", fill.origin.span)
    for table in tables.values():
        if table.single:
            _check_single(table, item, filling)
    if not checker.report.failed:
        for table in tables.values():
            check_keys(table, filling.rows[table.name], filling.rows, tables, checker)
    doc = item.doc.value if item.doc else ""
    held = {name: tuple(row.values for row in rows) for name, rows in filling.rows.items()}
    places = {name: tuple(row.span for row in rows) for name, rows in filling.rows.items()}
    return World(name=item.name.text, doc=doc, span=item.name.span, rows=held, places=places)


def _report_unknown(fill: nodes.FillItem, tables: Mapping[str, Table], checker: SqlChecker) -> None:
    name = ".".join(part.text for part in fill.table)
    hint = did_you_mean(name, titles(tables))
    message, label = f"unknown table `{name}`", "not a table of this spec"
    span = fill.table[0].span.to(fill.table[-1].span)
    checker.report.error("AFS201", message, span, label, help=hint, about=name)


def _check_single(table: Table, item: nodes.World, filling: Filling) -> None:
    """The one row of a single: of its defaults where the world does not say otherwise."""
    report, filled = filling.checker.report, filling.rows[table.name]
    for again in filled[1:]:
        related = [Label(filled[0].span, "this is it")]
        report.error("AFS602", f"`{table.name}` has one row", again.span, related=related)
    if filled or any([part.text for part in fill.table] == [table.name] for fill in item.fills):
        return
    missing = [f"`{c.name}`" for c in table.columns if not c.optional and c.default is None]
    if missing:
        message = f"the world must fill `{table.name}`: {', '.join(missing)} has no default"
        report.error("AFS409", message, item.name.span)
        return
    filling.add([Draft(table, item.name.span)])
