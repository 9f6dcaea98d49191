"""Trajectories on file, one a line: written whole as episodes end, read back one by one.

A process that is killed may leave the beginning of a line; whoever goes on with the file cuts it off. Each line that
has an end is whole.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from forgec.alone import InUseError, take
from forgec.rollouts.trajectory import BEGINNING, Trajectory


class StoreError(ValueError):
    """A file of trajectories that cannot be read, or not be written to."""


def read(path: Path) -> Iterator[Trajectory]:
    """The trajectories of a file, but for a last line that has no end. Raises `StoreError`."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.endswith(b"\n"):
                    yield _parsed(path, number, line)
    except FileNotFoundError:
        raise StoreError(f"there is no file {path}") from None
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror or error}") from None


def _parsed(path: Path, number: int, line: bytes) -> Trajectory:
    try:
        return Trajectory.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        where = f" ({place})" if place else ""
        raise StoreError(f"{path}:{number}: this line is no trajectory: {first['msg']}{where}") from None


class Store:
    """A file that trajectories are added to, by one process at a time."""

    def __init__(self, path: Path) -> None:
        """Open it to go on at its end, making it where it is not there. Raises `StoreError`."""
        self.path = path
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StoreError(f"{path} cannot be written: {error.strerror}") from None
        try:
            take(self._file)
        except InUseError:
            os.close(self._file)
            raise StoreError(f"another run is writing {path}") from None
        except OSError as error:
            os.close(self._file)
            raise StoreError(f"{path} cannot be had alone: {error.strerror}") from None
        self._cut_off()

    def add(self, trajectory: Trajectory) -> None:
        """Write a line. Raises `OSError`; what was written of the line is then taken back."""
        line = trajectory.line()
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

    def _cut_off(self) -> None:
        """Remove what stands behind the last end of a line, if it begins like one of ours. Raises `StoreError`."""
        end = whole = os.fstat(self._file).st_size
        while whole:
            start = max(whole - 2**16, 0)
            newline = os.pread(self._file, whole - start, start).rfind(b"\n")
            whole = start + newline + 1
            if newline >= 0:
                break
        if whole == end:
            return
        if not BEGINNING.startswith(os.pread(self._file, len(BEGINNING), whole)):
            self.close()
            raise StoreError(f"{self.path} is no file of trajectories")
        os.ftruncate(self._file, whole)
