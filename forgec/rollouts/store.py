"""Trajectories on file, one a line: written whole as episodes end, read back one by one.

A process that is killed may leave the beginning of a line; whoever goes on with the file cuts it off. Each line that
has an end is whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from forgec.alone import InUseError, Lines
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
        try:
            self._lines = Lines(path)
        except InUseError:
            raise StoreError(f"another run is writing {path}") from None
        except OSError as error:
            raise StoreError(f"{path} cannot be written: {error.strerror}") from None
        if not self._lines.cut_off(BEGINNING):
            self.close()
            raise StoreError(f"{path} is no file of trajectories")

    def add(self, trajectory: Trajectory) -> None:
        """Write a line. Raises `OSError`; what was written of the line is then taken back."""
        self._lines.add(trajectory.line())

    def close(self) -> None:
        self._lines.close()
