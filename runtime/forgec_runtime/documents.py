"""Documents: rows with those that are nested in them.

What an episode has not changed is put together once for all episodes, and written as JSON once. Such a document, or a
part of one, is shared: nobody may change it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from .call import Call
    from .episode import Overlay
    from .schema import Key, Table

MAX_DOCUMENTS = 10_000
"""Documents kept of a table."""
Under = Callable[["Table[Any]", tuple[Any, ...]], list[Any]]
"""The rows of a nested table that belong to the row around them with this key."""


class Document(dict[str, Any]):
    """A document of a world; `text` is its JSON once somebody has asked for it."""

    __slots__ = ("text",)

    def __init__(self, parts: Mapping[str, Any]) -> None:
        super().__init__(parts)
        self.text: str | None = None


def document(call: Call, table: Table[Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with those that are nested in it, as the call sees them."""
    if table.parent is not None or not table.nested:
        return _whole(table, row, call.under)
    key = table.key_of(row)
    known = call.episode.base.documents[table.name].get(key) or _of_the_world(call, table, key)
    if known is None:
        return _whole(table, row, call.under)
    overlay, staged = call.episode.overlay, call.staged
    if overlay is None and staged is None:
        return known
    changed = [part for part in table.nested if _is_changed(overlay, part, key) or _is_changed(staged, part, key)]
    if not changed and row is call.episode.base.cache[table.name].get(key):
        return known
    found = {**known, **row}  # in the order of what is known
    for part in changed:
        found[part.last] = _nested(part, (key,), call.under)
    return found


def _of_the_world(call: Call, table: Table[Any], key: Key) -> Document | None:
    """The document at the start of an episode, kept for the next; None where there was none."""
    base = call.episode.base
    row = base.cache[table.name].get(key)
    if row is None:
        return None
    known = Document(_whole(table, row, call.under_at_first))
    documents = base.documents[table.name]
    if len(documents) >= MAX_DOCUMENTS:
        del documents[next(iter(documents))]
    documents[key] = known
    return known


def _is_changed(changes: Overlay | None, table: Table[Any], first: Any) -> bool:
    """Whether there are changed rows of a nested table, or of those nested in it, below a key."""
    if changes is None:
        return False
    for key in changes.get(table.name, ()):
        if key[0] == first:
            return True
    return bool(table.nested) and any(_is_changed(changes, inner, first) for inner in table.nested)


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
