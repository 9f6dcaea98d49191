"""What a source holds, before it is fitted to the language: names and types as they are there."""

from __future__ import annotations

from dataclasses import dataclass, field

from forgec.diagnostics import Diagnostic
from forgec.source import Span
from forgec.sql.tree import exp

MAX_POOL = 2_000
"""Rows that are read of a table; those of the world are chosen among them."""

Row = tuple[str | None, ...]
"""The values of a row as text, in the order of the columns; None for NULL."""


class SourceError(Exception):
    """A source that no draft can be made from; the diagnostic says why."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


@dataclass
class FoundColumn:
    """A column; `numbered` when the database makes its values, `span` where it stands in a script."""

    name: str
    type: exp.DataType | None
    nullable: bool = True
    numbered: bool = False
    default: exp.Expr | None = None
    doc: str = ""
    notes: list[str] = field(default_factory=list)
    span: Span | None = None


@dataclass
class FoundReference:
    """Columns that hold the key, or `targets`, of rows of `table`; `note` says how it was guessed."""

    columns: list[str]
    table: str
    targets: list[str]
    note: str = ""


@dataclass
class FoundTable:
    """A table. Names of columns in `key`, `unique` and references are compared without regard to case."""

    name: str
    columns: list[FoundColumn] = field(default_factory=list)
    key: list[str] = field(default_factory=list)
    unique: list[list[str]] = field(default_factory=list)
    references: list[FoundReference] = field(default_factory=list)
    checks: list[exp.Expr] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    count: int = 0
    """How many rows the source has, of which `rows` are the first."""
    doc: str = ""
    notes: list[str] = field(default_factory=list)

    def position(self, name: str) -> int | None:
        """Where the column called `name` stands."""
        wanted = name.lower()
        return next((i for i, column in enumerate(self.columns) if column.name.lower() == wanted), None)

    def column(self, name: str) -> FoundColumn | None:
        position = self.position(name)
        return None if position is None else self.columns[position]


@dataclass
class Found:
    """All that the sources hold; `enums` are the named types of a script."""

    tables: list[FoundTable] = field(default_factory=list)
    enums: dict[str, tuple[str, ...]] = field(default_factory=dict)
    dialect: str = "duckdb"
    path: str = ""
    notes: list[str] = field(default_factory=list)
    warnings: list[Diagnostic] = field(default_factory=list)
