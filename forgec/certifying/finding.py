"""Which lock is about a generated package."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from forgec.certifying.lock import lock_path


def lock_of_package(package: Path) -> Path | None:
    """The path of the lock beside the spec that a package was made from; None where that spec is not found.

    The manifest of the package says what its spec is called. It is looked for where the program runs and in the folders
    around the package, and in a folder `specs` of each.
    """
    try:
        manifest = json.loads((package / "manifest.json").read_bytes())
        environment, spec = str(manifest["environment"]), str(next(iter(manifest["sources"])))
    except (OSError, ValueError, KeyError, TypeError, StopIteration, AttributeError):
        return None
    for folder in _places(package.resolve()):
        if (folder / spec).is_file():
            return lock_path(folder, environment)
    return None


def _places(package: Path) -> Iterator[Path]:
    for folder in (Path.cwd(), *list(package.parents)[:3]):
        yield folder / "specs"
        yield folder
