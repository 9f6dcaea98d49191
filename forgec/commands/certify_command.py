"""`forgec certify`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import click

from forgec.alone import InUseError, alone
from forgec.certifying.batches import certify_all
from forgec.certifying.lock import (
    Certified,
    Entry,
    HashesAtHand,
    Lock,
    LockError,
    Stale,
    Uncertified,
    entry_of,
    lock_path,
    read,
    status,
    write,
)
from forgec.codegen.hashes import hashes_of
from forgec.commands.certified import shown, summary
from forgec.commands.common import (
    FINDINGS,
    UNREADABLE,
    check_all,
    errors_of,
    exit_code,
    show,
    sources_option,
    specs_argument,
    warned,
)
from forgec.commands.environments import compiled
from forgec.diagnostics import did_you_mean
from forgec.model.spec import Spec
from forgec.pipeline import Checked
from forgec.plans.package import plan_tasks
from forgec_runtime import LoadError


@dataclass
class _Job:
    """A spec, what its lock holds, and what there is to do."""

    checked: Checked
    spec: Spec
    path: Path
    hashes: HashesAtHand
    lock: dict[str, Entry]
    todo: list[str]
    skipped: dict[str, str]
    """Tasks whose worlds may not be read, with what would allow it."""
    drift: list[str] = field(default_factory=list)


@click.command("certify")
@specs_argument
@click.option("--task", "wanted", multiple=True, metavar="NAME", help="Certify only this task; may be repeated.")
@click.option("--all", "everything", is_flag=True, help="Certify also what the lock has as it is now.")
@click.option(
    "--check", "only_check", is_flag=True, help="Write nothing; fail if a task is not certified as it is now."
)
@sources_option
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON to standard output.")
def command(
    specs: tuple[Path, ...],
    wanted: tuple[str, ...],
    everything: bool,
    only_check: bool,
    allowed: tuple[str, ...],
    as_json: bool,
) -> None:
    """Certify the tasks of specs: show that they are what they seem.

    Each task is played by its plans, by an agent that does nothing, in other orders, and with one thing wrong; it is
    asked what an agent can know, and whether a fresh process ends alike. The verdicts go to a lock beside the spec,
    `library.lock.jsonl` for the environment `library`. Only what has changed since is certified again. What is done is
    kept when the run is cut short. Tasks in a world with rows from outside are left out unless its sources are allowed.

    \b
    Examples:
      forgec certify specs/*.afs
      forgec certify specs/library.afs --task settle_the_overdue
      forgec certify specs/*.afs --check            # in CI
      forgec certify specs/*.afs --check --all      # certify everything, and compare with the locks

    Exit codes: 0 all are certified, 1 some are not, or findings, 2 a spec or lock cannot be read, or another run is at
    work on it.
    """
    checked = check_all(specs, allowed)
    show(errors_of(checked))
    code = exit_code(checked)
    try:
        with ExitStack() as held:
            specs_read = [(one, one.spec) for one in checked if one.spec is not None]
            for _, spec in specs_read if not only_check else ():
                held.enter_context(_nobody_else(Path(spec.source.name)))
            jobs = [_job(one, spec, wanted, everything) for one, spec in specs_read]
            _look_for(wanted, jobs)
            for job in jobs:
                _certify(job, allowed, everything, only_check)
    except (LoadError, LockError, OSError) as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(UNREADABLE)
    if as_json:
        click.echo(json.dumps([_row(job, name) for job in jobs for name in _names(job, wanted)], indent=2))
    else:
        for job in jobs:
            click.echo(_table(job, wanted))
    uncertified = any(not isinstance(_status(job, name), Certified) for job in jobs for name in _names(job, wanted))
    sys.exit(max(code, FINDINGS) if uncertified or any(job.drift for job in jobs) else code)


@contextmanager
def _nobody_else(spec: Path) -> Iterator[None]:
    """No other process certifies the tasks of a spec meanwhile; the lock is written as a whole. Raises `LockError`."""
    try:
        with alone(spec):
            yield
    except InUseError:
        raise LockError(f"another run is certifying the tasks of {spec.as_posix()}") from None


def _job(checked: Checked, spec: Spec, wanted: Sequence[str], everything: bool) -> _Job:
    """What there is to do for a spec. Raises `LockError`."""
    hashes = HashesAtHand(**hashes_of(spec, plan_tasks(spec)))
    path = lock_path(Path(spec.source.name).parent, spec.name)
    lock: Lock = {} if everything and not wanted and not path.is_file() else _read(path, everything and not wanted)
    skipped = {
        task.name: " ".join(f"--allow-source {source}" for source in spec.worlds[task.world].unread)
        for task in spec.tasks.values()
        if not spec.worlds[task.world].known
    }
    names = [name for name in spec.tasks if (name in wanted or not wanted) and name not in skipped]
    todo = [name for name in names if everything or not _has_verdict(lock, hashes, name)]
    return _Job(checked, spec, path, hashes, dict(lock), todo, skipped)


def _read(path: Path, anew: bool) -> Lock:
    """The lock; nothing of one that cannot be read and is written anew."""
    try:
        return read(path)
    except LockError:
        if anew:
            return {}
        raise


def _has_verdict(lock: Lock, hashes: HashesAtHand, name: str) -> bool:
    """Whether a task was looked at as it is now, whatever came of it."""
    return name in lock and not isinstance(status(lock, hashes, name), Stale)


def _look_for(wanted: Sequence[str], jobs: Sequence[_Job]) -> None:
    names = {name for job in jobs for name in job.spec.tasks}
    for name in wanted:
        if name not in names:
            hint = did_you_mean(name, names)
            raise LockError(f"there is no task `{name}`" + (f"; {hint}" if hint else ""))


def _certify(job: _Job, allowed: Iterable[str], everything: bool, only_check: bool) -> None:
    """Certify what is to be done, and keep it; with `only_check`, say what would be otherwise in the lock."""
    gone = [name for name in job.lock if name not in job.spec.tasks]
    if only_check:
        job.drift.extend(f"{name}: no task any more" for name in gone)
        if everything:
            for entry in (entry for batch in _batches(job, allowed) for entry in batch):
                known = job.lock.get(entry.task)
                if known is not None and known.line != entry.line:
                    job.drift.append(f"{entry.task}: the lock says something else")
        return
    for name in gone:
        del job.lock[name]
    for batch in _batches(job, allowed):
        job.lock.update((entry.task, entry) for entry in batch)
        write(job.path, job.lock.values())
    if gone and not job.todo:
        write(job.path, job.lock.values())


def _batches(job: _Job, allowed: Iterable[str]) -> Iterator[list[Entry]]:
    if not job.todo:
        return
    done = 0
    with compiled(job.spec, allowed) as environment:
        for batch in certify_all(environment, job.todo):
            done += len(batch)
            if sys.stderr.isatty() and len(job.todo) > len(batch):
                click.echo(
                    f"\r{job.spec.name}: {done:,} of {len(job.todo):,} tasks", err=True, nl=done == len(job.todo)
                )
            yield [entry_of(verdict, job.hashes, task.world) for task, verdict in batch]


def _names(job: _Job, wanted: Sequence[str]) -> list[str]:
    """The tasks that were asked for, but those that could not be looked at."""
    return [name for name in job.spec.tasks if (name in wanted or not wanted) and name not in job.skipped]


def _status(job: _Job, name: str) -> Certified | Stale | Uncertified:
    return status(job.lock, job.hashes, name)


def _row(job: _Job, name: str) -> dict[str, object]:
    entry = job.lock.get(name)
    held = {} if entry is None else json.loads(entry.line)
    return {"environment": job.spec.name, "task": name, "status": str(_status(job, name)), "verdict": held or None}


def _table(job: _Job, wanted: Sequence[str]) -> str:
    names = _names(job, wanted)
    lines = shown([(name, _status(job, name), job.lock.get(name)) for name in names])
    entries = [job.lock[name] for name in names if name in job.lock]
    certified = sum(isinstance(_status(job, name), Certified) for name in names)
    head = f"{job.checked.path.as_posix()}: {certified} of {len(names)} certified"
    skipped = [name for name in job.skipped if name in wanted or not wanted]
    if skipped:
        head += f", {len(skipped)} skipped ({job.skipped[skipped[0]]})"
    drift = [f"  {text}" for text in job.drift]
    return "\n".join([*lines, *drift, *summary(entries), head + warned(job.checked)])
