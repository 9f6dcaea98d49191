"""Episodes as bytes: what an episode holds beyond its world, to go on from later, elsewhere, or several times.

One line with the format, one with the SHA-256 of the rest, then JSON: where the episode belongs, its task, what it
said and broke, the last keys that the engine made, and the changed rows by table, in the order of their keys, as
values in the order of the columns. Nothing but data is in it: reading one runs nothing, wherever it comes from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import encoding
from .errors import SnapshotError
from .results import from_json, to_bytes
from .schema import Key, Table
from .types import Mismatch

if TYPE_CHECKING:
    from .base import Base
    from .episode import Episode

_MAGIC = b"forgec episode "
_VERSION = b"1"


def written(episode: Episode) -> bytes:
    """The episode as bytes: the same ones for the same state, by whatever calls it came about."""
    base, overlay = episode.base, episode.overlay or {}
    counters = sorted((episode.counters or {}).items())
    changes = {name: _changed(base, base.tables[name], overlay[name]) for name in base.tables if name in overlay}
    content = {
        **base.origin._asdict(),
        "task": episode.task.name if episode.task is not None else None,
        **({"seed": episode.seed} if episode.seed else {}),
        "messages": episode.messages,
        "broken_rules": episode.broken_rules,
        **({"ended": True} if episode.ended else {}),
        **({"noted": episode.noted} if episode.noted else {}),
        "counters": {name: last for name, last in counters if last != base.serials[name]},
        "changes": {name: changed for name, changed in changes.items() if changed},
    }
    try:
        body = to_bytes(content)
    except TypeError:  # all else is checked where it is stored
        raise SnapshotError("the episode cannot be written: a message holds what is no text") from None
    return b"\n".join((_MAGIC + _VERSION, hashlib.sha256(body).hexdigest().encode(), body))


def _changed(base: Base, table: Table[Any], rows: Mapping[Key, Any]) -> dict[str, Any]:
    """The rows that are not the world's, and the keys of those that are gone; empty when there are none."""
    old = base.rows(table, rows)
    changed, gone = [], []
    for key in sorted(rows):
        row, before = rows[key], old.get(key)
        if row is None:
            if before is not None:
                gone.append([encoding.encode(table.types[name], before[name]) for name in table.key])
            continue
        values = _values(table, row)
        if row is not before and (before is None or to_bytes(values) != to_bytes(_values(table, before))):
            changed.append(values)
    return {name: found for name, found in (("rows", changed), ("gone", gone)) if found}


def _values(table: Table[Any], row: Mapping[str, Any]) -> list[Any]:
    return [encoding.encode(column.type, row[column.name]) for column in table.columns]


def start_of(data: bytes, environment: str) -> tuple[str, str | None, int]:
    """The world, the task, if there is one, and its seed of an environment's snapshot. Raises `SnapshotError`."""
    body = _body(data)
    found, world, task = (body.get(field) for field in ("environment", "world", "task"))
    seed = body.get("seed", 0)
    if type(found) is not str or type(world) is not str or not (task is None or type(task) is str):
        raise _damaged()
    if type(seed) is not int:
        raise _damaged()
    if found != environment:
        raise misfit(f"it is of the environment {found}, not of {environment}")
    return world, task, seed


def fill(episode: Episode, data: bytes) -> None:
    """Bring a fresh episode of the same start to where the snapshot was taken. Raises `SnapshotError`."""
    body = _body(data)
    origin = episode.base.origin
    if body.get("schema") != origin.schema:
        raise misfit(f"the tables of {origin.environment} are not those that it was taken with")
    if body.get("rows") != origin.rows:
        raise misfit(f"the rows of the world {origin.world} are not those that it was taken with")
    try:
        _fill(episode, body)
        same = written(episode) == data
    except (ValueError, TypeError, KeyError, AttributeError):
        same = False
    if not same:  # it says what it said before, or it was not written here
        raise _damaged()


def _fill(episode: Episode, body: Mapping[str, Any]) -> None:
    base = episode.base
    for kept, field in ((episode.messages, "messages"), (episode.broken_rules, "broken_rules")):
        kept.extend(body[field])
        if any(type(text) is not str for text in kept):
            raise Mismatch(field)
    for name, last in body["counters"].items():
        if type(last) is not int or last < base.serials[name]:
            raise Mismatch(name)
    episode.counters = dict(body["counters"]) or None
    episode.ended = body.get("ended") is True
    episode.noted = [(tool, arguments) for tool, arguments in body.get("noted", ())] or None
    overlay: dict[str, dict[Key, Any]] = {}
    for name, changed in body["changes"].items():
        table, rows = base.tables[name], overlay.setdefault(name, {})
        for key in changed.get("gone", ()):
            parts = [encoding.decode(table.types[name], part) for name, part in zip(table.key, key, strict=True)]
            rows[parts[0] if len(parts) == 1 else tuple(parts)] = None
        for values in changed.get("rows", ()):
            row = {
                column.name: encoding.decode(column.type, value)
                for column, value in zip(table.columns, values, strict=True)
            }
            if any(row[column.name] is None and not column.optional for column in table.columns):
                raise Mismatch(name)
            rows[table.key_of(row)] = row
    episode.overlay, episode.held = overlay or None, None


def _body(data: bytes) -> dict[str, Any]:
    head, _, rest = data.partition(b"\n")
    if not head.startswith(_MAGIC):
        raise SnapshotError("these bytes are no snapshot of an episode")
    version = head.removeprefix(_MAGIC)
    if version != _VERSION:
        shown = version[:20].decode("ascii", "replace")
        raise SnapshotError(f"the snapshot is of format {shown}; this runtime reads format {_VERSION.decode()}")
    digest, _, body = rest.partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise _damaged()
    try:
        content = from_json(body)
    except ValueError:
        raise _damaged() from None
    if type(content) is not dict:
        raise _damaged()
    return content


def misfit(why: str) -> SnapshotError:
    """The snapshot is sound, but not from here."""
    return SnapshotError(f"the snapshot does not fit: {why}")


def _damaged() -> SnapshotError:
    return SnapshotError("the snapshot is damaged: these are not the bytes that were written")
