"""The folder of an environment: specs name files by their paths in it, and can name no other."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from forgec.diagnostics import did_you_mean


class NoFile(Exception):
    """A path that leads to no file of the folder: what is the matter with it, and perhaps what was meant."""

    def __init__(self, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.help = help


@dataclass(frozen=True)
class Folder:
    """The folder that an environment lies in, under the path that users know it by."""

    path: Path

    def find(self, written: str, beside: str = "") -> str:
        """The path, inside the folder, of a file that a spec names in its file `beside`.

        Raises `NoFile` unless it is a regular file in the folder, after all links were followed.
        """
        name = _inside(written, beside)
        place = self.path / name
        try:
            found = place.stat()
        except (FileNotFoundError, NotADirectoryError):
            raise NoFile(f"there is no file `{written}` beside this one", self._near(name, written)) from None
        except OSError as error:
            raise NoFile(f"`{written}` cannot be read: {error.strerror}") from None
        if not Path(os.path.realpath(place)).is_relative_to(os.path.realpath(self.path)):
            raise NoFile(f"`{written}` is a link that leads out of the folder of the spec")
        if not stat.S_ISREG(found.st_mode):
            raise NoFile(f"`{written}` is no file" + (", but a folder" if stat.S_ISDIR(found.st_mode) else ""))
        return name

    def read(self, name: str, limit: int) -> bytes:
        """What is in a file of the folder: at most `limit` bytes and one more. Raises `OSError`."""
        with (self.path / name).open("rb") as file:
            return file.read(limit + 1)

    def _near(self, name: str, written: str) -> str | None:
        """What was probably meant by a path that leads nowhere."""
        try:
            there = [path.name for path in (self.path / name).parent.iterdir() if path.is_file()]
        except OSError:
            return None
        before, slash, last = written.rpartition("/")
        hint = did_you_mean(last, there)
        return None if hint is None else hint.replace("`", f"`{before}{slash}", 1)


def _inside(written: str, beside: str) -> str:
    """A path as it is written in the file `beside`, as a path inside the folder. Raises `NoFile`."""
    if not written.strip():
        raise NoFile("this path is empty")
    if not written.isprintable():
        raise NoFile("this path has a character that cannot be seen")
    if "\\" in written:
        raise NoFile(f"`{written}` is not a path of the folder", "folders are separated by `/`")
    if written.startswith("/") or written[1:2] == ":":
        raise NoFile(f"`{written}` is an absolute path", "write the path from the file that it stands in")
    name = os.path.normpath(PurePosixPath(beside).parent / written)
    if PurePosixPath(name).parts[:1] == ("..",):
        raise NoFile(f"`{written}` lies outside the folder of the spec", "move it there, or below")
    return PurePosixPath(name).as_posix()
