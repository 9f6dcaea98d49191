"""Files that one process at a time works on. The system lets go of them when the process ends, however it does."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
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


class Lines:
    """A file that lines are added to: each is written whole or not at all."""

    def __init__(self, path: Path) -> None:
        """Open it to go on at its end, made if it is not there. Raises `InUseError`, `OSError`."""
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            if not stat.S_ISREG(os.fstat(self._file).st_mode):  # a device or a pipe may never come to its end
                raise OSError(errno.EINVAL, "Not a regular file", str(path))
            take(self._file)
        except BaseException:
            self.close()
            raise

    def cut_off(self, beginning: bytes) -> bool:
        """Remove what stands behind the last end of a line, as a process that was killed may leave it. False where it
        does not begin as our lines do: then it is left alone.
        """
        end = whole = os.fstat(self._file).st_size
        while whole:
            start = max(whole - 2**16, 0)
            newline = os.pread(self._file, whole - start, start).rfind(b"\n")
            whole = start + newline + 1
            if newline >= 0:
                break
        if not beginning.startswith(os.pread(self._file, len(beginning), whole)):
            return False
        if whole < end:
            os.ftruncate(self._file, whole)
        return True

    def add(self, line: bytes) -> None:
        """Write a line with its end. Raises `OSError`; what was written of it is then taken back."""
        at = os.fstat(self._file).st_size
        written = 0
        try:
            while written < len(line):
                written += os.write(self._file, line[written:])
        except OSError:
            os.ftruncate(self._file, at)
            raise

    def close(self) -> None:
        os.close(self._file)


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
