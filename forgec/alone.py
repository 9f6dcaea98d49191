"""Files that one process at a time works on. The system lets go of them when the process ends, however it does."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class InUseError(Exception):
    """Another process is at work on the file."""


def take(handle: int) -> None:
    """Have an open file to oneself until it is closed. Raises `InUseError`; `OSError` where files cannot be taken."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InUseError from None


@contextmanager
def alone(path: Path, *, make: bool = False) -> Iterator[None]:
    """Have a file to oneself meanwhile, made if it is not there. Raises `InUseError`, `OSError`."""
    handle = _taken(path, os.O_RDWR | os.O_CREAT if make else os.O_RDONLY)
    try:
        yield
    finally:
        os.close(handle)


def _taken(path: Path, how: int) -> int:
    """An open file that is taken, and still the one of this name: whoever had it before may have removed it."""
    while True:
        handle = os.open(path, how | os.O_CLOEXEC, 0o644)
        try:
            take(handle)
            if path.exists() and os.path.samestat(os.fstat(handle), path.stat()):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
