"""States as the comparison sees them: scored columns, canonical values, and names for keys that the engine made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Context, Decimal
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

from .matching import New, Node, Nodes

if TYPE_CHECKING:
    from .schema import Table

Key: TypeAlias = Any
Row: TypeAlias = Mapping[str, Any]
Changes: TypeAlias = Mapping[str, Mapping[Key, Row | None]]
_EXACT = Context(prec=100)
BaseRows: TypeAlias = Callable[[str, Sequence[Key]], Mapping[Key, Row]]
"""The rows of the world, as it was before any call, for those of the keys that it has."""


def canonical(value: Any) -> Any:
    """A hashable stand-in, equal for values that count as equal."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, float):
        # through its shortest text, so that 0.1 equals the exact 0.1
        return Decimal(repr(value)) if isfinite(value) else ("float", repr(value))
    if isinstance(value, Mapping):
        return ("record", *sorted((name, canonical(part)) for name, part in value.items()))
    if isinstance(value, list | tuple):
        return ("list", *(canonical(part) for part in value))
    return value


def _multiset(value: Any) -> Any:
    """`canonical` of a list whose order does not count."""
    found = canonical(value)
    return found if found is None else ("list", *sorted(found[1:], key=_rank))


def _rank(value: Any) -> str:
    """A text for a canonical value, the same for equal ones."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_rank, value))})"
    if isinstance(value, int | Decimal):
        return str(Decimal(value).normalize(_EXACT)) if value else "0"
    return repr(value)


class Layout:
    """A table as the comparison sees it: its key and scored columns, and for each the table that made its values."""

    def __init__(self, table: Table[Any], tables: Mapping[str, Table[Any]]) -> None:
        self.table = table
        self.name = table.name
        self.parent = table.parent
        bag = table.numbered if table.kind == "bag" else None  # where the numbers mean nothing
        self.key = tuple(name for name in table.key if name != bag)
        self.columns = tuple(c.name for c in table.columns if (c.scored and c.name != bag) or c.name in self.key)
        self.makers = tuple(_maker(table, name, tables) for name in self.columns)
        self.canonical = tuple(canonical if c.ordered else _multiset for c in table.columns if c.name in self.columns)
        self.made = self.key[-1] if table.makes_keys else None
        """The column whose new values the engine makes."""
        named = [maker for name, maker in zip(self.columns, self.makers, strict=True) if name in self.key]
        self.fixed = bag is None and (not any(named) if self.made is None else len(self.key) == 1)
        """Whether rows of the world, and all where the engine makes no keys, are the same under any renaming."""

    def cells(self, row: Row, new: set[New]) -> list[Any]:
        return [
            stand_in(row[name]) if maker is None else _named(row[name], maker, new)
            for name, maker, stand_in in zip(self.columns, self.makers, self.canonical, strict=True)
        ]


@lru_cache(maxsize=64)
def layouts_of(tables: tuple[Table[Any], ...]) -> tuple[Layout, ...]:
    """The layouts of an environment's tables."""
    by_name = {table.name: table for table in tables}
    return tuple(Layout(table, by_name) for table in tables)


def _maker(table: Table[Any], column: str, tables: Mapping[str, Table[Any]]) -> str | None:
    """The table with engine-made keys whose keys this column holds, directly or through references."""
    seen: set[tuple[str, str]] = set()
    while (table.name, column) not in seen:
        seen.add((table.name, column))
        if table.makes_keys and column == table.key[-1]:
            return table.name
        place = _place_of(table, column)
        if place is None:
            return None
        target, part = place
        table, column = tables[target], tables[target].key[part]
    return None


def _place_of(table: Table[Any], column: str) -> tuple[str, int] | None:
    """The table to which a column refers, alone or with others, and which part of its key it holds."""
    target = next((c.references for c in table.columns if c.name == column), None)
    if target:
        return target, -1
    return next(((tie.table, tie.columns.index(column)) for tie in table.ties if column in tie.columns), None)


def _named(value: Any, maker: str, new: set[New]) -> Any:
    if isinstance(value, list | tuple):
        return ("list", *(_named(part, maker, new) for part in value))
    name = New(maker, value)
    return name if name in new else canonical(value)


class State:
    """The rows of one state that either side changed."""

    def __init__(
        self, layouts: tuple[Layout, ...], known: Mapping[str, Mapping[Key, Row]], own: Changes, other: Changes
    ):
        self.layouts = layouts
        self.rows: dict[str, dict[Key, Row]] = {}
        self.new: set[New] = set()
        for layout in layouts:
            mine, old = own.get(layout.name, {}), known[layout.name]
            rows = self.rows[layout.name] = {}
            for key in sorted({*mine, *other.get(layout.name, {})}):
                row = mine[key] if key in mine else old.get(key)
                if row is not None:
                    rows[key] = row
                    if layout.made and key not in old:
                        self.new.add(New(layout.name, row[layout.made]))
        self.cells = {
            layout.name: {key: layout.cells(row, self.new) for key, row in self.rows[layout.name].items()}
            for layout in layouts
        }

    def name_of(self, layout: Layout, row: Row) -> New | None:
        """The name of a row whose key the engine made in the episode."""
        name = New(layout.name, row[layout.made]) if layout.made else None
        return name if name in self.new else None

    def nodes(self, shapes: dict[object, int]) -> Nodes:
        """All rows; `shapes` numbers what they are apart from names, alike for both sides."""
        nodes = []
        for table, rows in self.cells.items():
            for cells in rows.values():
                names: list[New] = []
                shape = (table, *(_without_names(cell, names) for cell in cells))
                nodes.append(Node(shapes.setdefault(shape, len(shapes)), tuple(names)))
        return nodes


def _without_names(cell: Any, names: list[New]) -> Any:
    if isinstance(cell, New):
        names.append(cell)
        return ("new", cell.table)
    return tuple(_without_names(part, names) for part in cell) if type(cell) is tuple else cell
