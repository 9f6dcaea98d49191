"""Worlds: rows written in the spec, computed by DuckDB and held to what the tables declare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forgec.diagnostics import counted, did_you_mean
from forgec.model.spec import Column, Table, World
from forgec.source import Span
from forgec.sql.check import SqlChecker
from forgec.sql.constants import constants
from forgec.sql.scope import Scope
from forgec.sql.tree import exp
from forgec.syntax import nodes
from forgec_runtime.types import MAX_INTEGER, Enum, Integer, Type

Rows = list[tuple[dict[str, Any], Span]]


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
    if not checker.report.failed:
        for name, filled in rows.items():
            _check_keys(tables[name], filled, rows, tables, checker)
    doc = item.doc.value if item.doc else ""
    held = {name: tuple(row for row, _ in filled) for name, filled in rows.items()}
    places = {name: tuple(span for _, span in filled) for name, filled in rows.items()}
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
    trees: list[tuple[list[exp.Expr], Span]] = []
    for text in fill.rows:
        row = checker.row(text, scope, [column.type for column in columns])
        if row is None:
            continue
        if len(row) != len(columns):
            checker.report.error(
                "AFS410", f"{counted(len(columns), 'column')} but {counted(len(row), 'value')}", text.span
            )
            continue
        trees.append(([*row, *(c.default.expression for c in defaults if c.default)], text.span))
    given = [*columns, *defaults]
    values = constants([row for row, _ in trees], [c.type for c in given], checker, [span for _, span in trees])
    rows: Rows = []
    for (_, span), row_values in zip(trees, values, strict=True):
        if row_values is None:
            continue
        found = dict(zip((c.name for c in given), row_values, strict=True))
        row_of_table = {column.name: found.get(column.name) for column in table.columns}
        if _check_row(table, row_of_table, span, checker):
            rows.append((row_of_table, span))
    return rows


def _check_row(table: Table, row: dict[str, Any], span: Span, checker: SqlChecker) -> bool:
    for column in table.columns:
        value = row[column.name]
        if value is None and not column.optional:
            checker.report.error("AFS601", f"`{column.name}` is never null", span)
            return False
        if value is not None and not _holds(column.type, value):
            checker.report.error("AFS601", f"{column.name} = {value!r} is not of type {column.type}", span)
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
    for names in groups:
        seen: dict[object, Span] = {}
        for row, span in filled:
            value = tuple(row[name] for name in names)
            if None in value:
                continue
            if value in seen:
                shown = ", ".join(f"{name} {row[name]}" for name in names)
                checker.report.error("AFS602", f"{table.name}: {shown} stands twice", span)
            seen.setdefault(value, span)
    for column in table.columns:
        if column.references is None:
            continue
        key = tables[column.references].key[0].name
        known = {row[key] for row, _ in rows[column.references]}
        for row, span in filled:
            if row[column.name] is not None and row[column.name] not in known:
                message = f"{table.name}: {column.name} {row[column.name]} is no row of `{column.references}`"
                checker.report.error("AFS603", message, span, help=did_you_mean(str(row[column.name]), map(str, known)))
