"""The rows of one world while it is built: its fills are worked off in order, each sees what is there by then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from forgec.model.drafts import Draft
from forgec.model.spec import Column, Table
from forgec.sql.check import SqlChecker
from forgec.sql.constants import constants
from forgec.sql.scope import Scope
from forgec_runtime import sql
from forgec_runtime.sql.columns import misfit
from forgec_runtime.types import MAX_INTEGER, Enum, Integer, Type

Rows = list[Draft]


class Filling:
    """The rows that a world has so far, by table; their values are known, and of the types of their columns."""

    def __init__(self, tables: Mapping[str, Table], checker: SqlChecker, scope: Scope) -> None:
        self.tables = tables
        self.checker = checker
        self.scope = scope
        self.rows: dict[str, Rows] = {name: [] for name in tables}
        self._numbers: Counter[tuple[str, tuple[Any, ...]]] = Counter()

    def add(self, drafts: Iterable[Draft]) -> None:
        """Take in more rows, those nested in others with them; rows that do not fit are reported and left out."""
        by_table: dict[str, Rows] = {}
        for draft in drafts:
            by_table.setdefault(draft.table.name, []).append(draft)
        for name, table in self.tables.items():  # those nested in others come after them
            for row in self._computed(table, by_table.get(name, [])):
                if _fits(table, row, self.checker):
                    self.rows[name].append(row)

    def defaults(self, table: Table) -> dict[str, dict[str, Any]]:
        """What the columns of a table, and of those nested in it, are of which nothing is said; by table."""
        found = {}
        columns = [column for column in table.columns if column.default is not None]
        (values,) = self._constants([Draft(table, table.span)], [], columns)
        if columns and values is not None:
            found[table.name] = dict(zip((column.name for column in columns), values, strict=True))
        for other in self.tables.values():
            if other.parent == table.name:
                found.update(self.defaults(other))
        return found

    def _computed(self, table: Table, drafts: Rows) -> Iterator[Draft]:
        """The rows with their values; those of the table that it is nested in have theirs."""
        for _, alike in groupby(drafts, key=lambda draft: (list(draft.trees), list(draft.given))):
            for row in self._values(table, list(alike)):
                if row.parent is not None:
                    keys = zip(table.inherited, (row.parent.values[c.name] for c in row.parent.table.key), strict=True)
                    row.values.update((column.name, value) for column, value in keys)
                if table.position is not None:
                    place = table.name, tuple(row.values[column.name] for column in table.inherited)
                    self._numbers[place] += 1
                    row.values[table.position.name] = self._numbers[place]
                yield row

    def _values(self, table: Table, drafts: Rows) -> Iterator[Draft]:
        """Compute the values of rows that set the same columns; rows that DuckDB refuses are reported."""
        written = [column for name in drafts[0].trees if (column := table.column(name))]
        unset = [c for c in table.columns if c.name not in drafts[0].trees and c.name not in drafts[0].given]
        defaults = [column for column in unset if column.default is not None]
        computed = self._constants(drafts, written, defaults)
        for draft, values in zip(drafts, computed, strict=True):
            if values is not None and (draft.parent is None or draft.parent.values):
                found = dict(zip((c.name for c in (*written, *defaults)), values, strict=True))
                draft.values = {c.name: found.get(c.name, draft.given.get(c.name)) for c in table.columns}
                yield draft

    def _constants(
        self, drafts: Rows, written: list[Column], defaults: list[Column]
    ) -> Iterable[tuple[Any, ...] | None]:
        columns = [*written, *defaults]
        if not columns:
            return [()] * len(drafts)
        asked = drafts if written else drafts[:1]  # defaults are the same in each row
        trees = [[*draft.trees.values(), *(c.default.expression for c in defaults if c.default)] for draft in asked]
        places = [[draft.place(column.name) for column in columns] for draft in asked]
        found = constants(trees, [column.type for column in columns], self.checker, places)
        return found if written else found * len(drafts)


def _fits(table: Table, row: Draft, checker: SqlChecker) -> bool:
    """Whether each column holds its value; the first one that does not is reported."""
    for column in table.columns:
        value = row.values[column.name]
        problem = _null(column) if value is None else _misfit(column, value)
        if problem is not None:
            message, hint = problem
            checker.report.error("AFS601", message, row.place(column.name), help=hint)
            return False
    return True


def _null(column: Column) -> tuple[str, str | None] | None:
    if column.optional:
        return None
    hint = f"declare `{column.name} {column.type}?`" if not column.key else None
    return f"`{column.name}` is never null", hint


def _misfit(column: Column, value: Any) -> tuple[str, None] | None:
    if not _holds(column.type, value):
        return f"{column.name} = {sql.text(value)} is not of type {column.type}", None
    problem = misfit(column.type, value)
    return (f"{column.name}{problem}", None) if problem else None


def _holds(type_: Type, value: object) -> bool:
    if isinstance(type_, Enum):
        return value in type_.values
    return not isinstance(type_, Integer) or (isinstance(value, int) and abs(value) <= MAX_INTEGER)
