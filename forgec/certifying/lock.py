"""The lock beside a spec: what was certified, and by which hashes.

`library.lock.jsonl` holds a line of JSON for each task of the environment `library`, sorted by name, keys sorted too,
so that a diff shows which verdicts have changed. Reading it needs nothing but the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from forgec.certifying.verdict import Kills, Verdict
from forgec.writing import write_whole
from forgec_runtime import Hashes

VERSION = 1
"""Of the certifier: another one when it looks at more, or at other things. What an older one found is stale."""


class LockError(Exception):
    """A lock that cannot be read, or tasks that are not certified by it."""


@dataclass(frozen=True)
class Known:
    """The hashes that a verdict is about."""

    environment: str
    grading: str
    world: str
    task: str


@dataclass(frozen=True)
class Entry:
    """One line of a lock."""

    task: str
    world: str
    certified: bool
    failed: tuple[str, ...]
    """The checks that it failed."""
    hashes: Known
    version: int
    kills: Mapping[str, Kills]
    line: str
    """As it is written."""


Lock = Mapping[str, Entry]
"""The entries by task."""


@dataclass(frozen=True)
class Certified:
    """Every check was passed, by the task as it is now."""

    def __str__(self) -> str:
        return "certified"


@dataclass(frozen=True)
class Stale:
    """The verdict is about something else: what is named in `changed` is not what it was."""

    changed: tuple[str, ...]

    def __str__(self) -> str:
        return f"stale: {', '.join(self.changed)} changed"


@dataclass(frozen=True)
class Uncertified:
    """There is no verdict, or it is that these checks `failed`."""

    failed: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"not certified: {', '.join(self.failed)}" if self.failed else "not certified"


Status = Certified | Stale | Uncertified


def lock_path(folder: Path, environment: str) -> Path:
    """Where the lock of an environment is whose spec is in a folder."""
    return folder / f"{environment}.lock.jsonl"


def read(path: Path) -> Lock:
    """What stands in a lock; nothing where there is none. Raises `LockError`."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise LockError(f"{path.as_posix()} cannot be read: {error.strerror}") from error
    entries = {}
    for number, line in enumerate(data.splitlines(), 1):
        try:
            entry = _entry(line.decode("utf-8"))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            message = f"{path.as_posix()}:{number}: no line of a lock; `forgec certify --all` writes it anew"
            raise LockError(message) from error
        entries[entry.task] = entry
    return entries


def _entry(line: str) -> Entry:
    found: dict[str, Any] = json.loads(line)
    failed = tuple(name for name, one in found["checks"].items() if not one["passed"])
    hashes = Known(**found["hashes"])
    version, task, world = int(found["certifier"]), str(found["task"]), str(found["world"])
    kills = {str(kind): Kills(**one) for kind, one in found["mutants"].items()}
    return Entry(task, world, found["certified"] is True, failed, hashes, version, kills, line)


def entry_of(verdict: Verdict, hashes: Hashes | HashesAtHand, world: str) -> Entry:
    """A verdict as it stands in a lock."""
    content = {
        "alternatives": list(verdict.alternatives),
        "certified": verdict.certified,
        "certifier": VERSION,
        "checks": {
            one.check: {"passed": one.passed, "evidence": one.evidence, **({"hint": one.hint} if one.hint else {})}
            for one in verdict.outcomes
        },
        "digest": verdict.digest,
        "features": dict(verdict.features),
        "hashes": asdict(_now(hashes, verdict.task, world)),
        "mutants": {kind: asdict(kills) for kind, kills in verdict.kills.items()},
        "survivors": list(verdict.survivors),
        "task": verdict.task,
        "world": world,
    }
    return _entry(json.dumps(content, ensure_ascii=False, sort_keys=True))


@dataclass(frozen=True)
class HashesAtHand:
    """The hashes of an environment that is not in a package yet."""

    environment: str
    grading: str
    worlds: Mapping[str, str]
    tasks: Mapping[str, str]


def write(path: Path, entries: Iterable[Entry]) -> None:
    """Write a lock in one step. Raises `OSError`."""
    lines = [entry.line + "\n" for entry in sorted(entries, key=lambda entry: entry.task)]
    write_whole(path, "".join(lines).encode("utf-8"))


def _now(hashes: Hashes | HashesAtHand, task: str, world: str) -> Known:
    return Known(hashes.environment, hashes.grading, hashes.worlds.get(world, ""), hashes.tasks.get(task, ""))


def status(lock: Lock, hashes: Hashes | HashesAtHand, task: str) -> Status:
    """How a task stands, whose environment has these hashes now."""
    entry = lock.get(task)
    if entry is None:
        return Uncertified()
    now = _now(hashes, task, entry.world)
    parts = ("environment", "grading", "world", "task")
    changed = [part for part in parts if getattr(now, part) != getattr(entry.hashes, part)]
    if "world" in changed and "task" in changed:
        changed.remove("task")  # its hash has that of its world in it
    if entry.version != VERSION:
        changed.append("certifier")
    if changed:
        return Stale(tuple(changed))
    return Certified() if entry.certified else Uncertified(entry.failed)


def require_certified(lock: Lock, hashes: Hashes, tasks: Iterable[str]) -> None:
    """Nothing, if all tasks are certified as they are now. Raises `LockError` with what keeps the others from it."""
    found = [(task, status(lock, hashes, task)) for task in tasks]
    others = [f"{task} is {how}" for task, how in found if not isinstance(how, Certified)]
    if others:
        more = f" and {len(others) - 5} more" if len(others) > 5 else ""
        raise LockError(f"{'; '.join(others[:5])}{more}: run `forgec certify` on the spec")
