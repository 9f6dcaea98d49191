"""What earlier runs compiled: so that a spec of which nothing has changed is not even parsed.

A file of the user's cache folder holds, for one environment and output folder, the hashes of everything that was read
and of everything that came out, and the hash of forgec itself. Only when all of them are as they were is a package up
to date; a file that is missing, damaged or old only costs time, and may be deleted.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from forgec.cache import cache_folder
from forgec.files.units import Unit
from forgec.resources import resource
from forgec.writing import write_whole

LIBRARIES = ("Faker", "black", "duckdb", "jinja2", "lark", "networkx", "pydantic", "sqlglot")
MAX_ENTRIES = 2_000
"""Files in the folder; beyond it the oldest go."""


@dataclass(frozen=True)
class Entry:
    """One environment that was compiled without errors: `read` and `written` hold hashes by path.

    Files that were read stand under the paths that they had once all links were followed.
    """

    forgec: str
    unit: tuple[str, ...]
    environment: str
    warnings: int
    sources: tuple[str, ...]
    read: Mapping[str, str]
    written: Mapping[str, str]


def recall(unit: Unit, out: Path) -> Entry | None:
    """What is known of a unit, if all of it still holds."""
    if unit.findings or unit.loose:
        return None
    try:
        found = json.loads(_place(unit, out).read_bytes())
        entry = Entry(**{**found, "unit": tuple(found["unit"]), "sources": tuple(found["sources"])})
        same = entry.forgec == own_digest() and entry.unit == _named(unit)
        folder = out / entry.environment
        fresh = same and all(
            os.path.realpath(path) == path and sha == digest_of(path) for path, sha in entry.read.items()
        )
        return entry if fresh and all(sha == digest_of(folder / name) for name, sha in entry.written.items()) else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def remember(
    unit: Unit,
    out: Path,
    environment: str,
    *,
    warnings: int,
    sources: tuple[str, ...],
    read: Mapping[str, str],
    written: Mapping[str, str],
) -> None:
    """Note what a unit was made from, and what its package is now; without a place for it, nothing is noted."""
    with suppress(OSError, ValueError):
        entry = Entry(own_digest(), _named(unit), environment, warnings, sources, read, written)
        place = _place(unit, out)
        place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, json.dumps(asdict(entry)).encode("utf-8"))
        _tidy(place.parent)


@cache
def own_digest() -> str:
    """The hash of the compiler: its code, its grammar and templates, Python and the libraries."""
    digest = hashlib.sha256(f"{sys.version}\0{[version(name) for name in LIBRARIES]}".encode())
    for path in _own_files():
        digest.update(f"\0{path.name}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _own_files() -> Iterator[Path]:
    found = find_spec("forgec_runtime")  # to import it takes longer than all the rest
    runtime = Path(found.origin).parent if found is not None and found.origin else Path(__file__).parent
    for folder, pattern in ((Path(__file__).parent, "*.py"), (runtime, "*.py"), (resource("grammar"), "*")):
        yield from sorted(path for path in folder.rglob(pattern) if path.is_file())
    yield from sorted(resource("templates").rglob("*.j2"))


def digest_of(path: str | Path) -> str:
    """The hash of a file. Raises `OSError`."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _named(unit: Unit) -> tuple[str, ...]:
    """A unit by the names that users know its files by."""
    return (
        unit.base.as_posix(),
        *(part.as_posix() for part in unit.parts),
        unit.tasks.as_posix() if unit.tasks else "",
    )


def _place(unit: Unit, out: Path) -> Path:
    name = f"{os.path.realpath(unit.base)}\0{os.path.realpath(out)}"
    return cache_folder() / "compiled" / f"{hashlib.sha256(os.fsencode(name)).hexdigest()[:32]}.json"


def _tidy(folder: Path) -> None:
    entries = list(folder.glob("*.json"))
    if len(entries) > MAX_ENTRIES:
        for path in sorted(entries, key=lambda path: path.stat().st_mtime)[: len(entries) - MAX_ENTRIES]:
            path.unlink(missing_ok=True)
