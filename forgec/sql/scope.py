"""What names mean where a piece of SQL stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from forgec.source import Span
from forgec.sql.tree import exp
from forgec_runtime.types import Type

if TYPE_CHECKING:
    from forgec.model.spec import Action, Function, Table, View


EACH = "[]"


@dataclass(frozen=True)
class Claim:
    """What a value, or the part of it at `path`, satisfies: a condition on the bare `value`.

    `EACH` in a path stands for every element of the list there.
    """

    path: tuple[str, ...]
    condition: exp.Expr
    span: Span


@dataclass(frozen=True)
class Cell:
    """A single value: its type, whether it may be NULL, and the table whose key it is, if known.

    Where it is declared, also the name of its domain type, and what it satisfies because of such types. `extent` is how
    many fields a record that a query makes has at least, those of its records included; `copies` of how many texts or
    lists one that a query makes is joined at most.
    """

    type: Type
    optional: bool = False
    references: str | None = None
    domain: str = field(default="", compare=False)
    claims: tuple[Claim, ...] = field(default=(), compare=False)
    extent: int = field(default=1, compare=False)
    copies: int = field(default=1, compare=False)
    seen: Type | None = field(default=None, compare=False)
    """What a column of a query is compared as, where only DuckDB knows its very type."""

    def __deepcopy__(self, _: object) -> Cell:
        """Nothing changes it, and trees are copied with the cells of their nodes, again and again."""
        return self


@dataclass(frozen=True)
class Row:
    """One row. `optional` when there may be none; `table` when it is a whole row of that table."""

    columns: Mapping[str, Cell]
    optional: bool = False
    table: str | None = None


@dataclass(frozen=True)
class Rows:
    """Any number of rows, in order."""

    columns: Mapping[str, Cell]
    table: str | None = None

    def __deepcopy__(self, _: object) -> Rows:
        """As with cells: sources have what their rows are."""
        return self


Shape = Cell | Row | Rows


def table_at(tables: Mapping[str, Table], path: Sequence[str]) -> Table | None:
    """The table that a name, or a path such as `orders.items`, means."""
    table = tables.get("_".join(path))
    return table if table is not None and table.title == ".".join(path) else None


def titles(tables: Mapping[str, Table]) -> dict[str, Table]:
    """The tables by what a spec calls them."""
    return {table.title: table for table in tables.values()}


@dataclass(frozen=True)
class Scope:
    """Tables and functions of the spec, and the values (`$x`) known so far."""

    tables: Mapping[str, Table]
    functions: Mapping[str, Function]
    values: Mapping[str, Shape] = field(default_factory=dict)
    views: Mapping[str, View] = field(default_factory=dict)
    later: frozenset[str] = frozenset()
    """Functions and views that are declared, but not yet known here."""
    actions: Mapping[str, Action] = field(default_factory=dict)
    later_actions: frozenset[str] = frozenset()
    """Actions that are declared, but not yet known here."""
    alone: bool = False
    """Whether no table can be read here, whatever there is."""
    where: str = ""
    """Where the values are known, when the same SQL is read in several places: ` in `rent``."""

    def with_value(self, name: str, shape: Shape) -> Scope:
        return replace(self, values={**self.values, name: shape})
