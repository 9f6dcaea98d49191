"""What a row that is made must be, so that its table may hold it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forgec.model.spec import Check, Generate, Table
from forgec.reference.constraints import check_column, failures
from forgec.reference.database import ReferenceDatabase
from forgec.worlds.rows import Columns, Row, Unmade, reason
from forgec_runtime import Refusal, sql
from forgec_runtime.engine import EngineError

Names = tuple[str, ...]


class Constraints:
    """Looks at the rows of one block: whether they fit among those that are there, and among each other.

    That a row refers to one of its own table is seen when the world is whole.
    """

    def __init__(
        self, block: Generate, tables: Mapping[str, Table], database: ReferenceDatabase, columns: Columns
    ) -> None:
        self.block = block
        self.table = table = tables[block.table]
        self.database = database
        self.columns = columns
        key = tuple(column.name for column in table.key)
        unique = [(column.name,) for column in table.columns if column.unique and not column.key]
        self.taken = {names: self._held(table, names) for names in (key, *unique)}
        references = [((c.name,), c.references) for c in table.columns if c.references and not c.inherited]
        known = [*references, *((tie.columns, tie.table) for tie in table.ties)]
        self.known = {
            names: self._held(tables[other], tuple(column.name for column in tables[other].key))
            for names, other in known
            if other != table.name
        }

    def _held(self, table: Table, names: Names) -> set[tuple[Any, ...]]:
        """What the rows of a table hold in some columns, together."""
        return {_part(row, names) for row in self.database.table(table).values()}

    def look(self, rows: Sequence[Row]) -> None:
        """Write down the problem of each row that has one; the others take their keys."""
        for row in rows:
            row.problem = self._misfit(row)
        for column in self.table.columns:
            for check in column.checks:
                self._check(check, [row for row in rows if not row.problem])
        for row in rows:
            row.problem = row.problem or self._unknown(row) or self._take(row)

    def free(self, row: Row) -> None:
        """Give back the keys of a row that had no problem here, and has to go all the same."""
        for names, taken in self.taken.items():
            taken.discard(_part(row.values, names))

    def _misfit(self, row: Row) -> str:
        for column in self.table.columns:
            try:
                check_column(self.table, column, row.values[column.name])
            except Refusal as refusal:
                return str(refusal)
        return ""

    def _check(self, check: Check, rows: Sequence[Row]) -> None:
        try:
            if check.over is None:
                for row, holds in zip(rows, self.columns.holds(check.sql.expression, self.table, rows), strict=True):
                    row.problem = f"{self.table.title}: {check.text}" if holds is False else ""
                return
            for row in rows:
                found = next(failures(check, self.database, {"row": row.values}), None)
                row.problem = f"{self.table.title}: {found}" if found is not None else ""
        except EngineError as error:
            message = f"the check `{check.whole_text}` cannot be computed: {reason(error)}"
            raise Unmade("AFS621", message, self.block.span) from None

    def _unknown(self, row: Row) -> str:
        for names, known in self.known.items():
            part = _part(row.values, names)
            if None not in part and part not in known:
                return f"{self.table.title}: {_said(names, part)} is no row"
        return ""

    def _take(self, row: Row) -> str:
        parts = {names: part for names in self.taken if None not in (part := _part(row.values, names))}
        for names, part in parts.items():
            if part in self.taken[names]:
                return f"{self.table.title}: {_said(names, part)} is already taken"
        for names, part in parts.items():
            self.taken[names].add(part)
        return ""


def _part(row: Mapping[str, Any], names: Names) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)


def _said(names: Names, part: tuple[Any, ...]) -> str:
    return ", ".join(f"{name} {sql.text(value)}" for name, value in zip(names, part, strict=True))
