"""A project's files, written into a folder: never over what somebody has changed there, unless that is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from forgec.writing import write_whole


def in_the_way(folder: Path, files: Mapping[str, bytes]) -> list[str]:
    """The files that are there with other contents. Raises `OSError`."""
    return [name for name, data in files.items() if (path := folder / name).exists() and path.read_bytes() != data]


def write(folder: Path, files: Mapping[str, bytes]) -> list[str]:
    """Write what is not there as it should be; the files that were written. Raises `OSError`."""
    written = []
    for name, data in files.items():
        path = folder / name
        if path.is_file() and path.read_bytes() == data:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
        written.append(name)
    return written
