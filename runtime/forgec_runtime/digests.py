"""One digest for all states that count as equal: the changed rows, with the keys that the engine made left nameless.

Each of those keys gets a colour: its table, then, round after round, a hash of the rows that it occurs in, until
looking further tells no more of them apart. A row is then what it holds, with colours in the place of such keys, and
a state is the multiset of its rows.
"""

from __future__ import annotations

import datetime
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from .matching import New
from .results import to_bytes
from .states import Changes, Layout, Row, State, canonical, layouts_of

if TYPE_CHECKING:
    from .base import Base

_EXACT = Context(prec=100)
_Colours = Mapping[New, str]


class _Line(NamedTuple):
    """A row, or the key of one that is gone, as JSON with a place for each name, and the names."""

    shape: str
    names: tuple[New, ...]


def digest(base: Base, changes: Changes) -> str:
    """The digest of a state: see `Episode.digest`."""
    lines = list(_lines(base, changes))
    colours = _refined(lines)
    rows = sorted([line.shape, *(colours[name] for name in line.names)] for line in lines)
    return _hash([list(base.origin), rows])


def _lines(base: Base, changes: Changes) -> Iterator[_Line]:
    """What is otherwise than in the world, by the columns that count."""
    layouts = layouts_of(tuple(base.tables.values()))
    old = {one.name: base.rows(base.tables[one.name], changes.get(one.name, ())) for one in layouts}
    state = State(layouts, old, changes, {})
    for layout in layouts:
        name, before = layout.name, old[layout.name]
        if layout.table.kind == "bag":
            yield from _bag_lines(layout, state, before)
            continue
        for key, cells in state.cells[name].items():
            if key not in before or cells != layout.cells(before[key], set()):
                names: list[New] = []
                yield _Line(_hash([name, [_written(cell, names) for cell in cells]]), tuple(names))
        for key, row in changes.get(name, {}).items():
            if row is None and key in before:
                yield _Line(_hash([name, "gone", _written(canonical(key), [])]), ())


def _bag_lines(layout: Layout, state: State, before: Mapping[Any, Row]) -> Iterator[_Line]:
    """What a bag has more and less of than in the world."""
    now = Counter(tuple(cells) for cells in state.cells[layout.name].values())
    old = Counter(tuple(layout.cells(row, set())) for row in before.values())
    for mark, more in (([], now - old), (["gone"], old - now)):
        for cells in more.elements():
            names: list[New] = []
            written = [_written(cell, names) for cell in cells]
            yield _Line(_hash([layout.name, *mark, written]), tuple(names))


def _refined(lines: Sequence[_Line]) -> _Colours:
    """The names by their colours. The number of rounds follows from the rows, not from how their keys are named."""
    colours = {name: name.table for line in lines for name in line.names}
    count = len(set(colours.values()))
    while count < len(colours):
        around: dict[New, list[list[str]]] = {name: [] for name in colours}
        for line in lines:
            for name in dict.fromkeys(line.names):
                places = ("" if other == name else colours[other] for other in line.names)
                around[name].append([line.shape, *places])
        colours = {name: _hash([colour, sorted(around[name])]) for name, colour in colours.items()}
        found = len(set(colours.values()))
        if found == count:
            break
        count = found
    return colours


def _written(cell: Any, names: list[New]) -> Any:
    """A canonical value as JSON, so that equal ones, and no others, are written alike; names go to `names`."""
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, New):
        names.append(cell)
        return ["new", cell.table]
    if isinstance(cell, tuple):
        return ["parts", *(_written(part, names) for part in cell)]
    if isinstance(cell, bool):
        return ["bool", cell]
    if isinstance(cell, int | Decimal):
        return ["number", str(Decimal(cell).normalize(_EXACT)) if cell else "0"]
    assert isinstance(cell, datetime.date)
    return [type(cell).__name__, cell.isoformat()]


def _hash(value: Any) -> str:
    return hashlib.sha256(to_bytes(value)).hexdigest()
