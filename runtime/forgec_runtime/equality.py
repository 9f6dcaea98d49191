"""When two states are the same, by the schema's own idea of it, and where they differ when they are not.

Unscored columns do not count, numbers are compared by value, texts exactly, and keys that the engine made are
compared up to renaming, together with all references to them.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from typing import Literal as OneOf

from .matching import New, Nodes, Renaming, likeness, renaming
from .sql import text
from .states import BaseRows, Changes, Key, Layout, Row, State, canonical, layouts_of

if TYPE_CHECKING:
    from .schema import Table

MAX_GREEDY = 100
"""How many unlike rows of a table are compared with each other to show them as changed rather than exchanged."""


@dataclass(frozen=True)
class Difference:
    """One row that is not as it should be. `columns`: each unequal column, the value it has and the value wanted.

    `key` and `row` are those of the state under judgement; of a missing row they are the wanted ones.
    """

    kind: OneOf["changed", "extra", "missing"]
    table: str
    key: Key
    row: Row
    columns: tuple[tuple[str, Any, Any], ...] = ()

    @property
    def text(self) -> str:
        if self.kind == "extra":
            return f"{self.table}: one row too many: {shown(self.row)}"
        if self.kind == "missing":
            return f"{self.table}: a row is missing: {shown(self.row)}"
        columns = "; ".join(f"{name} is {shown(has)}, should be {shown(wanted)}" for name, has, wanted in self.columns)
        return f"{f'{self.table} {_key_text(self.key)}'.rstrip()}: {columns}"


def differences(tables: tuple[Table[Any], ...], base: BaseRows, actual: Changes, wanted: Changes) -> list[Difference]:
    """What `actual` has otherwise than `wanted`, both changes of the same world; empty when the states are equal."""
    layouts = layouts_of(tables)
    if all(_plainly_equal(one, actual.get(one.name, {}), wanted.get(one.name, {})) for one in layouts):
        return []
    known = {one.name: _known(one, base, actual.get(one.name, {}), wanted.get(one.name, {})) for one in layouts}
    left, right = State(layouts, known, actual, wanted), State(layouts, known, wanted, actual)
    shapes: dict[object, int] = {}
    ours, theirs = left.nodes(shapes), right.nodes(shapes)
    if renaming(ours, theirs) is not None:
        return []
    pairs = _best_pairs(left, right, ours, theirs)
    return [one for layout in layouts for one in _compare(layout, left, right, pairs)]


_SIMPLE = {str, int, float, bool, Decimal, datetime.date, datetime.datetime}


def _plainly_equal(layout: Layout, actual: Mapping[Key, Any], wanted: Mapping[Key, Any]) -> bool:
    """Whether the changed rows are equal under the names that they have; what is not may still be equal otherwise."""
    if actual.keys() != wanted.keys():
        return False
    for key, row in actual.items():
        other = wanted[key]
        if row is None or other is None:
            if row is not other:
                return False
            continue
        for column in layout.columns:
            has, should = row[column], other[column]
            if has is should:
                continue
            if type(has) is not type(should) or has != should:
                return False
            if type(has) not in _SIMPLE and canonical(has) != canonical(should):  # inside, 1 might stand for true
                return False
    return True


def _known(layout: Layout, base: BaseRows, actual: Mapping[Key, Any], wanted: Mapping[Key, Any]) -> Mapping[Key, Row]:
    """The world's rows that matter: those that one side did not touch, and those that tell old keys from new ones."""
    keys = {*actual, *wanted} if layout.made else actual.keys() ^ wanted.keys()
    return base(layout.name, sorted(keys)) if keys else {}


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


def _best_pairs(left: State, right: State, ours: Nodes, theirs: Nodes) -> Renaming:
    """The renaming under which the states are told apart: equal surroundings first, then most equal columns."""
    pairs = likeness(ours, theirs)
    for layout in left.layouts:
        if layout.made:
            taken = set(pairs.values())
            mine = {name: cells for name, cells in _made(layout, left) if name not in pairs}
            others = {name: cells for name, cells in _made(layout, right) if name not in taken}
            _pair_greedily(layout, mine, others, pairs)
    return pairs


def _made(layout: Layout, side: State) -> list[tuple[New, list[Any]]]:
    names = ((side.name_of(layout, row), key) for key, row in side.rows[layout.name].items())
    return [(name, side.cells[layout.name][key]) for name, key in names if name is not None]


def _pair_greedily(layout: Layout, mine: dict[New, Any], others: dict[New, Any], pairs: Renaming) -> None:
    scores = []
    for row, (one, cells) in enumerate(list(mine.items())[:MAX_GREEDY]):
        renamed = [_renamed(cell, pairs) for cell in cells]
        for column, (other, wanted) in enumerate(list(others.items())[:MAX_GREEDY]):
            equal = sum(
                has == should
                for name, has, should in zip(layout.columns, renamed, wanted, strict=True)
                if name not in layout.key
            )
            if equal or len(layout.columns) == len(layout.key):
                scores.append((-equal, row, column, one, other))
    taken: set[New] = set()
    for _, _, _, one, other in sorted(scores, key=lambda score: score[:3]):
        if one not in pairs and other not in taken:
            pairs[one] = other
            taken.add(other)


def _renamed(cell: Any, pairs: Renaming) -> Any:
    if isinstance(cell, New):
        return pairs.get(cell, ("unpaired", cell))
    return tuple(_renamed(part, pairs) for part in cell) if type(cell) is tuple else cell


def _compare(layout: Layout, left: State, right: State, pairs: Renaming) -> list[Difference]:
    """The differences of one table: rows in the order of their keys, then what is missing."""
    back = {theirs: ours for ours, theirs in pairs.items()}
    found: list[Difference] = []
    waiting = {_identity(layout, cells): key for key, cells in right.cells[layout.name].items()}
    for key, cells in left.cells[layout.name].items():
        renamed = [_renamed(cell, pairs) for cell in cells]
        row, partner = left.rows[layout.name][key], waiting.pop(_identity(layout, renamed), None)
        if partner is None:
            found.append(Difference("extra", layout.name, key, {name: row[name] for name in layout.columns}))
            continue
        wanted = _told(layout, right, partner, back)
        columns = tuple(
            (name, row[name], wanted[name])
            for name, has, should in zip(layout.columns, renamed, right.cells[layout.name][partner], strict=True)
            if has != should
        )
        if columns:
            found.append(Difference("changed", layout.name, key, row, columns))
    for key in waiting.values():
        told = _told(layout, right, key, back)
        if layout.made and right.name_of(layout, right.rows[layout.name][key]):
            del told[layout.made]  # gold's own name for it means nothing to the reader
        found.append(Difference("missing", layout.name, key, told))
    return found


def _identity(layout: Layout, cells: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(cell for name, cell in zip(layout.columns, cells, strict=True) if name in layout.key)


def _told(layout: Layout, side: State, key: Key, back: Renaming) -> dict[str, Any]:
    """A wanted row in the other side's names: a reason must not speak of keys that the reader never saw."""

    def own(value: Any, maker: str | None) -> Any:
        if maker is not None and isinstance(value, list | tuple):
            return [own(part, maker) for part in value]
        name = New(maker or "", value) if maker is not None else None
        if name is None or name not in side.new:
            return value
        return back[name].key if name in back else f"the key of a missing row of {name.table}"

    row = side.rows[layout.name][key]
    return {name: own(row[name], maker) for name, maker in zip(layout.columns, layout.makers, strict=True)}
