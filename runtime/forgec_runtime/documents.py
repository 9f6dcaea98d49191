"""Documents: rows with those that are nested in them.

What an episode has not changed is put together once for all episodes, and written as JSON once. Such a document, or a
part of one, is shared: nobody may change it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from .call import Call
    from .schema import Key, Table

MAX_DOCUMENTS = 10_000
"""Documents kept of a table."""
Under = Callable[["Table[Any]", tuple[Any, ...]], Sequence[Any]]
"""The rows of a nested table that belong to the row around them with this key."""


class Document(dict[str, Any]):
    """A document of a world; `text` is its JSON once somebody has asked for it, and `lists` its nested rows by number,
    those of a list where an episode has changed any.
    """

    __slots__ = ("lists", "text")

    def __init__(self, parts: Mapping[str, Any]) -> None:
        super().__init__(parts)
        self.text: str | None = None
        self.lists: dict[str, dict[Any, Any]] = {}


def document(call: Call, table: Table[Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with those that are nested in it, as the call sees them."""
    if table.parent is not None or not table.nested:
        return _whole(table, row, call.under)
    key = table.key_of(row)
    rows = call.base.rows_of[table.name]
    known = rows.documents.get(key) or _of_the_world(call, table, key)
    if known is None:
        return _whole(table, row, call.under)
    if not call.staged and call.overlay is None:
        return known
    found: dict[str, Any] = known if row is rows.by_key.get(key) else {**known, **row}  # in the order of what is known
    for layer in (call.overlay, call.staged):
        if layer and not table.below.isdisjoint(layer):
            changed = {part.last: now for part in table.nested if (now := _now(call, part, key, known)) is not None}
            return {**found, **changed} if changed else found
    return found


def _now(call: Call, part: Table[Any], key: Key, known: Document) -> Any:
    """The rows of a nested table below a key where an episode has changed any; else None."""
    if part.nested:
        return _nested(part, (key,), call.under) if _is_changed(call, part, key) else None
    changes: dict[Any, Any] = {}
    for layer in (call.overlay, call.staged):
        if layer and part.name in layer:
            for place, row in layer[part.name].items():
                if place[0] == key:
                    changes[place[-1]] = row
    return _amended(part, _at_first(call, part, key, known), changes) if changes else None


def _of_the_world(call: Call, table: Table[Any], key: Key) -> Document | None:
    """The document at the start of an episode, kept for the next; None where there was none."""
    rows = call.base.rows_of[table.name]
    row = rows.by_key.get(key)
    if row is None:
        return None
    known = Document(_whole(table, row, call.under_at_first))
    if len(rows.documents) >= MAX_DOCUMENTS:
        del rows.documents[next(iter(rows.documents))]
    rows.documents[key] = known
    return known


def _is_changed(call: Call, table: Table[Any], first: Any) -> bool:
    """Whether there are changed rows of a nested table, or of those nested in it, below a key."""
    for layer in (call.overlay, call.staged):
        if layer and any(key[0] == first for key in layer.get(table.name, ())):
            return True
    return any(_is_changed(call, inner, first) for inner in table.nested)


def _at_first(call: Call, table: Table[Any], first: Any, known: Document) -> dict[Any, Any]:
    """The rows of a nested table below a key as they were in the world, by the last column of their keys, in order."""
    if table.kind == "map":
        return cast("dict[Any, Any]", known[table.last])
    rows = known.lists.get(table.last)
    if rows is None:
        last = table.key[-1]
        numbers = sorted(row[last] for row in call.under_at_first(table, (first,)))
        rows = known.lists[table.last] = dict(zip(numbers, known[table.last], strict=True))
    return rows


def _amended(table: Table[Any], rows: dict[Any, Any], changes: dict[Any, Any]) -> Any:
    """The rows of a nested table below one key, by the last column of theirs, with what was changed of them."""
    now, more = {**rows}, False
    for last, row in changes.items():
        if row is None:
            now.pop(last, None)
        else:
            more = more or last not in rows
            now[last] = {name: row[name] for name in cast("tuple[str, ...]", table.parts)}
    if more:
        now = {last: now[last] for last in sorted(now)}
    return now if table.kind == "map" else list(now.values())


def _whole(table: Table[Any], row: Mapping[str, Any], under: Under) -> dict[str, Any]:
    named = {name: row[name] for name in table.names if name not in table.parts}
    return {**named, **_parts(table, row, under)}


def _parts(table: Table[Any], row: Mapping[str, Any], under: Under) -> dict[str, Any]:
    if not table.nested:
        return {name: row[name] for name in cast("tuple[str, ...]", table.parts)}
    parts: dict[str, Any] = {}
    for part in table.parts:
        if isinstance(part, str):
            parts[part] = row[part]
        else:
            parts[part.last] = _nested(part, tuple(row[name] for name in table.key), under)
    return parts


def _nested(table: Table[Any], parent: tuple[Any, ...], under: Under) -> Any:
    """The rows of a nested table under one row: a list by number, or a dictionary by key."""
    last = table.key[-1]
    rows = sorted(under(table, parent), key=itemgetter(last))
    if table.kind == "map":
        return {row[last]: _parts(table, row, under) for row in rows}
    return [_parts(table, row, under) for row in rows]
