"""Where made tasks are kept: while they are made, batch by batch, so that a run that was cut short goes on; and in the
end among the tasks of a file, whose other lines stay as they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from forgec.writing import write_whole

MADE = "made"
"""The tag of tasks that were made."""


class Unfinished:
    """A run on its way: a file with a batch a line, after a line that says what the run is."""

    def __init__(self, path: Path, run: dict[str, Any]) -> None:
        self.path = path
        self.run = run

    def batches(self) -> Iterator[dict[str, Any]]:
        """The batches of this run that are done; none if the file is another run's, or cut off before the first."""
        if not self.path.is_file():
            return
        lines = self.path.read_text(encoding="utf-8").split("\n")
        if not lines or _read(lines[0]) != self.run:
            return
        for text in lines[1:]:
            batch = _read(text)
            if batch is None:
                return
            yield batch

    def begin(self, batches: Iterable[dict[str, Any]]) -> None:
        """Begin the file, with what is done already. Raises `OSError`."""
        lines = [json.dumps(line, sort_keys=True) for line in (self.run, *batches)]
        write_whole(self.path, "".join(f"{line}\n" for line in lines).encode())

    def add(self, batch: dict[str, Any]) -> None:
        """A batch is done. Raises `OSError`."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(batch, sort_keys=True) + "\n")

    def end(self) -> None:
        """The run is done."""
        self.path.unlink(missing_ok=True)


def merged(old: str, made: Iterable[str], *, replace: bool) -> str:
    """The text of a file of tasks with those that were made: after the others, which stay as they are.

    Tasks that were made earlier stay, too, or go where the new ones `replace` them; one that is there is not repeated.
    """
    kept = [line for line in old.splitlines() if line.strip() and not (replace and is_made(line))]
    names = {name for line in kept if (name := _name(line)) is not None}
    new = [line for line in made if _name(line) not in names]
    return "".join(f"{line}\n" for line in [*kept, *new])


def is_made(line: str) -> bool:
    """Whether a line is a task that was made, and not written by hand."""
    task = _read(line)
    return isinstance(task, dict) and MADE in task.get("tags", ())


def _name(line: str) -> str | None:
    task = _read(line)
    return task.get("name") if isinstance(task, dict) else None


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
