"""Rows with those that are nested in them, as results have them."""

from __future__ import annotations

from collections.abc import Mapping

from forgec.model.spec import Table
from forgec.sql.scope import Cell, Row
from forgec_runtime.types import Enum, Field, List, Map, Record, Text, Type


def document(table: Table, tables: Mapping[str, Table]) -> Row:
    """A row of `table` with the rows nested in it, each table in its place; what names a row comes first."""
    first = {column.name: column.cell for column in table.columns if column not in table.own}
    return Row({**first, **_cells(table, tables)}, table=table.name)


def part_docs(table: Table, tables: Mapping[str, Table]) -> dict[str, str]:
    """What the columns of a table, and the tables nested in it, are documented as."""
    docs = {column.name: column.doc for column in table.columns}
    nested = {part: tables.get(f"{table.name}_{part}") for part in table.parts}
    return docs | {part: inner.doc for part, inner in nested.items() if part not in docs and inner is not None}


def _cells(table: Table, tables: Mapping[str, Table]) -> dict[str, Cell]:
    """Its own columns, and the tables nested in it as lists and maps, in the order of the spec."""
    cells: dict[str, Cell] = {}
    for part in table.parts:
        nested = tables.get(f"{table.name}_{part}")
        if part in table.row.columns:
            cells[part] = table.row.columns[part]
        elif nested is not None:
            cells[part] = Cell(_nested(nested, tables))
    return cells


def _nested(table: Table, tables: Mapping[str, Table]) -> Type:
    cells = _cells(table, tables)
    record = Record("", tuple(Field(name, cell.type, cell.optional) for name, cell in cells.items()))
    key = table.key[-1].type
    return Map(key, record) if table.kind == "map" and isinstance(key, Text | Enum) else List(record)
