"""Messages between the process that certifies and the one that plays gold plans again, which are both this program."""

from __future__ import annotations

import pickle
import struct
from typing import IO, Any

_LENGTH = struct.Struct(">Q")


def send(file: IO[bytes], value: Any) -> None:
    """Write one message."""
    data = pickle.dumps(value)
    file.write(_LENGTH.pack(len(data)) + data)
    file.flush()


def receive(file: IO[bytes]) -> Any:
    """The next message. Raises `EOFError` when there is none."""
    head = file.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError("the other process has ended")
    return pickle.loads(file.read(*_LENGTH.unpack(head)))
