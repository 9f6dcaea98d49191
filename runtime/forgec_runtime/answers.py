"""Answers of queries that are kept, for whoever plays alike calls in alike episodes again and again.

An answer depends on the query, its values, and on what the episode changed in the tables that it reads: the rows of a
world never change. What was asked for before, in whichever episode, is not asked for again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from .base import Base
    from .query import Changes, Query
    from .schema import Table

MAX_ROWS = 500_000
"""Rows of answers that are kept; beyond, all are forgotten."""
MAX_NUMBERED = 100_000
"""Values and rows whose numbers are kept."""
MAX_TWINS = 4096
"""Queries whose twins are kept."""

Rows: TypeAlias = list[dict[str, Any]]
Asked: TypeAlias = "tuple[Sequence[Any], Mapping[str, Changes]]"
"""The values of a call, and the changed rows that it sees."""


class Twin(Protocol):
    """Answers a query as DuckDB would, on a world, with values, and with the changed rows that are seen."""

    def __call__(self, base: Base, given: Sequence[Any], seen: Mapping[str, Changes], /) -> Rows | None:
        """None where DuckDB has to be asked."""


Twins: TypeAlias = "Callable[[Query, Mapping[str, Table[Any]]], Twin | None]"
"""Finds the twin of a query over some tables, if it has one."""


class Answers:
    """The answers of one environment. Rows of answers are shared: nobody may change them."""

    def __init__(self, twins: Twins | None = None) -> None:
        self._twins = twins
        self._known: dict[tuple[Any, ...], Twin | None] = {}
        self._found: dict[tuple[Any, ...], dict[tuple[Any, ...], Rows]] = {}
        self._rows = 0
        self._numbers: dict[str, int] = {}
        self._numbered: dict[int, tuple[Any, int]] = {}

    def known(self, base: Base, query: Query, ask: Asked) -> Rows | None:
        """The answer to one ask, where it is kept or computed; None where DuckDB has to be asked."""
        if len(self._numbered) > MAX_NUMBERED or self._rows > MAX_ROWS:
            self._forget()
        place = _place(base, query)
        key = self._key(query, ask)
        rows = self._found.setdefault(place, {}).get(key)
        if rows is None:
            twin = self._twin(base, query, place[1:])
            rows = twin(base, *ask) if twin is not None else None
            if rows is None:
                return None
            self._keep(place, {key: rows})
        return list(rows)

    def of(
        self, base: Base, query: Query, asks: Sequence[Asked], ask: Callable[[Base, Query, list[Asked]], list[Rows]]
    ) -> list[Rows]:
        """The answer to each of `asks`; those that are new are asked for, all at once."""
        answers = [self.known(base, query, one) for one in asks]
        keys = [self._key(query, one) if answer is None else () for one, answer in zip(asks, answers, strict=True)]
        left = {key: one for key, one, answer in zip(keys, asks, answers, strict=True) if answer is None}
        found = dict(zip(left, ask(base, query, list(left.values())), strict=True)) if left else {}
        self._keep(_place(base, query), found)
        return [list(found[key]) if answer is None else answer for key, answer in zip(keys, answers, strict=True)]

    def _keep(self, place: tuple[Any, ...], found: Mapping[tuple[Any, ...], Rows]) -> None:
        self._found.setdefault(place, {}).update(found)
        self._rows += len(found) + sum(map(len, found.values()))

    def _twin(self, base: Base, query: Query, place: tuple[Any, ...]) -> Twin | None:
        if self._twins is None:
            return None
        if place not in self._known:
            if len(self._known) >= MAX_TWINS:
                self._known.clear()
            self._known[place] = self._twins(query, base.tables)
        return self._known[place]

    def _forget(self) -> None:
        self._found.clear()
        self._numbers.clear()
        self._numbered.clear()
        self._rows = 0

    def _key(self, query: Query, ask: Asked) -> tuple[Any, ...]:
        """The same for asks that have the same answer."""
        values, seen = ask
        changed = tuple(
            (name, frozenset((key, self._number(row)) for key, row in changes.items()))
            for name in query.tables
            if (changes := seen.get(name))
        )
        return (changed, *(value if type(value) is str else self._number(value) for value in values))

    def _number(self, value: Any) -> int:
        """The same for equal values of one type; worked out once for each object."""
        known = self._numbered.get(id(value))
        if known is not None and known[0] is value:
            return known[1]
        number = self._numbers.setdefault(repr(value), len(self._numbers))
        self._numbered[id(value)] = value, number
        return number


def _place(base: Base, query: Query) -> tuple[Any, ...]:
    return (base if query.tables else None, query.text, query.values, query.columns, query.order)
