"""`forgec export`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forgec.certifying.lock import Certified, Uncertified
from forgec.commands.common import CLEAN, FINDINGS, UNREADABLE, fail, sources_option
from forgec.commands.environments import package
from forgec.commands.locks import Locks, lock_option
from forgec.commands.wanted import Wanted, tasks_option
from forgec.diagnostics import counted
from forgec_runtime import Environment, LoadError, Task, load_environment

if TYPE_CHECKING:
    from forgec.exporting.nemo_gym.project import Part

MAX_SHOWN = 10
VALIDATION = ("tag:validation", "tag:test")
"""Which tasks are for validation as a rule, if there are any."""


@click.group("export")
def command() -> None:
    """Write environments for other frameworks.

    \b
    Examples:
      forgec export nemo-gym specs/library.afs --out gym
      forgec export nemo-gym specs/library.afs specs/phone.afs --out gym --user briefed

    Exit codes: 0 written, 1 tasks are not certified, or gold is not paid, 2 something cannot be read or written.
    """


@command.command("nemo-gym")
@click.argument("environments", nargs=-1, required=True, metavar="ENV_OR_SPEC...")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="The folder to write to.")
@click.option(
    "--user",
    type=click.Choice(["scripted", "briefed", "model"]),
    default="scripted",
    show_default=True,
    help="Who plays the user: rules; nobody, since the first message has all; or the model server `user_model`.",
)
@tasks_option
@click.option(
    "--validation",
    multiple=True,
    metavar="WHICH",
    show_default=",".join(VALIDATION),
    help="Which of the tasks are for validation; all others are for training.",
)
@click.option(
    "--seeds", type=click.IntRange(1, 100_000), default=1, show_default=True,
    help="How many episodes there are of a task that is drawn, with seeds from 0 on.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Overwrite files that somebody has changed there.")
@sources_option
@lock_option
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def nemo_gym(
    environments: tuple[str, ...], out: Path, user: str, wanted: tuple[str, ...], validation: tuple[str, ...],
    seeds: int, force: bool, allowed: tuple[str, ...], lock_file: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Write a project for NeMo Gym: servers, data sets, manifests, and cases that show that rewards are right.

    ENV_OR_SPEC is the folder of a generated package, its name when it lies in ./generated, or a spec (.afs). Each
    becomes a resources server with an agent of its own name; a README in the folder says how they are run. What is
    written imports forgec and its runtime, which must be installed where it runs, and NeMo Gym.

    Tasks must be certified as they are now: run `forgec certify`, or choose others with --task.

    \b
    Examples:
      forgec export nemo-gym specs/library.afs --out gym
      forgec export nemo-gym library phone --out gym --task 'tag:train' --seeds 8
      forgec export nemo-gym specs/library.afs --out gym --user model --force

    Exit codes: 0 written, 1 tasks are not certified, or gold is not paid, or the spec has findings, 2 usage, files are
    in the way, or an environment or task does not exist.
    """
    from forgec.exporting.nemo_gym.cases import NotPaid
    from forgec.exporting.nemo_gym.project import CannotExport, Options, Part, project, whole
    from forgec.exporting.writing import in_the_way, write

    try:
        with ExitStack() as stack:
            folders = [stack.enter_context(package(name, allowed)) for name in environments]
            found = [load_environment(folder, allow_sources=allowed) for folder in folders]
            _check_names(found)
            locks = Locks.beside(environments, folders, lock_file)
            chosen = Wanted.parsed(wanted, len(environments))
            held_out = Wanted.parsed(validation or VALIDATION, 0)
            parts = []
            for environment, folder in zip(found, folders, strict=True):
                train, validate = _split(environment, chosen, held_out)
                parts.append(Part(environment, folder, train, validate))
            chosen.check()
            if validation:
                held_out.check()
            _require_certified(parts, locks)
            files = project(parts, Options(user, seeds, allowed))
        others = in_the_way(out, files) if out.exists() and not force else []
        if others:
            more = f", and so are {len(others) - 1:,} more" if len(others) > 1 else ""
            fail(f"{out / others[0]} was changed, or is another's{more}; --force overwrites", UNREADABLE)
        written, removed = write(out, files, [folder for part in parts for folder in whole(part)])
    except LoadError as error:
        fail(str(error), UNREADABLE)
    except (CannotExport, NotPaid) as error:
        fail(str(error), FINDINGS)
    except OSError as error:
        fail(f"{error.filename2 or error.filename or out} cannot be written: {error.strerror}", UNREADABLE)
    if as_json:
        told = {"files": files, "written": written, "removed": removed}
        click.echo(json.dumps({"out": out.as_posix(), **{name: sorted(one) for name, one in told.items()}}, indent=2))
    else:
        sets = [data for name, data in files.items() if name.endswith(("/data/train.jsonl", "/data/validation.jsonl"))]
        rows = sum(data.count(b"\n") for data in sets)
        gone = f", {len(removed):,} taken away" if removed else ""
        click.echo(f"{out}: {counted(len(parts), 'environment')}, {rows:,} rows, {len(written):,} files written{gone}")
    sys.exit(CLEAN)


def _split(environment: Environment, chosen: Wanted, held_out: Wanted) -> tuple[list[Task], list[Task]]:
    """The wanted tasks for training, and those for validation. Raises `LoadError`."""
    names = chosen.of(environment)
    apart = set(held_out.of(environment)) if held_out.patterns else set()
    tasks = [environment.tasks[name] for name in names]
    return [one for one in tasks if one.name not in apart], [one for one in tasks if one.name in apart]


def _require_certified(parts: Sequence[Part], locks: Locks) -> None:
    """Leaves where a task is not certified as it is now."""
    refused = []
    for part in parts:
        for task in (*part.train, *part.validation):
            standing = locks.status(part.environment, task.name) or Uncertified()
            if not isinstance(standing, Certified):
                refused.append(f"{part.environment.name}/{task.name} is {standing}")
    if not refused:
        return
    for line in refused[:MAX_SHOWN]:
        click.echo(f"  {line}", err=True)
    if len(refused) > MAX_SHOWN:
        click.echo(f"  and {len(refused) - MAX_SHOWN:,} more", err=True)
    fail(f"{counted(len(refused), 'task')} cannot be exported: run `forgec certify`, or choose others", FINDINGS)


def _check_names(found: Sequence[Environment]) -> None:
    names = [environment.name for environment in found]
    for name in names:
        if names.count(name) > 1:
            raise LoadError(f"the environment `{name}` is named twice")
