"""Files outside of a package that hold rows of its worlds: read only where whoever loads the package allows it."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ..errors import LoadError
from .documents import MAX_BYTES, Kind, kind_of

_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")


@dataclass(frozen=True)
class Content:
    """What was read of a file: `name` is what people know it by."""

    name: str
    data: bytes
    kind: Kind

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True)
class OutsideFile:
    """A file with rows of `table`, and those nested in them; of a JSON file, those at the member `at`."""

    table: str
    grant: str
    """The name that must be allowed."""
    at: str = ""

    @property
    def label(self) -> str:
        """What it is called in the manifest, and where people read of it."""
        raise NotImplementedError

    def allowed_by(self, names: Iterable[str]) -> bool:
        """Whether it may be read where these sources are allowed."""
        return self.grant in names

    def read(self) -> Content:
        """What is in the file. Raises `LoadError`."""
        path = self._find()
        kind = kind_of(path.name)
        if kind is None:
            raise LoadError(f"{self.label} is no .csv, .json or .jsonl file")
        try:
            if not stat.S_ISREG(path.stat().st_mode):
                raise LoadError(f"{self.label} is no file")
            with path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except OSError as error:
            raise LoadError(f"{self.label} cannot be read: {error.strerror}") from None
        return Content(self.label, data, kind)

    def _find(self) -> Path:
        raise NotImplementedError


@dataclass(frozen=True)
class PackageFile(OutsideFile):
    """A file that belongs to a distribution, as its RECORD says; `grant` is the distribution."""

    path: str = ""

    @property
    def label(self) -> str:
        return f"{self.path} of the package {self.grant}"

    def allowed_by(self, names: Iterable[str]) -> bool:
        return _normal(self.grant) in map(_normal, names)

    def _find(self) -> Path:
        try:
            distribution = importlib.metadata.distribution(self.grant)
        except (importlib.metadata.PackageNotFoundError, ValueError):
            raise LoadError(f"the package {self.grant} is not installed") from None
        wanted = PurePosixPath(self.path)
        for file in distribution.files or ():
            if PurePosixPath(file.as_posix()) == wanted and ".." not in wanted.parts and not wanted.is_absolute():
                return Path(str(file.locate()))
        version = distribution.version
        raise LoadError(f"the package {self.grant} {version} has no file {self.path}")


@dataclass(frozen=True)
class VariableFile(OutsideFile):
    """The file that an environment variable names; `grant` is the variable."""

    @property
    def label(self) -> str:
        return f"the file that the environment variable {self.grant} names"

    def _find(self) -> Path:
        named = os.environ.get(self.grant)
        if not named:
            raise LoadError(f"the environment variable {self.grant} is not set: it names a file of data")
        return Path(named)


def _normal(name: str) -> str:
    """The name of a distribution without its spellings."""
    return re.sub(r"[-_.]+", "-", name).lower()
