"""SQL, and whatever else has no layout of its own, over several lines.

A line begins where a comment forces one, and where the author began one if that is a sensible place; a line that is
too long is broken at the best places of its lowest depth. Indentation follows from the tokens and the breaks alone,
so that a second run finds the same breaks and changes nothing.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import accumulate

from forgec.formatting.keywords import QUERY_START
from forgec.formatting.leaves import Leaf, spaced, width
from forgec.formatting.page import STEP, WIDTH, Page
from forgec.formatting.places import Place, Rank, closes, find_places, first_word, opens

_TOGETHER = (Rank.SET, Rank.CLAUSE, Rank.PART, Rank.ROW, Rank.BRANCH, Rank.OR, Rank.AND)
"""When a line is broken before one of these it is broken before all of them; other lines are filled."""


@dataclass(frozen=True)
class _Frame:
    """Where lines begin inside a bracket: those that begin a clause, all others, and the one that closes it."""

    clause: int
    other: int
    closing: int


def flow(page: Page, leaves: list[Leaf], indent: int, *, start: int = 0, inline: bool = True, hang: int = 0) -> None:
    """Write a run of tokens, whose line is begun already: on that line if it fits, else over several.

    Its SQL begins at the token `start`. `inline` says that the SQL stands behind something else on its first line, so
    that its other lines stand deeper than `indent`, and by `hang` deeper yet.
    """
    if page.column + width(leaves) <= WIDTH:
        page.put(leaves)
    else:
        _Flow(page, leaves, indent, start, STEP if inline else 0, hang).write()


class _Flow:
    def __init__(self, page: Page, leaves: list[Leaf], indent: int, start: int, inline: int, hang: int) -> None:
        self.page = page
        self.leaves = leaves
        self.start = start
        self.places = find_places(leaves, start)
        self.order = sorted(self.places)
        self.kept = {i for i, place in self.places.items() if leaves[i].broken and not place.nested}
        self.breaks = self.kept | {i for i in range(1, len(leaves)) if leaves[i].own or leaves[i - 1].trail}
        self.kept -= {i for i in self.kept if leaves[i].own or leaves[i - 1].trail}
        self.ends = [0, *accumulate(_width(leaf) for leaf in leaves)]
        query = first_word(leaves, start) in QUERY_START
        clause = indent + hang + inline
        other = clause + STEP if query or not inline else clause
        self.frames = [_Frame(clause, other, indent)]
        self.lead, self.clausal = (clause if query else indent + hang), query
        self.indent = indent

    def write(self) -> None:
        begin, count = 0, len(self.leaves)
        while begin < count:
            end = self._end(begin)
            while self._too_long(begin, end) and self._split(begin, end):
                end = self._end(begin)
            self.page.put(self.leaves[begin:end])
            self._walk(begin, end)
            if end < count:
                self._next_line(end)
            begin = end

    def _end(self, begin: int) -> int:
        end = begin + 1
        while end < len(self.leaves) and end not in self.breaks:
            end += 1
        return end

    def _too_long(self, begin: int, end: int, indent: int | None = None) -> bool:
        used = self.ends[end] - self.ends[begin] - self.leaves[begin].space
        return (self.indent if indent is None else indent) + used > WIDTH

    def _split(self, begin: int, end: int) -> bool:
        """Add breaks to a line that is too long; False when there is no place for one."""
        inside = self._places_between(begin, end)
        others = [i for i in inside if not (self.places[i].rank is Rank.SUBQUERY and i == begin + 1)]
        if not inside:
            return False
        best = min((self.places[i] for i in others or inside), key=_worth)
        group = [i for i in others or inside if self.places[i] == best]
        self.breaks.update(group if best.rank in _TOGETHER else self._filling(group, begin, end))
        return True

    def _places_between(self, begin: int, end: int) -> list[int]:
        return self.order[bisect_right(self.order, begin) : bisect_left(self.order, end)]

    def _filling(self, group: list[int], begin: int, end: int) -> list[int]:
        """Those of some places that break a line as late as possible, and the rest of it again.

        Lines that the author broke at such places are filled together with this one.
        """
        place = self.places[group[0]]
        while end in self.kept and self.places[end] == place:
            self.kept.discard(end)
            self.breaks.discard(end)
            begun, end = end, self._end(end)
            group += [begun, *(i for i in self._places_between(begun, end) if self.places[i] == place)]
        chosen: list[int] = []
        indent = self.indent
        for i, following in zip(group, [*group[1:], end], strict=True):
            if self._too_long(begin, following, indent):
                chosen.append(i)
                begin, indent = i, self.lead + 2 * STEP
        return chosen or group[:1]

    def _walk(self, begin: int, end: int) -> None:
        """Open and close brackets as the tokens of a line do."""
        for i in range(begin, end):
            leaf = self.leaves[i]
            if closes(leaf) and len(self.frames) > 1:
                self.frames.pop()
            if leaf.kind == "CASE":
                closing = self.lead + (STEP if self.clausal else 0)
                self.frames.append(_Frame(closing + STEP, closing + 2 * STEP, closing))
            elif opens(leaf):
                deeper = self.lead + STEP + (STEP if self.clausal and i + 1 < end else 0)
                query = first_word(self.leaves, i + 1) in QUERY_START
                self.frames.append(_Frame(deeper, deeper + STEP if query else deeper, self.lead))

    def _next_line(self, i: int) -> None:
        leaf, frame = self.leaves[i], self.frames[-1]
        place = self.places.get(i)
        self.clausal = place is not None and place.rank in (Rank.SET, Rank.CLAUSE, Rank.PART, Rank.SUBQUERY)
        if closes(leaf):
            self.indent = frame.closing
        elif self.clausal or leaf.word in ("when", "else") or i == self.start:
            self.indent = frame.clause
        else:
            self.indent = frame.other + (STEP if place is not None and place.nested else 0)
        self.lead = self.indent
        self.page.begin(leaf, self.indent, blank=False, hang=self.indent)


def _width(leaf: Leaf) -> int:
    text = spaced(leaf, first=False)
    return len(text) if "\n" not in text else max(map(len, text.split("\n")))


def _worth(place: Place) -> tuple[int, int]:
    return place.depth, place.rank
