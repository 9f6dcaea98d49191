"""What the locks beside specs say of the tasks that a command plays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import click

from forgec.certifying.finding import lock_of_package
from forgec.certifying.lock import Certified, Lock, LockError, Stale, Status, lock_path, read, status
from forgec_runtime import Environment, LoadError

Word = Literal["certified", "stale", "uncertified"]

lock_option = click.option(
    "--lock",
    "lock_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The lock that says which tasks are certified; else the one beside the spec.",
)


class Locks:
    """The locks of environments by their names; an environment without one is not in here."""

    def __init__(self, locks: dict[str, Lock]) -> None:
        self._locks = locks

    @classmethod
    def beside(cls, names: Sequence[str], folders: Sequence[Path], file: Path | None) -> Locks:
        """Those of what was named on the command line, and is compiled in `folders`. Raises `LoadError`."""
        found = {}
        for name, folder in zip(names, folders, strict=True):
            own = lock_path(Path(name).parent, folder.name) if name.endswith(".afs") else lock_of_package(folder)
            path = file or own
            if path is None or not path.is_file():
                if file is not None:
                    raise LoadError(f"there is no lock {file.as_posix()}")
                continue
            try:
                found[folder.name] = read(path)
            except LockError as error:
                raise LoadError(str(error)) from error
        return cls(found)

    def status(self, environment: Environment, task: str) -> Status | None:
        """How a task stands; None where there is no lock."""
        lock, hashes = self._locks.get(environment.name), environment.hashes
        return None if lock is None or hashes is None else status(lock, hashes, task)

    def word(self, environment: Environment, task: str) -> Word | None:
        """The same in a word."""
        return word(self.status(environment, task))


def word(standing: Status | None) -> Word | None:
    """How a task stands, in a word."""
    if standing is None:
        return None
    return "certified" if isinstance(standing, Certified) else "stale" if isinstance(standing, Stale) else "uncertified"
