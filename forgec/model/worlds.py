"""Worlds: rows written in the spec, computed by DuckDB and held to what the tables declare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from forgec.diagnostics import Label, did_you_mean
from forgec.model.spec import Column, Table, World
from forgec.source import Span
from forgec.sql.check import SqlChecker
from forgec.sql.constants import constants
from forgec.sql.scope import Scope
from forgec.sql.tree import exp
from forgec.syntax import nodes
from forgec_runtime import sql
from forgec_runtime.types import MAX_INTEGER, Enum, Integer, Type


@dataclass(frozen=True)
class _Row:
    """A row with its place and those of the values that were written."""

    values: dict[str, Any]
    span: Span
    places: dict[str, Span]

    def place(self, column: str) -> Span:
        return self.places.get(column, self.span)


Rows = list[_Row]


def build_world(item: nodes.World, tables: Mapping[str, Table], checker: SqlChecker, scope: Scope) -> World:
    """The world with its rows by table; rows that break a declaration are reported."""
    rows: dict[str, Rows] = {name: [] for name in tables}
    for fill in item.fills:
        table = tables.get(fill.table.text)
        if table is None:
            hint = did_you_mean(fill.table.text, tables)
            message, label = f"unknown table `{fill.table}`", "not a table of this spec"
            checker.report.error("AFS201", message, fill.table.span, label, help=hint, about=fill.table.text)
            continue
        columns = _fill_columns(fill, table, checker)
        if columns is not None:
            rows[table.name].extend(_fill_rows(fill, table, columns, checker, scope))
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


def _fill_columns(fill: nodes.Fill, table: Table, checker: SqlChecker) -> list[Column] | None:
    columns: list[Column] = []
    for name in fill.columns:
        column = table.column(name.text)
        if column is None:
            hint = did_you_mean(name.text, [c.name for c in table.columns])
            message = f"unknown column `{name}` of `{table.name}`"
            checker.report.error("AFS202", message, name.span, help=hint, about=name.text)
            return None
        if column in columns:
            checker.report.error("AFS208", f"column `{name}` stands twice", name.span)
            return None
        columns.append(column)
    missing = [c.name for c in table.columns if c not in columns and not c.optional and c.default is None]
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        checker.report.error("AFS409", f"rows of `{table.name}` must set {names}", fill.table.span)
        return None
    return columns


def _fill_rows(fill: nodes.Fill, table: Table, columns: list[Column], checker: SqlChecker, scope: Scope) -> Rows:
    defaults = [column for column in table.columns if column not in columns and column.default is not None]
    given = [*columns, *defaults]
    trees: list[list[exp.Expr]] = []
    spans: list[list[Span]] = []
    for text in fill.rows:
        row = checker.row(text, scope, [column.type for column in columns])
        if row is not None:
            trees.append([*(tree for tree, _ in row), *(c.default.expression for c in defaults if c.default)])
            spans.append([*(span for _, span in row), *(text.span for _ in defaults), text.span])
    values = constants(trees, [c.type for c in given], checker, [places[:-1] for places in spans])
    rows: Rows = []
    for places, row_values in zip(spans, values, strict=True):
        if row_values is None:
            continue
        found = dict(zip((c.name for c in given), row_values, strict=True))
        filled = _Row(
            values={column.name: found.get(column.name) for column in table.columns},
            span=places[-1],
            places=dict(zip((c.name for c in given), places, strict=False)),
        )
        if _check_row(table, filled, checker):
            rows.append(filled)
    return rows


def _check_single(table: Table, filled: Rows, item: nodes.World, checker: SqlChecker) -> None:
    """The one row of a single: of its defaults where the world does not say otherwise."""
    for again in filled[1:]:
        related = [Label(filled[0].span, "this is it")]
        checker.report.error("AFS602", f"`{table.name}` has one row", again.span, related=related)
    if filled or any(fill.table.text == table.name for fill in item.fills):
        return
    missing = [f"`{c.name}`" for c in table.columns if not c.optional and c.default is None]
    if missing:
        message = f"the world must fill `{table.name}`: {', '.join(missing)} has no default"
        checker.report.error("AFS409", message, item.name.span)
        return
    columns = [column for column in table.columns if column.default is not None]
    trees = [column.default.expression for column in columns if column.default]
    spans = [item.name.span] * len(columns)
    values = constants([trees], [c.type for c in columns], checker, [spans])[0] if columns else ()
    if values is not None:
        found = dict(zip((c.name for c in columns), values, strict=True))
        row = _Row({column.name: found.get(column.name) for column in table.columns}, item.name.span, {})
        if _check_row(table, row, checker):
            filled.append(row)


def _check_row(table: Table, row: _Row, checker: SqlChecker) -> bool:
    for column in table.columns:
        value, span = row.values[column.name], row.place(column.name)
        if value is None and not column.optional:
            hint = f"declare `{column.name} {column.type}?`" if not column.key else None
            checker.report.error("AFS601", f"`{column.name}` is never null", span, help=hint)
            return False
        if value is not None and not _holds(column.type, value):
            checker.report.error("AFS601", f"{column.name} = {sql.text(value)} is not of type {column.type}", span)
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
                checker.report.error("AFS602", f"{table.name}: {where} stands twice", span, related=related)
            seen.setdefault(value, span)
    for column in table.columns:
        if column.references is None:
            continue
        key = tables[column.references].key[0].name
        known = {row.values[key] for row in rows[column.references]}
        for row in filled:
            value = row.values[column.name]
            if value is not None and value not in known:
                message = f"{table.name}: {column.name} {sql.text(value)} is no row of `{column.references}`"
                hint = did_you_mean(sql.text(value), map(sql.text, known))
                checker.report.error("AFS603", message, row.place(column.name), help=hint)
