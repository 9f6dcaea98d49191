"""What writing, or comparing, a package comes to."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

MANIFEST = "manifest.json"


@dataclass
class Outcome:
    """What writing, or comparing, one package came to; paths are relative to the package."""

    written: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)
    foreign: bool = False

    @property
    def changed(self) -> bool:
        return bool(self.written or self.removed)


def digest(text: str) -> str:
    """The hash of a file that holds a text."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
