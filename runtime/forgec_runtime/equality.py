"""When two states are the same, by the schema's own idea of it, and where they differ when they are not.

Unscored columns do not count, numbers are compared by value, texts exactly, and keys that the engine made are
compared up to renaming, together with all references to them.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from .matching import New, Nodes, Renaming, likeness, renaming
from .states import BaseRows, Changes, Key, Layout, Row, State, canonical, layouts_of
from .telling import Difference, Telling, renamed_cell, shown

if TYPE_CHECKING:
    from .schema import Table

MAX_GREEDY = 100
"""How many unlike rows of a table are compared with each other to show them as changed rather than exchanged."""


def differences(tables: tuple[Table[Any], ...], base: BaseRows, actual: Changes, wanted: Changes) -> list[Difference]:
    """What `actual` has otherwise than `wanted`, both changes of the same world; empty when the states are equal."""
    compared = _Compared(tables, base, actual, wanted)
    if compared.equal:
        return []
    left, right, ours, theirs = compared.left, compared.right, compared.ours, compared.theirs
    return Telling(left, right, _best_pairs(left, right, ours, theirs)).differences()


def equal(tables: tuple[Table[Any], ...], base: BaseRows, actual: Changes, wanted: Changes) -> bool:
    """Whether there are no `differences`, without working out what they would be."""
    layouts = layouts_of(tables)
    sides = [(one, actual.get(one.name, {}), wanted.get(one.name, {})) for one in layouts]
    if any(_differs(one, _known(one, base, *both), *both) for one, *both in sides if one.fixed):
        return False
    return _Compared(tables, base, actual, wanted).equal


def plainly_equal(tables: tuple[Table[Any], ...], actual: Changes, wanted: Changes) -> bool:
    """Whether two changes have equal rows under equal keys, which is seen at once; others may be `equal`, too."""
    return all(_plainly_equal(one, actual.get(one.name, {}), wanted.get(one.name, {})) for one in layouts_of(tables))


class _Compared:
    """Two states beside each other, as far as it takes to tell whether they are equal."""

    def __init__(self, tables: tuple[Table[Any], ...], base: BaseRows, actual: Changes, wanted: Changes) -> None:
        layouts = layouts_of(tables)
        self.equal = plainly_equal(tables, actual, wanted)
        if self.equal:
            return
        known = {one.name: _known(one, base, actual.get(one.name, {}), wanted.get(one.name, {})) for one in layouts}
        self.left, self.right = State(layouts, known, actual, wanted), State(layouts, known, wanted, actual)
        shapes: dict[object, int] = {}
        self.ours, self.theirs = self.left.nodes(shapes), self.right.nodes(shapes)
        self.equal = renaming(self.ours, self.theirs) is not None


_SIMPLE = {str, int, float, bool, Decimal, datetime.date, datetime.datetime}


def _plainly_equal(layout: Layout, actual: Mapping[Key, Any], wanted: Mapping[Key, Any]) -> bool:
    """Whether the changed rows are equal under the names that they have; what is not may still be equal otherwise."""
    if actual.keys() != wanted.keys():
        return False
    for key, row in actual.items():
        other = wanted[key]
        if row is other:
            continue
        if row is None or other is None:
            return False
        for column in layout.columns:
            has, should = row[column], other[column]
            if has is should:
                continue
            if type(has) is not type(should) or has != should:
                return False
            if type(has) not in _SIMPLE and canonical(has) != canonical(should):  # inside, 1 might stand for true
                return False
    return True


def _differs(layout: Layout, known: Mapping[Key, Row], actual: Mapping[Key, Any], wanted: Mapping[Key, Any]) -> bool:
    """Whether rows that no renaming touches are unequal, as most unequal states have them: those of the world, and all
    where the engine makes no keys. Where it does, as many rows have to be new on either side.
    """
    new = 0
    for key in {**actual, **wanted}:
        if layout.made and key not in known:
            new += (actual.get(key) is not None) - (wanted.get(key) is not None)
            continue
        row = actual[key] if key in actual else known.get(key)
        other = wanted[key] if key in wanted else known.get(key)
        if row is other:
            continue
        if row is None or other is None or _another(layout, row, other):
            return True
    return new != 0


def _another(layout: Layout, row: Row, other: Row) -> bool:
    """Whether two rows are unequal in a column that holds no keys which the engine makes."""
    columns = zip(layout.columns, layout.makers, layout.canonical, strict=True)
    return any(
        maker is None and row[name] is not other[name] and stand_in(row[name]) != stand_in(other[name])
        for name, maker, stand_in in columns
    )


def _known(layout: Layout, base: BaseRows, actual: Mapping[Key, Any], wanted: Mapping[Key, Any]) -> Mapping[Key, Row]:
    """The world's rows that matter: those that one side did not touch, and those that tell old keys from new ones."""
    keys = {*actual, *wanted} if layout.made else actual.keys() ^ wanted.keys()
    return base(layout.name, sorted(keys)) if keys else {}


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
        renamed = [renamed_cell(cell, pairs) for cell in cells]
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


__all__ = ["Difference", "differences", "shown"]
