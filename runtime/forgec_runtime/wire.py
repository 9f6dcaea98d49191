"""Messages between the parent and its workers: frames over pipes. Nothing that a worker says is anything but JSON."""

from __future__ import annotations

import datetime
import decimal
import json
import os
import pickle
import select
import time
from math import isfinite
from typing import IO, Any

from .results import from_json, to_bytes

MAX_ANSWER = 1 << 30
"""Bytes of the longest answer that is read from a worker."""

_EXACT = (decimal.Decimal, datetime.date, datetime.time, datetime.timedelta, bytes, str, int, float, bool)


def pack(message: list[Any]) -> bytes:
    """A message for a worker: JSON, or, where JSON cannot hold all of it exactly, a pickle.

    An agent's arguments are what pickles are made from, never pickles themselves. Raises `TypeError` for what is no
    plain value.
    """
    try:
        data = to_bytes(message)
    except TypeError:
        return pickle.dumps(_known(message))
    # what is no number would arrive as null
    return pickle.dumps(_known(message)) if b"null" in data and not _plain(message) else data


def unpack(data: bytes) -> Any:
    """What `pack` packed."""
    return from_json(data) if data.startswith(b"[") else pickle.loads(data)


def answer(message: list[Any]) -> bytes:
    """A message of a worker. Raises `TypeError`."""
    try:
        return to_bytes(message)
    except TypeError:  # such as halves of surrogates, which an agent sent and is told of
        return b" " + json.dumps(message).encode()


def understood(data: bytes) -> Any:
    """What `answer` made. Raises `ValueError` for what it would not have made."""
    return json.loads(data) if data.startswith(b" ") else from_json(data)


def _plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_plain, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_plain, value))
    return not isinstance(value, float) or isfinite(value)


def _known(value: Any) -> Any:
    """The value itself. Raises `TypeError` for what a worker might not have the code of."""
    if isinstance(value, dict):
        for key, part in value.items():
            _known(key)
            _known(part)
    elif isinstance(value, list | tuple | set | frozenset):
        for part in value:
            _known(part)
    elif value is not None and type(value) not in _EXACT and type(value) is not datetime.datetime:
        raise TypeError(f"a value of type {type(value).__name__}")
    return value


# -- the worker's end, which waits as long as it takes -----------------------------------------------------------------


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


# -- the parent's end, which does not ----------------------------------------------------------------------------------


def write_by(pipe: int, data: bytes, moment: float) -> None:
    """Send a message over a pipe that does not block, by a moment of `time.monotonic`.

    Raises `OSError` when nobody reads, `TimeoutError` when nobody has read.
    """
    rest = memoryview(len(data).to_bytes(8, "little") + data)
    while rest:
        try:
            rest = rest[os.write(pipe, rest) :]
        except BlockingIOError:
            _await(pipe, select.POLLOUT, moment)


def read_by(pipe: int, moment: float) -> bytes | None:
    """The one message that comes over a pipe that does not block; None when the other end is gone, or says more.

    Raises `TimeoutError` when it has not come by a moment of `time.monotonic`.
    """
    found = bytearray()
    size = -1
    while len(found) != size + 8:
        try:
            part = os.read(pipe, 1 << 20)
        except BlockingIOError:
            _await(pipe, select.POLLIN, moment)
            continue
        found += part
        if size < 0 and len(found) >= 8:
            size = int.from_bytes(found[:8], "little")
        if not part or size > MAX_ANSWER or (size >= 0 and len(found) > size + 8):
            return None
    return bytes(memoryview(found)[8:])


def _await(pipe: int, event: int, moment: float) -> None:
    poll = select.poll()
    poll.register(pipe, event)
    left = moment - time.monotonic()
    if left <= 0 or not poll.poll(1000 * left + 1):
        raise TimeoutError
