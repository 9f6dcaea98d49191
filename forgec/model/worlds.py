"""Worlds: rows written in the spec or read from files, held to what the tables declare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forgec.diagnostics import Label
from forgec.model.data_rows import DataRows
from forgec.model.drafts import Documents, Draft, flat_rows
from forgec.model.filling import Filling
from forgec.model.happenings import build_happenings, report_outside, report_unknown
from forgec.model.spec import Outside, Table, World
from forgec.model.world_keys import check_keys
from forgec.sql.check import SqlChecker
from forgec.sql.scope import Scope, table_at
from forgec.syntax import nodes


def build_world(
    item: nodes.World, tables: Mapping[str, Table], data: DataRows, checker: SqlChecker, scope: Scope
) -> World:
    """The world with its rows by table; rows that break a declaration are reported."""
    filling = Filling(tables, checker, scope)
    outside: list[tuple[nodes.Sourced, Table, Outside]] = []
    for fill in item.fills:
        table = table_at(tables, [part.text for part in fill.table])
        if table is None:
            report_unknown(fill, tables, checker.report)
        elif isinstance(fill, nodes.Fill):
            filling.add(flat_rows(fill, table, checker, scope))
        elif isinstance(fill, nodes.Documents):
            filling.add(Documents(tables, checker, scope).rows(fill, table))
        elif isinstance(fill.origin, nodes.FileOrigin):
            filling.add(data.rows(fill, table))
        elif (found := data.outside(fill, table)) is not None:
            outside.append((fill, table, found))
    for table in tables.values():
        if table.single and not (item.base or _fills(item, table)):
            _fill_single(table, item, filling)
    own = {name: len(rows) for name, rows in filling.rows.items()}
    for sourced, table, found in outside:  # last, as where they are read without the compiler
        filling.add(data.rows_outside(found, sourced, table))
    for table in tables.values():
        if table.single:
            _check_single(table, filling)
    defaults: dict[str, dict[str, Any]] = {}
    for _, table, _ in outside:
        defaults.update(filling.defaults(table))
    happenings = build_happenings(item, tables, checker, scope)
    world = World(
        name=item.name.text,
        doc=item.doc.value if item.doc else "",
        span=item.name.span,
        rows={name: tuple(row.values for row in rows) for name, rows in filling.rows.items()},
        places={name: tuple(row.span for row in rows) for name, rows in filling.rows.items()},
        base=item.base.text if item.base else None,
        seed=item.seed,
        happenings=happenings,
        outside=tuple(found for *_, found in outside),
        read={name: len(rows) - own[name] for name, rows in filling.rows.items()} if outside else {},
        defaults=defaults,
    )
    if world.outside and world.is_made:
        report_outside(world.outside[0].span, checker.report)
    if world.known and not world.is_made and not checker.report.failed:
        check_keys(filling.rows, tables, checker.report)
    return world


def _fills(item: nodes.World, table: Table) -> bool:
    return any([part.text for part in fill.table] == [table.name] for fill in item.fills)


def _fill_single(table: Table, item: nodes.World, filling: Filling) -> None:
    """Give a single the row of its defaults, which a world need not write."""
    missing = [f"`{c.name}`" for c in table.columns if not c.optional and c.default is None]
    if missing:
        message = f"the world must fill `{table.name}`: {', '.join(missing)} has no default"
        filling.checker.report.error("AFS409", message, item.name.span)
    else:
        filling.add([Draft(table, item.name.span)])


def _check_single(table: Table, filling: Filling) -> None:
    filled = filling.rows[table.name]
    for again in filled[1:]:
        related = [Label(filled[0].span, "this is it")]
        filling.checker.report.error("AFS602", f"`{table.name}` has one row", again.span, related=related)
