"""Files that are named on the command line, as the environments that they are files of."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from forgec.diagnostics import Diagnostic, Label, Report, did_you_mean
from forgec.files.heads import Head, head_of, heads_in
from forgec.files.reading import read
from forgec.source import Span

TASKS = ".tasks.jsonl"
"""How the name of a file of tasks in bulk ends, after the name of their environment."""


@dataclass(frozen=True)
class Unit:
    """An environment: the file that declares it, the parts that extend it, its tasks in bulk.

    A `loose` file has no head: it may belong to another unit. With `findings`, nothing else can be said.
    """

    base: Path
    parts: tuple[Path, ...] = ()
    tasks: Path | None = None
    loose: bool = False
    findings: tuple[Diagnostic, ...] = ()


@dataclass
class _Folders:
    """The heads of folders, each read once."""

    heads: dict[Path, list[tuple[Path, Head]]] = field(default_factory=dict)

    def of(self, folder: Path) -> list[tuple[Path, Head]]:
        if folder not in self.heads:
            self.heads[folder] = list(heads_in(folder))
        return self.heads[folder]

    def parts(self, folder: Path, name: str) -> tuple[Path, ...]:
        return tuple(path for path, head in self.of(folder) if head.extends and head.name == name)

    def bases(self, folder: Path, name: str) -> list[tuple[Path, Head]]:
        return [(path, head) for path, head in self.of(folder) if not head.extends and head.name == name]


def arrange(named: Sequence[Path]) -> list[Unit]:
    """Each environment that files are named of, once, in the order in which it is named first."""
    folders = _Folders()
    spelled = {os.path.realpath(path): path for path in reversed(named)}
    units: dict[str, Unit] = {}
    for path in named:
        source = read(path, Report())
        head = None if source is None else head_of(source)
        if head is None:
            units.setdefault(os.path.realpath(path), Unit(path, loose=source is not None))
            continue
        base = _base(path, head, folders)
        if isinstance(base, Diagnostic):
            units.setdefault(os.path.realpath(path), Unit(path, findings=(base,)))
            continue
        place = os.path.realpath(base)
        if place not in units:
            units[place] = _unit(spelled.get(place, base), head.name, folders)
    return list(units.values())


def _base(path: Path, head: Head, folders: _Folders) -> Path | Diagnostic:
    """The file that declares the environment of a file that is named, or why there is none."""
    if not head.extends:
        return path
    bases = folders.bases(path.parent, head.name)
    if bases:
        return bases[0][0]
    names = [other.name for _, other in folders.of(path.parent) if not other.extends]
    hint = did_you_mean(head.name, names) or f"put it beside the file that declares `environment {head.name}`"
    return _homeless(head.name, head.span, hint)


def _homeless(name: str, span: Span, hint: str) -> Diagnostic:
    message = f"no file in this folder declares the environment `{name}`"
    return Diagnostic("AFS009", message, Label(span), help=hint)


def _stray(folder: Path, name: str, folders: _Folders) -> Diagnostic | None:
    """A file that was probably meant for the environment `name`, and would be left out without a word."""
    for _, head in folders.of(folder):
        if head.extends and not folders.bases(folder, head.name) and (hint := did_you_mean(head.name, [name])):
            return _homeless(head.name, head.span, hint)
    for path in sorted(folder.glob(f"[!.]*{TASKS}")):
        other = path.name.removesuffix(TASKS)
        if not folders.bases(folder, other) and (hint := did_you_mean(other, [name])):
            message = f"no file in this folder declares the environment `{other}`, whose tasks these are"
            return Diagnostic("AFS009", message, path=path.as_posix(), help=hint)
    return None


def _unit(base: Path, name: str, folders: _Folders) -> Unit:
    parts = folders.parts(base.parent, name)
    bases = folders.bases(base.parent, name)
    if parts and len(bases) > 1:
        part = next(head for path, head in folders.of(base.parent) if path == parts[0])
        related = [Label(head.span, "declared here") for _, head in bases]
        message = f"`{name}` is declared by several files of this folder"
        found = Diagnostic("AFS802", message, Label(part.span, "this extends one of them"), tuple(related))
        return Unit(base, findings=(found,))
    stray = _stray(base.parent, name, folders)
    if stray is not None:
        return Unit(base, findings=(stray,))
    tasks = base.parent / f"{name}{TASKS}"
    return Unit(base, parts, tasks if tasks.is_file() else None)
