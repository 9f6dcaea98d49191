"""The files of data that the worlds of a spec are filled from, each read once."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from forgec.files.folder import Folder, NoFile
from forgec.source import Source
from forgec_runtime.data.documents import MAX_BYTES
from forgec_runtime.data.outside import Content, OutsideFile


class DataFiles:
    """Reads files of a spec's folder, and of the sources outside of it that were allowed."""

    def __init__(self, folder: Folder, allowed: Iterable[str] = ()) -> None:
        self.folder = folder
        self.allowed = frozenset(allowed)
        self.digests: dict[str, str] = {}
        """What was read of the folder: the sha256 by path."""
        self._read: dict[str, bytes] = {}
        self._outside: dict[tuple[type[OutsideFile], str], Content] = {}

    def read(self, written: str, file: Source) -> tuple[str, bytes]:
        """A file that a spec names in one of its files: the path that users know it by, and what is in it.

        Raises `NoFile`.
        """
        name = self.folder.find(written, Path(os.path.relpath(file.name, self.folder.path)).as_posix())
        if name not in self._read:
            try:
                data = self.folder.read(name, MAX_BYTES)
            except OSError as error:
                raise NoFile(f"`{written}` cannot be read: {error.strerror}") from None
            self._read[name] = data
            self.digests[name] = hashlib.sha256(data).hexdigest()
        return (self.folder.path / name).as_posix(), self._read[name]

    def outside(self, file: OutsideFile) -> Content | None:
        """What is in a file outside; None where nobody allowed to read it. Raises `LoadError`."""
        if not file.allowed_by(self.allowed):
            return None
        key = type(file), file.label
        if key not in self._outside:
            self._outside[key] = file.read()
        return self._outside[key]
