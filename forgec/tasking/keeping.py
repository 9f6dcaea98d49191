"""Where made tasks are kept: while they are made, round by round, so that a run that was cut short goes on; and in the
end among the tasks of a file, whose other lines stay as they are.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

MADE = "made"
"""The tag of tasks that were made."""


class Unfinished:
    """A run on its way: a file with a round a line, after a line that says what the run is."""

    def __init__(self, path: Path, run: dict[str, Any]) -> None:
        self.path = path
        self.run = run

    def rounds(self) -> Iterator[dict[str, Any]]:
        """The rounds of this run that are done, one after the other; none if the file is another run's.

        What comes after the last whole one, cut off as it may be, is taken off the file. Raises `OSError`.
        """
        end = 0
        with self.path.open("a+b") as file:
            file.seek(0)
            for number, data in enumerate(file):
                found = _read(data.decode("utf-8", "replace")) if data.endswith(b"\n") else None
                if found is None or (number == 0 and found != self.run):
                    break
                end += len(data)
                if number:
                    yield found
        os.truncate(self.path, end)
        if not end:
            self.add(self.run)

    def add(self, done: Mapping[str, Any]) -> None:
        """A round is done. Raises `OSError`."""
        with self.path.open("ab") as file:
            file.write(_written(done))

    def lines(self) -> Iterator[str]:
        """The tasks of all rounds that are done."""
        with self.path.open(encoding="utf-8", newline="\n") as file:
            next(file)
            for text in file:
                yield from json.loads(text)["lines"]

    def end(self) -> None:
        """The run is done."""
        self.path.unlink(missing_ok=True)


def merged(old: Path, made: Iterable[str], *, replace: bool) -> Iterator[bytes]:
    """The lines of a file of tasks, and those that were made after them; the old ones stay as they are.

    Tasks that were made earlier stay, too, or go where the new ones `replace` them; one that is there is not repeated.
    Raises `OSError`, `UnicodeDecodeError`.
    """
    names: set[str] = set()
    if old.is_file():
        with old.open(encoding="utf-8", newline="") as file:
            for line in (text.rstrip("\r\n") for text in file):
                if line.strip() and not (replace and is_made(line)):
                    names.add(_name(line) or "")
                    yield f"{line}\n".encode()
    for line in made:
        if _name(line) not in names:
            yield f"{line}\n".encode()


def first_foreign(path: Path) -> int | None:
    """The number of the first line of a file that is no task; None where there is none, or no file. Raises `OSError`,
    `UnicodeDecodeError`.
    """
    if not path.is_file():
        return None
    with path.open(encoding="utf-8") as file:
        numbered = enumerate(file, 1)
        return next((number for number, line in numbered if line.strip() and _name(line) is None), None)


def is_made(line: str) -> bool:
    """Whether a line is a task that was made, and not written by hand."""
    task = _read(line)
    return isinstance(task, dict) and MADE in task.get("tags", ())


def _name(line: str) -> str | None:
    task = _read(line)
    return task.get("name") if isinstance(task, dict) else None


def _written(value: Any) -> bytes:
    return (json.dumps(value, sort_keys=True) + "\n").encode()


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
