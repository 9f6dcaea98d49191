"""One call of a tool: what generated code reads and writes through."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .constraints import Constraints
from .documents import Document, document
from .episode import Episode, Overlay
from .errors import ENDED_TEXT, Ask, Fault, Fetch, Refusal
from .limits import MAX_HELD, MAX_RESULT, too_long, too_much_held, weight, weight_at_most, weight_of
from .results import Result, to_json
from .schema import Index, Key, Table
from .sql import text

if TYPE_CHECKING:
    from .query import Query
    from .tool import Tool

Row = TypeVar("Row", bound=Mapping[str, Any])
Item = TypeVar("Item")
Found = TypeVar("Found", bound=Mapping[str, Any] | None)


MAX_RUNS = 100
"""How often a call begins again because something was not in memory; after that, it gets what it wants at once."""
MAX_PASSES = 10_000
"""How often the bodies of `each` may run in one call."""
_ABSENT: Any = object()
"""Stands for a row that a dictionary says nothing about: None stands for one that is not there."""
AtOnce = Callable[["Call", Fetch | Ask], list[dict[str, Any]] | None]
"""Fetches what one call wants: rows into the cache, or the answer of a query, which it gives; None where the call has
to wait."""


def _inside(table: Table[Row], rows: Sequence[Row], parent: tuple[Any, ...]) -> Sequence[Row]:
    """Those of the rows below the first key of `parent` that are below all of them."""
    if len(parent) == 1:
        return rows
    inherited = itemgetter(*table.inherited)
    return [row for row in rows if inherited(row) == parent]


def too_many_passes() -> Refusal:
    """What an agent reads whose call goes through too many rows."""
    return Refusal(f"This call would go through more than {MAX_PASSES:,} rows, one by one")


class Call:
    """A call in the making. Its writes are staged and reach the episode when it succeeds.

    What is not in memory suspends the call: `find`, `rows`, `row` and `value` raise, the scheduler fetches the answer
    together with those of all other waiting calls, and the tool's function runs again from its start, finding its
    earlier answers in `answers`. A function is deterministic and its writes are dropped before, so that running it
    again shows nowhere. A call that has begun again too often gets the rest one by one, without being suspended.
    """

    __slots__ = (
        "_asked", "_at_once", "_passes", "answers", "arguments", "base", "broken", "counters", "episode", "index",
        "overlay", "runs", "staged", "tool", "unsure", "weight",
    )  # fmt: skip

    def __init__(self, index: int, episode: Episode, tool: Tool, arguments: Sequence[Any]) -> None:
        self.index = index
        self.episode = episode
        self.base = episode.base
        self.tool = tool
        self.arguments = arguments
        self.answers: list[list[dict[str, Any]]] = []
        self.runs = 0

    @property
    def patient(self) -> bool:
        """Whether the call may still wait for others, and begin again."""
        return self.runs <= MAX_RUNS

    # -- running -----------------------------------------------------------------------------------------------

    def run(self, constraints: Constraints, at_once: AtOnce) -> Result:
        """What the call comes to; its writes are then in the episode. Raises `Suspend`, `Refusal`, `Fault`."""
        episode, tool = self.episode, self.tool
        if episode.ended:
            raise Refusal(ENDED_TEXT)
        # what an earlier run has staged is forgotten
        self.runs += 1
        self._at_once = at_once
        self._asked = self._passes = self.weight = 0
        self.overlay = episode.overlay
        self.staged: Overlay = {}
        self.counters: dict[str, int] | None = None
        self.broken: list[str] = []
        self.unsure = False
        value = tool.function(self, *self.arguments)
        if self.staged:
            for sync in constraints.syncs:
                sync(self)
            if self.unsure or constraints.invariants:
                constraints.check(self)
        # a value that JSON cannot hold must leave no writes behind
        result = Result("ok", self._told(value), value)
        if len(result.text) > MAX_RESULT:
            raise too_long()
        noted = 0
        if episode.task is not None and tool.name in episode.task.watched:
            noted = weight(self.arguments)
        if self.staged or noted:
            self._keep(noted)
            result.changed = True
        if self.broken:
            episode.broken_rules.extend(self.broken)
            result.changed = True
        if noted:
            episode.note(tool, self.arguments)
        if tool.ends:
            episode.ended = result.changed = True
        return result

    def _told(self, value: Any) -> str:
        """What the agent reads."""
        if type(value) is Document and value.text is not None:
            return value.text
        text = to_json(self.tool.told(value) if self.tool.rows else value)
        if type(value) is Document:
            value.text = text
        return text

    def _keep(self, noted: int) -> None:
        """Have the episode hold what was staged, and a call that is noted. Raises `Refusal` for too much."""
        episode, staged, overlay = self.episode, self.staged, self.overlay
        held = MAX_HELD + 1 if episode.held is None else episode.held + self.weight + noted
        for name, rows in staged.items():
            held += self.base.rows_of[name].heaviest * len(rows)
        if held > MAX_HELD:  # so far, it was too much rather than too little
            held = self._held_exactly(noted)
            if held > MAX_HELD:
                raise too_much_held()
        episode.held = held
        if overlay is not None:
            for name, rows in staged.items():
                overlay.setdefault(name, {}).update(rows)
        elif staged:
            episode.overlay = staged
        if self.counters is not None:
            episode.counters = {**(episode.counters or {}), **self.counters}

    def _held_exactly(self, noted: int) -> int:
        """What the episode would hold."""
        staged, overlay = self.staged, self.overlay or {}
        seen = ({**overlay.get(name, {}), **staged.get(name, {})} for name in {**overlay, **staged})
        return noted + sum(weight(arguments) for _, arguments in self.episode.noted or ()) + sum(map(weight_of, seen))

    def _wait(self, wanted: Fetch | Ask) -> list[dict[str, Any]]:
        found = self._at_once(self, wanted)
        if found is None:
            raise wanted
        return found

    def each(self, items: Iterable[Item]) -> Iterator[Item]:
        """The items, one a pass of a loop. Raises `Refusal` when a call makes too many passes in all."""
        for item in items:
            self._passes += 1
            if self._passes > MAX_PASSES:
                raise too_many_passes()
            yield item

    # -- reading -----------------------------------------------------------------------------------------------

    def find(self, table: Table[Row], key: Key) -> Row | None:
        """The row with this key as it is now, or None. A key that is None, or has a None, finds nothing."""
        name = table.name
        rows: dict[Key, Row | None] | None
        if self.staged and (rows := self.staged.get(name)) is not None:
            row = rows.get(key, _ABSENT)
            if row is not _ABSENT:
                return row
        if self.overlay is not None and (rows := self.overlay.get(name)) is not None:
            row = rows.get(key, _ABSENT)
            if row is not _ABSENT:
                return row
        row = self.base.rows_of[name].by_key.get(key, _ABSENT)
        return self._read(table, key) if row is _ABSENT else row

    def single(self, table: Table[Row]) -> Row:
        """The row of a table that has always one, as it is now."""
        return cast("Row", self.find(table, ()))

    def before(self, table: Table[Row], key: Key) -> Row | None:
        """The row with this key as it was when the call came in."""
        if self.overlay is not None:
            rows: dict[Key, Row | None] = self.overlay.get(table.name, {})
            if key in rows:
                return rows[key]
        return self._read(table, key)

    def _read(self, table: Table[Row], key: Key) -> Row | None:
        """The row with this key in the world."""
        known = self.base.rows_of[table.name]
        rows: dict[Key, Row | None] = known.by_key
        if key not in rows:
            if known.whole or key is None or (type(key) is tuple and None in key):
                return None
            self._wait(Fetch(table, [key]))
        return rows[key]

    def _missing(self, table: Table[Any], keys: Iterable[Key]) -> list[Key]:
        """Those of some keys that neither the overlay nor the cache knows."""
        known = self.base.rows_of[table.name]
        if known.whole:
            return []
        seen = self._changed(table.name) or {}
        return [key for key in keys if key not in seen and key not in known.by_key]

    def where(self, table: Table[Row], column: str | Index, value: Any) -> list[Row]:
        """The rows that have a value in a column, as they are now, in no certain order. NULL is no value.

        With an `Index`, the rows of which it makes that value, or those values.
        """
        if value is None or (type(value) is tuple and None in value):
            return []
        rows = self._at_first(table, column, value)
        if not self.staged and self.overlay is None:
            return list(rows)
        changed = self._changed(table.name)
        if not changed:
            return list(rows)
        key_of = table.key_of
        kept = [row for row in rows if key_of(row) not in changed]
        of = itemgetter(column) if type(column) is str else cast("Index", column).of
        kept.extend(row for row in changed.values() if row is not None and of(row) == value)
        return kept

    def _at_first(self, table: Table[Row], column: str | Index, value: Any) -> Sequence[Row]:
        """The rows of the world that have a value in a column."""
        known = self.base.rows_of[table.name]
        index: Mapping[Any, Sequence[Row]] | None
        index = known.indexes.get(column if type(column) is str else cast("Index", column).sql)
        if index is None:
            index = self.base.index(table, column)
        rows = index.get(value)
        if rows is None:
            if known.whole:
                return ()
            self._wait(Fetch(table, [value], column))
            rows = index[value]
        return rows

    def under(self, table: Table[Row], parent: tuple[Any, ...]) -> Sequence[Row]:
        """The rows of a nested table that belong to the row around them with this key, in no certain order."""
        return _inside(table, self.where(table, table.key[0], parent[0]), parent)

    def under_at_first(self, table: Table[Row], parent: tuple[Any, ...]) -> Sequence[Row]:
        """The rows of a nested table that belonged to the row around them with this key at the start."""
        return _inside(table, self._at_first(table, table.key[0], parent[0]), parent)

    def document(self, table: Table[Any], row: Found) -> dict[str, Any] | Found:
        """A row with those that are nested in it, as they are now; None for none."""
        return row if row is None else document(self, table, row)

    def documents(self, table: Table[Any], rows: Iterable[Row]) -> list[dict[str, Any]]:
        """Rows with those that are nested in them."""
        return [document(self, table, row) for row in rows]

    def rows(self, query: Query, *values: Any) -> list[dict[str, Any]]:
        """The rows of a query's answer."""
        if self._asked == len(self.answers):
            self.answers.append(self._wait(Ask(query, values)))
        answer = self.answers[self._asked]
        self._asked += 1
        return answer

    def matches(self, table: Table[Row], query: Query, *values: Any) -> list[tuple[dict[str, Any], Row]]:
        """The rows of a table that a query found by their keys, each with what else the query says of it."""
        found = [(answer, table.key_of(answer)) for answer in self.rows(query, *values)]
        missing = self._missing(table, [key for _, key in found])
        if missing:
            self._wait(Fetch(table, missing))
        return [(answer, cast("Row", self.find(table, key))) for answer, key in found]

    def row(self, query: Query, *values: Any) -> dict[str, Any] | None:
        """The only row of a query's answer, or None. Raises `Fault` when there are more."""
        answer = self.rows(query, *values)
        if len(answer) > 1:
            raise Fault("more than one row")
        return answer[0] if answer else None

    def value(self, query: Query, *values: Any) -> Any:
        """The only value of a query's answer, None when there is no row. Raises `Fault` when there are more."""
        row = self.row(query, *values)
        return None if row is None else row[query.columns[0]]

    def seen(self, names: Sequence[str]) -> dict[str, dict[Key, Any]]:
        """The changed rows of these tables that the call sees."""
        return {name: rows for name in names if (rows := self._changed(name))}

    def _changed(self, name: str) -> dict[Key, Any] | None:
        """The changed rows of a table that the call sees."""
        committed = self.overlay.get(name) if self.overlay is not None else None
        own = self.staged.get(name)
        return {**committed, **own} if committed and own else committed or own

    # -- writing -----------------------------------------------------------------------------------------------

    def insert(self, table: Table[Row], values: Mapping[str, Any]) -> Row:
        """Add a row; a serial key is made here. Raises `Refusal` for a taken key and a row that must not be."""
        if table.makes_keys:
            made = self._free_key(table) if table.keys else self._next_key(table)
            values = {table.key[-1]: made, **values}
        elif (number := table.numbered) is not None:
            parent = tuple([values[name] for name in table.inherited])
            last = max([row[number] for row in self.under(table, parent)], default=0)
            values = {number: last + 1, **values}
        row: Row = {name: values[name] for name in table.names}  # type: ignore[assignment]
        key = table.key_of(row)
        if self.find(table, key) is not None:
            raise self.violation(f"{table.title}: {text(key)} already exists")
        self.unsure = True
        self._stage(table, key, row, weight_at_most(values.values()))
        return row

    def update(self, table: Table[Row], row: Row, changes: Mapping[str, Any]) -> Row:
        """Change columns of a row. Raises `Refusal` for a row that must not be."""
        changed: Row = {**row, **changes}  # type: ignore[assignment]
        if not table.bound.isdisjoint(changes):
            self.unsure = True
        self._stage(table, table.key_of(row), changed, weight_at_most(changes.values()))
        return changed

    def delete(self, table: Table[Row], row: Row) -> None:
        """Remove a row, and those that are nested in it."""
        for nested in table.nested:
            for inner in self.under(nested, tuple(row[name] for name in table.key)):
                self.delete(nested, inner)
        key = table.key_of(row)
        self.unsure = True
        self._stage(table, key, None, weight(key))

    def _stage(self, table: Table[Row], key: Key, row: Row | None, taken: int) -> None:
        if table.check is not None and row is not None:
            table.check(self, row)
        rows = self.staged.get(table.name)
        if rows is None:
            rows = self.staged[table.name] = {}
        rows[key] = row
        self.weight += taken
        if self.weight > MAX_HELD:
            self._weigh_exactly()

    def _weigh_exactly(self) -> None:
        """Count what was staged anew: so far, it may have been too much. Raises `Refusal` for too much."""
        self.weight = sum(map(weight_of, self.staged.values()))
        if self.weight > MAX_HELD:
            raise too_much_held()

    def _next_key(self, table: Table[Any]) -> str | int:
        name = table.name
        last = (self.counters or {}).get(name)
        if last is None:
            last = (self.episode.counters or {}).get(name, self.base.serials[name])
        self.counters = {**(self.counters or {}), name: last + 1}
        return table.serial_key(last + 1)

    def _free_key(self, table: Table[Any]) -> str:
        """The first of the table's keys that no row has. Raises `Refusal` when all are used."""
        missing = self._missing(table, table.keys)
        if missing:
            raise Fetch(table, missing)
        for key in table.keys:
            if self.find(table, key) is None:
                return key
        raise self.violation(f"{table.name}: no key is left")

    def breaks(self, rule: str) -> None:
        """Note that this call breaks an audited rule; it counts if the call succeeds."""
        self.broken.append(rule)

    # -- what generated code raises ------------------------------------------------------------------------------

    def unknown(self, parameter: str, value: Any) -> Refusal:
        """No row has this key."""
        return Refusal(f"Unknown {parameter}: {text(value)}")

    def violation(self, message: str) -> Refusal:
        """A declaration of the schema would be broken."""
        return Refusal(message)
