"""Packages of many environments: those that have changed, on all cores."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import active_children, get_context
from pathlib import Path

import click

from forgec.codegen.outcome import Outcome
from forgec.diagnostics import Diagnostic, Label
from forgec.files.units import Unit
from forgec.garbage import collect_seldom
from forgec.memory import Entry, recall
from forgec.source import Span

FEW = 4
"""Fewer environments are compiled in one process: to start others takes as long."""
PATIENCE = 2.0
"""Seconds without a word."""


@dataclass(frozen=True)
class Package:
    """A package as it should be, and what writing it would do; of one that is up to date, the texts are not at hand."""

    name: str
    spec: Path
    folder: Path
    outcome: Outcome
    files: dict[str, str]
    manifest: str


@dataclass(frozen=True)
class Compiled:
    """What came of one environment: its package, unless there are errors among its findings.

    `sources` are its files, all links followed, and `read` holds the hashes of all that were read, if they are still
    what was read; `place` is that of the environment's name.
    """

    unit: Unit
    findings: tuple[Diagnostic, ...]
    sources: tuple[str, ...]
    package: Package | None = None
    place: Span | None = None
    read: Mapping[str, str] | None = None
    warnings: int = 0
    recalled: bool = False


def compile_all(units: Sequence[Unit], out: Path, allowed: tuple[str, ...], *, anew: bool) -> list[Compiled]:
    """Compile every environment once, in their order; two may not be the same, and nothing is written.

    Unless `anew`, packages that are known to be up to date are not looked at.
    """
    known = {} if anew else {i: found for i, unit in enumerate(units) if (found := recall(unit, out)) is not None}
    done = {i: _recalled(units[i], entry, out) for i, entry in known.items()}
    todo = [i for i, unit in enumerate(units) if i not in done and not unit.loose]
    done |= dict(zip(todo, _compile([units[i] for i in todo], out, allowed), strict=True))
    used = {source for one in done.values() for source in one.sources}
    loose = [i for i, unit in enumerate(units) if unit.loose and os.path.realpath(unit.base) not in used]
    done |= dict(zip(loose, _compile([units[i] for i in loose], out, allowed), strict=True))
    return _each_once([done[i] for i in sorted(done)])


def _recalled(unit: Unit, entry: Entry, out: Path) -> Compiled:
    outcome = Outcome(unchanged=list(entry.written))
    package = Package(entry.environment, unit.base, out / entry.environment, outcome, {}, "")
    return Compiled(unit, (), entry.sources, package, warnings=entry.warnings, recalled=True)


def _compile(units: Sequence[Unit], out: Path, allowed: tuple[str, ...]) -> list[Compiled]:
    if not units:
        return []
    from forgec.commands.compile_unit import compile_unit

    one = partial(compile_unit, out=out, allowed=allowed)
    cores = min(os.cpu_count() or 1, len(units))
    if len(units) < FEW or cores == 1:
        return list(_with_progress(map(one, units), len(units)))
    return list(_with_progress(_side_by_side(one, units, cores), len(units)))


def _side_by_side(one: Callable[[Unit], Compiled], units: Sequence[Unit], cores: int) -> Iterator[Compiled]:
    """Each unit in one of some processes; when this one is interrupted, those that help end without a word."""
    with ProcessPoolExecutor(cores, get_context("spawn"), _begin_to_help) as pool:
        try:
            with _interrupts_wait():
                found = [pool.submit(one, unit) for unit in units]
            for future in found:
                yield future.result()
        except BaseException:
            for process in active_children():
                process.terminate()
            raise


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Ctrl-C reaches all processes: those that begin meanwhile never see it, where the system can arrange that."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin_to_help() -> None:
    collect_seldom()
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _with_progress(found: Iterator[Compiled], total: int) -> Iterator[Compiled]:
    """What is found, with a line about how far it is where somebody sees it and it takes long."""
    start, told = time.monotonic(), False
    for number, one in enumerate(found, 1):
        yield one
        if number < total and sys.stderr.isatty() and time.monotonic() - start > PATIENCE:
            click.echo(f"\rcompiled {number:,} of {total:,}", err=True, nl=False)
            told = True
    if told:
        click.echo("\r\x1b[K", err=True, nl=False)


def _each_once(found: list[Compiled]) -> list[Compiled]:
    """Environments of one name cannot all have the folder."""
    owners: dict[str, Path] = {}
    for i, one in enumerate(found):
        if one.package is None:
            continue
        first = owners.setdefault(one.package.name, one.unit.base)
        if first != one.unit.base:
            message = f"the environment `{one.package.name}` is declared by {first.as_posix()} too"
            where = Label(one.place) if one.place is not None else None
            error = Diagnostic("AFS802", message, where, path=one.unit.base.as_posix())
            found[i] = Compiled(one.unit, (*one.findings, error), one.sources)
    return found
