"""Two sets of rows that name each other by keys of no meaning: are they the same up to renaming, and how best?

The question is one of isomorphism. Colour refinement tells names apart by all that surrounds them; the few that
stay alike are tried one by one. Rows are given as nodes: a shape (the table and all values that have a meaning)
and the names that occur in it, in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

MAX_TRIALS = 400
"""How many pairs the search may try. States that are equal are found by the first trials of each class; what is
still open after so many differs, or is a puzzle that no tool call makes."""


class New(NamedTuple):
    """A key that the engine made in the episode; `table` is the one that made it."""

    table: str
    key: Any


class Node(NamedTuple):
    """One row."""

    shape: int
    names: tuple[New, ...]


Nodes = Sequence[Node]
Renaming = dict[New, New]
_Colours = dict[New, int]
_Pair = tuple[_Colours, _Colours]


def renaming(left: Nodes, right: Nodes) -> Renaming | None:
    """The bijection of names that makes `left` equal to `right`, or None."""
    if Counter(node.shape for node in left) != Counter(node.shape for node in right):
        return None
    return _Search(left, right).run(_plain(left, right))


def likeness(left: Nodes, right: Nodes) -> Renaming:
    """Pairs of names that resemble each other, those with the widest equal surroundings first; not all are paired."""
    pairs: Renaming = {}
    taken: set[New] = set()
    for colours in reversed(list(_rounds(left, right, _plain(left, right)))[1:]):
        for ours, theirs in _classes(colours):
            free = [name for name in ours if name not in pairs]
            wanted = [name for name in theirs if name not in taken]
            pairs.update(zip(free, wanted, strict=False))
            taken.update(wanted[: len(free)])
    return pairs


def _plain(left: Nodes, right: Nodes) -> _Pair:
    """The first colouring: names of one table look alike."""
    tables: dict[str, int] = {}

    def colours(side: Nodes) -> _Colours:
        return {name: tables.setdefault(name.table, len(tables)) for node in side for name in node.names}

    return colours(left), colours(right)


def _rounds(left: Nodes, right: Nodes, colours: _Pair) -> Iterator[_Pair]:
    """Ever finer colourings, from the given one to the one that looking at the neighbours does not refine."""
    count = 0
    while True:
        yield colours
        found = len({*colours[0].values(), *colours[1].values()})
        if found == count:
            return
        count = found
        palette: dict[object, int] = {}
        colours = _finer(left, colours[0], palette), _finer(right, colours[1], palette)


def _finer(nodes: Nodes, colours: _Colours, palette: dict[object, int]) -> _Colours:
    around: dict[New, Counter[object]] = {name: Counter() for name in colours}
    for node in nodes:
        for name in dict.fromkeys(node.names):
            seen = tuple(-1 if other == name else colours[other] for other in node.names)
            around[name][node.shape, seen] += 1
    looks = ((name, (colours[name], frozenset(around[name].items()))) for name in colours)
    return {name: palette.setdefault(look, len(palette)) for name, look in looks}


def _classes(colours: _Pair) -> list[tuple[list[New], list[New]]]:
    """The names of each colour on both sides, in the order of the left side."""
    classes: dict[int, tuple[list[New], list[New]]] = {}
    for side in (0, 1):
        for name, colour in colours[side].items():
            classes.setdefault(colour, ([], []))[side].append(name)
    return list(classes.values())


class _Search:
    """Individualise and refine, with backtracking."""

    def __init__(self, left: Nodes, right: Nodes) -> None:
        self.left, self.right = left, right
        self.wanted = Counter(right)
        self.trials = MAX_TRIALS

    def run(self, colours: _Pair) -> Renaming | None:
        for finer in _rounds(self.left, self.right, colours):
            if Counter(finer[0].values()) != Counter(finer[1].values()):
                return None
            colours = finer
        classes = _classes(colours)
        # alike names are mostly interchangeable: any pairing will do, and the one in order is the likeliest
        guess = {one: other for ours, theirs in classes for one, other in zip(ours, theirs, strict=True)}
        if Counter(Node(n.shape, tuple(guess[name] for name in n.names)) for n in self.left) == self.wanted:
            return guess
        tied = [pair for pair in classes if len(pair[0]) > 1]
        if not tied:
            return None
        ours, theirs = min(tied, key=lambda pair: len(pair[0]))
        for other in theirs:
            if self.trials == 0:
                return None
            self.trials -= 1
            found = self.run(({**colours[0], ours[0]: -1}, {**colours[1], other: -1}))
            if found is not None:
                return found
        return None
