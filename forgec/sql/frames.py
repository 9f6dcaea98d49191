"""What a query can see: its sources and those of the queries around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from forgec.sql.scope import Cell
from forgec_runtime.types import Text, Type

Columns = dict[str, Cell]
UNKNOWN: Type = Text()
"""The type of a derived column: only DuckDB knows it, and only DuckDB computes with it."""


class Unresolved(Exception):
    """Raised inside once a name was reported; the fragment is given up."""


@dataclass
class Frame:
    """The sources of one `select`; `outer` is the query around it."""

    sources: dict[str, Columns] = field(default_factory=dict)
    outputs: dict[str, Cell] = field(default_factory=dict)
    outer: Frame | None = None

    def chain(self) -> Iterator[Frame]:
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.outer
