"""What must hold at the end of a call: unique columns, references, invariants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .errors import Refusal
from .query import Query
from .schema import Column, Key, Table, Tie
from .sql import text

if TYPE_CHECKING:
    from .call import Call


@dataclass(frozen=True)
class Invariant:
    """A condition on the whole state; `doc` is what an agent reads whose call would break it."""

    name: str
    doc: str
    query: Query


Sync = Callable[["Call"], None]
"""Writes what follows from the state that a call leaves behind."""


class Constraints:
    """All constraints of an environment. Only changed rows are looked at, and only queries that can be affected run."""

    def __init__(
        self, tables: Mapping[str, Table[Any]], invariants: tuple[Invariant, ...], syncs: tuple[Sync, ...] = ()
    ) -> None:
        self.tables = tables
        self.syncs = syncs
        """What a call that wrote anything writes besides, in order, before all else is looked at."""
        self.invariants = invariants
        self.order = {name: i for i, name in enumerate(tables)}
        self.watched = {name for invariant in invariants for name in invariant.query.tables}
        """Tables whose changes can break anything that their own checks do not see."""
        self.users: dict[str, list[tuple[Table[Any], Column]]] = {name: [] for name in tables}
        for table in tables.values():
            for column in table.guarded:
                self.watched.add(table.name)
                if column.references is not None:
                    self.watched.add(column.references)
                    if column.name not in table.inherited:  # what is nested goes with its row
                        self.users[column.references].append((table, column))
            if table.parent is not None:
                self.watched.add(table.name)
        self.tied: dict[str, list[tuple[Table[Any], Tie]]] = {name: [] for name in tables}
        for table in tables.values():
            for tie in table.ties:
                self.watched.update((table.name, tie.table))
                self.tied[tie.table].append((table, tie))

    def check(self, call: Call) -> None:
        """Raise `Refusal` for the first constraint that the staged rows of `call` break; suspends like any call."""
        changed: set[str] = set()
        staged = call.staged
        for name in staged if len(staged) == 1 else sorted(staged, key=self.order.__getitem__):
            if name in self.watched and self._check_table(call, self.tables[name], staged[name]):
                changed.add(name)
        for invariant in self.invariants:
            if not changed.isdisjoint(invariant.query.tables) and call.value(invariant.query) is not True:
                raise Refusal(invariant.doc or invariant.name)

    def _check_table(self, call: Call, table: Table[Any], rows: Mapping[Key, Any]) -> bool:
        """Whether any row is not as it was."""
        different = False
        deleted: list[Key] = []
        for key in rows if len(rows) == 1 else sorted(rows):
            row, old = rows[key], call.before(table, key)
            if row is None:
                deleted.extend([key] if old is not None else [])
                different = different or old is not None
                continue
            different = different or row != old
            for column in table.guarded:
                value = row[column.name]
                if value is not None and (old is None or old[column.name] != value):
                    self._check_value(call, table, column, key, value)
            if table.parent is not None and old is None:
                self._check_parent(call, table, self.tables[table.parent], key)
            for tie in table.ties:
                held = tie.key_in(row)
                if None not in held and (old is None or tie.key_in(old) != held):
                    self._check_tie(call, tie, held)
        for key in deleted:
            self._check_unused(call, table, key)
        return different

    def _check_value(self, call: Call, table: Table[Any], column: Column, key: Key, value: Any) -> None:
        if column.unique:
            if any(table.key_of(holder) != key for holder in call.where(table, column.name, value)):
                raise Refusal(f"{table.title}: {column.name} {text(value)} is already taken")
        if column.references is not None and call.find(self.tables[column.references], value) is None:
            raise Refusal(f"Unknown {column.name}: {text(value)}")

    def _check_parent(self, call: Call, table: Table[Any], parent: Table[Any], key: Key) -> None:
        """A nested row belongs to a row; where that has a key of one column, its reference says so already."""
        count = len(parent.key)
        if count > 1 and call.find(parent, key[:count]) is None:
            raise Refusal(f"Unknown {', '.join(table.key[:count])}: {text(key[:count])}")

    def _check_tie(self, call: Call, tie: Tie, key: Key) -> None:
        if call.find(self.tables[tie.table], key) is None:
            raise Refusal(f"Unknown {', '.join(tie.columns)}: {text(key)}")

    def _check_unused(self, call: Call, table: Table[Any], key: Key) -> None:
        for user, column in self.users[table.name]:
            if call.where(user, column.name, key):
                raise Refusal(f"{table.title}: {text(key)} is still used by {user.title}")
        for user, tie in self.tied[table.name]:
            if any(tie.key_in(row) == key for row in call.where(user, tie.columns[0], key[0])):
                raise Refusal(f"{table.title}: {text(key)} is still used by {user.title}")
