"""A draft: tables that the language can say, and what has to be said about them in comments."""

from __future__ import annotations

from dataclasses import dataclass, field

from forgec.diagnostics import Diagnostic
from forgec_runtime.types import Enum, Type


@dataclass
class DraftColumn:
    """A column of the draft; `notes` become comments. `default` and `checks` are SQL of the language.

    `place` is where the column stands in its source; None for a key that the source has not.
    """

    name: str
    type: Type
    place: int | None = None
    optional: bool = False
    key: bool = False
    unique: bool = False
    serial: bool = False
    references: str | None = None
    default: str | None = None
    checks: list[str] = field(default_factory=list)
    doc: str = ""
    notes: list[str] = field(default_factory=list)


@dataclass
class DraftInvariant:
    name: str
    doc: str
    sql: str


@dataclass
class DraftTable:
    """A table of the draft. `rows` are those of the world, as literals in the order of the columns."""

    name: str
    doc: str
    columns: list[DraftColumn]
    notes: list[str] = field(default_factory=list)
    rows: list[tuple[str | None, ...]] = field(default_factory=list)
    row_notes: list[str] = field(default_factory=list)

    @property
    def key(self) -> list[DraftColumn]:
        return [column for column in self.columns if column.key]


@dataclass
class Draft:
    """What is written as a spec; `warnings` tell what the source has and a spec has not."""

    tables: list[DraftTable] = field(default_factory=list)
    enums: list[Enum] = field(default_factory=list)
    invariants: list[DraftInvariant] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    warnings: list[Diagnostic] = field(default_factory=list)
