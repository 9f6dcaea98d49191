"""Worlds: rows written in the spec, computed by DuckDB and held to what the tables declare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from forgec.diagnostics import Label, did_you_mean
from forgec.model.drafts import Documents, Draft, flat_rows
from forgec.model.spec import Table, World
from forgec.source import Span
from forgec.sql.check import SqlChecker
from forgec.sql.constants import constants
from forgec.sql.scope import Scope, table_at, titles
from forgec.syntax import nodes
from forgec_runtime import sql
from forgec_runtime.sql.columns import misfit
from forgec_runtime.types import MAX_INTEGER, Enum, Integer, List, Map, Record, Type

Rows = list[Draft]


def build_world(item: nodes.World, tables: Mapping[str, Table], checker: SqlChecker, scope: Scope) -> World:
    """The world with its rows by table; rows that break a declaration are reported."""
    drafts: dict[str, Rows] = {name: [] for name in tables}
    documents = Documents(tables, checker, scope)
    for fill in item.fills:
        table = table_at(tables, [part.text for part in fill.table])
        if table is None:
            _report_unknown(fill, tables, checker)
        elif isinstance(fill, nodes.Fill):
            drafts[table.name].extend(flat_rows(fill, table, checker, scope))
        else:
            for draft in documents.rows(fill, table):
                drafts[draft.table.name].append(draft)
    rows = {name: _computed(table, drafts[name], checker) for name, table in tables.items()}
    for name, filled in rows.items():
        if tables[name].single:
            _check_single(tables[name], filled, item, checker)
    if not checker.report.failed:
        for name, filled in rows.items():
            _check_keys(tables[name], filled, rows, tables, checker)
    doc = item.doc.value if item.doc else ""
    held = {name: tuple(row.values for row in filled) for name, filled in rows.items()}
    places = {name: tuple(row.span for row in filled) for name, filled in rows.items()}
    return World(name=item.name.text, doc=doc, span=item.name.span, rows=held, places=places)


def _report_unknown(fill: nodes.Fill | nodes.Documents, tables: Mapping[str, Table], checker: SqlChecker) -> None:
    name = ".".join(part.text for part in fill.table)
    hint = did_you_mean(name, titles(tables))
    message, label = f"unknown table `{name}`", "not a table of this spec"
    span = fill.table[0].span.to(fill.table[-1].span)
    checker.report.error("AFS201", message, span, label, help=hint, about=name)


def _computed(table: Table, drafts: Rows, checker: SqlChecker) -> Rows:
    """The rows of a table with their values; those of the table that it is nested in have theirs."""
    rows: Rows = []
    numbers: Counter[tuple[Any, ...]] = Counter()
    for _, alike in groupby(drafts, key=lambda draft: list(draft.trees)):
        rows.extend(_values(table, list(alike), checker))
    for row in rows:
        if row.parent is not None:
            keys = zip(table.inherited, (row.parent.values[c.name] for c in row.parent.table.key), strict=True)
            row.values.update((column.name, value) for column, value in keys)
        if table.position is not None:
            parent = tuple(row.values[column.name] for column in table.inherited)
            numbers[parent] += 1
            row.values[table.position.name] = numbers[parent]
    return [row for row in rows if _check_row(table, row, checker)]


def _values(table: Table, drafts: Rows, checker: SqlChecker) -> Iterator[Draft]:
    """Compute the values of rows that were given the same columns; rows that DuckDB refuses are reported."""
    columns = [column for name in drafts[0].trees if (column := table.column(name))]
    defaults = [column for column in table.columns if column not in columns and column.default is not None]
    given = [*columns, *defaults]
    trees = [[*draft.trees.values(), *(c.default.expression for c in defaults if c.default)] for draft in drafts]
    places = [[draft.place(column.name) for column in given] for draft in drafts]
    computed = constants(trees, [c.type for c in given], checker, places) if given else [()] * len(drafts)
    for draft, values in zip(drafts, computed, strict=True):
        if values is not None and (draft.parent is None or draft.parent.values):
            found = dict(zip((c.name for c in given), values, strict=True))
            draft.values = {column.name: found.get(column.name) for column in table.columns}
            yield draft


def _check_single(table: Table, filled: Rows, item: nodes.World, checker: SqlChecker) -> None:
    """The one row of a single: of its defaults where the world does not say otherwise."""
    for again in filled[1:]:
        related = [Label(filled[0].span, "this is it")]
        checker.report.error("AFS602", f"`{table.name}` has one row", again.span, related=related)
    if filled or any([part.text for part in fill.table] == [table.name] for fill in item.fills):
        return
    missing = [f"`{c.name}`" for c in table.columns if not c.optional and c.default is None]
    if missing:
        message = f"the world must fill `{table.name}`: {', '.join(missing)} has no default"
        checker.report.error("AFS409", message, item.name.span)
        return
    filled.extend(_computed(table, [Draft(table, item.name.span)], checker))


def _check_row(table: Table, row: Draft, checker: SqlChecker) -> bool:
    for column in table.columns:
        value, span = row.values[column.name], row.place(column.name)
        if value is None and not column.optional:
            hint = f"declare `{column.name} {column.type}?`" if not column.key else None
            checker.report.error("AFS601", f"`{column.name}` is never null", span, help=hint)
            return False
        if value is not None and not _holds(column.type, value):
            checker.report.error("AFS601", f"{column.name} = {sql.text(value)} is not of type {column.type}", span)
            return False
        if value is not None and isinstance(column.type, Record | List | Map):
            problem = misfit(column.type, value)
            if problem:
                checker.report.error("AFS601", f"{column.name}{problem}", span)
                return False
    return True


def _holds(type_: Type, value: object) -> bool:
    if isinstance(type_, Enum):
        return value in type_.values
    return not isinstance(type_, Integer) or (isinstance(value, int) and abs(value) <= MAX_INTEGER)


def _check_keys(
    table: Table, filled: Rows, rows: Mapping[str, Rows], tables: Mapping[str, Table], checker: SqlChecker
) -> None:
    """Keys and unique columns stand once; references lead somewhere."""
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
                checker.report.error("AFS602", f"{table.title}: {where} stands twice", span, related=related)
            seen.setdefault(value, span)
    if table.parent is not None and len(table.inherited) > 1:
        _check_parents(table, tables[table.parent], filled, rows[table.parent], checker)
    for tie in table.ties:
        known_keys = {tuple(row.values[column.name] for column in tables[tie.table].key) for row in rows[tie.table]}
        for row in filled:
            held = tuple(row.values[name] for name in tie.columns)
            if None not in held and held not in known_keys:
                where = ", ".join(f"{name} {sql.text(row.values[name])}" for name in tie.columns)
                checker.report.error(
                    "AFS603", f"{table.title}: {where} is no row of `{tables[tie.table].title}`", row.span
                )
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
                checker.report.error("AFS603", message, row.place(column.name), help=hint)


def _check_parents(table: Table, parent: Table, filled: Rows, parents: Rows, checker: SqlChecker) -> None:
    """Each row of a nested table has its row of the table around it, which a key of several columns names."""
    known = {tuple(row.values[column.name] for column in parent.key) for row in parents}
    for row in filled:
        key = tuple(row.values[column.name] for column in table.inherited)
        if key not in known:
            where = ", ".join(f"{c.name} {sql.text(v)}" for c, v in zip(table.inherited, key, strict=True))
            message = f"{table.title}: {where} is no row of `{parent.title}`"
            checker.report.error("AFS603", message, row.place(table.inherited[-1].name))
