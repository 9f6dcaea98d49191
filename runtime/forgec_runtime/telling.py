"""What two states differ in, row by row, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from typing import Literal as OneOf

from .matching import New, Renaming
from .sql import text
from .states import Key, Layout, Row, State

if TYPE_CHECKING:
    from .schema import Table


@dataclass(frozen=True)
class Difference:
    """One row that is not as it should be. `columns`: each unequal column, the value it has and the value wanted.

    `key` and `row` are those of the state under judgement; of a missing row they are the wanted ones. A row has with
    it what is nested in it, and `place` says where one lies that is nested itself.
    """

    kind: OneOf["changed", "extra", "missing"]
    table: str
    key: Key
    row: Row
    columns: tuple[tuple[str, Any, Any], ...] = ()
    place: str = ""

    @property
    def text(self) -> str:
        if self.kind == "extra":
            return f"{self.place or self.table}: one row too many: {shown(self.row)}"
        if self.kind == "missing":
            return f"{self.place or self.table}: a row is missing: {shown(self.row)}"
        columns = "; ".join(f"{name} is {shown(has)}, should be {shown(wanted)}" for name, has, wanted in self.columns)
        return f"{self.place or f'{self.table} {_key_text(self.key)}'.rstrip()}: {columns}"


def shown(value: Any) -> str:
    """A value as a reason names it."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {shown(part)}" for name, part in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(shown(part) for part in value) + "]"
    return text(value) or "''"


def _key_text(key: Key) -> str:
    return ", ".join(shown(part) for part in (key if isinstance(key, tuple) else (key,)))


def renamed_cell(cell: Any, pairs: Renaming) -> Any:
    """A cell with its names exchanged for those of the other side."""
    if isinstance(cell, New):
        return pairs.get(cell, ("unpaired", cell))
    return tuple(renamed_cell(part, pairs) for part in cell) if type(cell) is tuple else cell


class Telling:
    """Tells what the `left` state has otherwise than the `right` one, names paired as they resemble each other best.

    What is nested in a row that only one side has is told with that row.
    """

    def __init__(self, left: State, right: State, pairs: Renaming) -> None:
        self.left = left
        self.right = right
        self.pairs = pairs
        self.back = {theirs: ours for ours, theirs in pairs.items()}
        self.layouts = {layout.name: layout for layout in left.layouts}
        self.alone: set[tuple[str, str, Key]] = set()
        """The rows that one side has: its kind of difference, table and key."""

    def differences(self) -> list[Difference]:
        """Table by table: rows in the order of their keys, then what is missing."""
        return [one for layout in self.layouts.values() for one in self._table(layout)]

    def _table(self, layout: Layout) -> list[Difference]:
        left, right, found = self.left, self.right, list[Difference]()
        renamed = {
            key: [renamed_cell(cell, self.pairs) for cell in cells] for key, cells in left.cells[layout.name].items()
        }
        waiting = {identity: key for key, identity in _identities(layout, right.cells[layout.name]).items()}
        for key, identity in _identities(layout, renamed).items():
            row, partner = left.rows[layout.name][key], waiting.pop(identity, None)
            if partner is None:
                found.extend(self._alone("extra", layout, key, row))
                continue
            wanted = self._told(layout, partner)
            columns = tuple(
                (name, row[name], wanted[name])
                for name, has, should in zip(
                    layout.columns, renamed[key], right.cells[layout.name][partner], strict=True
                )
                if has != should
            )
            if columns:
                found.append(Difference("changed", layout.table.title, key, row, columns, self._place(layout, row)))
        for key in waiting.values():
            found.extend(self._alone("missing", layout, key, self._told(layout, key)))
        return found

    def _alone(self, kind: OneOf["extra", "missing"], layout: Layout, key: Key, row: Row) -> list[Difference]:
        """The difference that a row is which one side has alone; none when it lies in such a row."""
        self.alone.add((kind, layout.name, key))
        side = self.left if kind == "extra" else self.right
        around = _around(layout.table, side.rows[layout.name][key])
        if (kind, layout.parent, around) in self.alone:
            return []
        whole = self._document(side, layout, key)
        if kind == "missing" and layout.made and side.name_of(layout, side.rows[layout.name][key]):
            del whole[layout.made]  # gold's own name for it means nothing to the reader
        return [Difference(kind, layout.table.title, key, whole, place=self._place(layout, row))]

    def _document(self, side: State, layout: Layout, key: Key) -> dict[str, Any]:
        """A row by the columns that count, with what is nested in it."""
        table, row = layout.table, self._own(side, layout, key)
        if table.parent is None and not table.nested:
            return row
        whole = {name: value for name, value in row.items() if table.parent is None and name not in table.parts}
        for part in table.parts:
            if isinstance(part, str):
                whole.update({part: row[part]} if part in row else {})
                continue
            inner = {
                other: self._document(side, self.layouts[part.name], other)
                for other, one in side.rows[part.name].items()
                if _around(part, one) == key
            }
            if inner:
                by_key = {other[-1]: one for other, one in inner.items()}
                whole[part.last] = by_key if part.kind == "map" else list(inner.values())
        return whole

    def _own(self, side: State, layout: Layout, key: Key) -> dict[str, Any]:
        if side is self.right:
            return self._told(layout, key)
        row = side.rows[layout.name][key]
        return {name: row[name] for name in layout.columns}

    def _told(self, layout: Layout, key: Key) -> dict[str, Any]:
        """A wanted row in the left side's names: a reason must not speak of keys that the reader never saw."""

        def own(value: Any, maker: str | None) -> Any:
            if maker is not None and isinstance(value, list | tuple):
                return [own(part, maker) for part in value]
            name = New(maker or "", value) if maker is not None else None
            if name is None or name not in self.right.new:
                return value
            back = self.back.get(name)
            return back.key if back is not None else f"the key of a missing row of {name.table}"

        row = self.right.rows[layout.name][key]
        return {name: own(row[name], maker) for name, maker in zip(layout.columns, layout.makers, strict=True)}

    def _place(self, layout: Layout, row: Row) -> str:
        """Where a row lies that is nested: the row around all, then step by step."""
        chain: list[Table[Any]] = []
        table = layout.table
        while table.parent is not None:
            chain.insert(0, table)
            table = self.layouts[table.parent].table
        if not chain:
            return ""
        outer, inner = layout.table.key[: len(table.key)], layout.table.key[len(table.key) :]
        steps = [f"{table.title} {_key_text(tuple(row[name] for name in outer))}"]
        for nested, name in zip(chain, inner, strict=True):
            steps.append(nested.last if nested.kind == "bag" else f"{nested.last}[{shown(row[name])}]")
        return ": ".join(steps)


def _around(table: Table[Any], row: Row) -> Key:
    """The key of the row that a nested one lies in."""
    key = tuple(row[name] for name in table.inherited)
    return key[0] if len(key) == 1 else key


def _identities(layout: Layout, rows: Mapping[Key, Sequence[Any]]) -> dict[Key, Any]:
    """What each row is paired by: its key; in a bag, all that it has, and how many before it have the same."""
    is_key = [name in layout.key for name in layout.columns]
    if layout.table.kind != "bag":
        return {key: tuple(c for c, one in zip(cells, is_key, strict=True) if one) for key, cells in rows.items()}
    seen: Counter[tuple[Any, ...]] = Counter()
    found: dict[Key, Any] = {}
    for key, cells in rows.items():
        seen[tuple(cells)] += 1
        found[key] = (tuple(cells), seen[tuple(cells)])
    return found
