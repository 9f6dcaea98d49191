"""Messages between the parent and its workers: frames of JSON over pipes."""

from __future__ import annotations

import pickle
from math import isfinite
from typing import IO, Any

from .results import from_json, to_bytes


def pack(message: list[Any]) -> bytes:
    """A message as bytes: JSON, or, where JSON cannot hold all of it exactly, a pickle.

    Either end is this program: an agent's arguments are what pickles are made from, never pickles themselves.
    """
    try:
        data = to_bytes(message)
    except TypeError:
        return pickle.dumps(message)
    # what is no number would arrive as null
    return pickle.dumps(message) if b"null" in data and not _plain(message) else data


def unpack(data: bytes) -> Any:
    return from_json(data) if data.startswith(b"[") else pickle.loads(data)


def _plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_plain, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_plain, value))
    return not isinstance(value, float) or isfinite(value)


def send(pipe: IO[bytes], data: bytes) -> None:
    """Raises `OSError` when nobody reads."""
    pipe.write(len(data).to_bytes(8, "little") + data)
    pipe.flush()


def receive(pipe: IO[bytes]) -> bytes | None:
    """The next message; None when the other end is gone."""
    head = pipe.read(8)
    if len(head) < 8:
        return None
    size = int.from_bytes(head, "little")
    data = pipe.read(size)
    return data if len(data) == size else None
