"""A project's files, written into a folder: never over what somebody has changed there, unless that is wanted.

Beside them stands a record of what was written. A file that is still as it was made is made anew without asking, and
taken away when an environment has it no more.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath

from forgec.writing import write_whole

RECORD = "made_by_forgec.json"


def in_the_way(folder: Path, files: Mapping[str, bytes]) -> list[str]:
    """The files that are there with contents that were not made here. Raises `OSError`."""
    made = _record(folder)
    return [
        name for name, data in files.items()
        if (path := folder / name).exists() and _digest(path.read_bytes()) not in (_digest(data), made.get(name))
    ]  # fmt: skip


def write(folder: Path, files: Mapping[str, bytes], whole: Iterable[str] = ()) -> tuple[list[str], list[str]]:
    """Write what is not there as it should be. In the folders that are `whole`, files that were made before and are no
    more are taken away, unless they were changed. The files that were written, and those that were taken away. Raises
    `OSError`.
    """
    made = _record(folder)
    inside = tuple(f"{one}/" for one in whole)
    gone = [name for name in made if name not in files and name.startswith(inside)]
    written, removed = [], []
    for name, data in files.items():
        path = folder / name
        if path.is_file() and path.read_bytes() == data:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
        written.append(name)
    for name in gone:
        digest = made.pop(name)
        path = folder / name
        if path.is_file() and _digest(path.read_bytes()) == digest:
            path.unlink()
            removed.append(name)
    made.update((name, _digest(data)) for name, data in files.items())
    record = json.dumps(dict(sorted(made.items())), indent=1).encode() + b"\n"
    if not (folder / RECORD).is_file() or (folder / RECORD).read_bytes() != record:
        write_whole(folder / RECORD, record)
    return written, removed


def _record(folder: Path) -> dict[str, str]:
    """What was made in a folder: paths below it, with hashes. What is no such record is none. Raises `OSError`."""
    found = None
    if (folder / RECORD).is_file():
        with suppress(ValueError, RecursionError):
            found = json.loads((folder / RECORD).read_bytes())
    if not isinstance(found, dict):
        return {}
    return {name: digest for name, digest in found.items() if isinstance(digest, str) and _below(name)}


def _below(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and "\0" not in name


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
