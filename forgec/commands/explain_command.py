"""`forgec explain`."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NoReturn

import click

from forgec.commands.common import CLEAN, fail, sources_option
from forgec.commands.environments import package
from forgec.explanation import Explanation, Mismatch, explain
from forgec.explanation import text as texts
from forgec.explanation.page import page
from forgec.rollouts.store import StoreError, read
from forgec.rollouts.trajectory import Trajectory
from forgec.writing import write_whole
from forgec_runtime import Environment, GoldError, LoadError, TaskError, load_environment

SHOWN = 5
"""How many trajectories are explained where none is named."""


@click.command("explain")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("tasks", nargs=-1, metavar="[TASK]...")
@click.option("--trial", type=int, help="Only this trial.")
@click.option("--all", "everything", is_flag=True, help="All that match, also those that were paid.")
@click.option(
    "--env", "packages", multiple=True, metavar="ENV", help="Where an environment lies.  [default: below ./generated]"
)
@click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), metavar="PAGE", help="Write one HTML page instead."
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as lines of JSON.")
@sources_option
def command(
    file: Path,
    tasks: tuple[str, ...],
    trial: int | None,
    everything: bool,
    packages: tuple[str, ...],
    html: Path | None,
    as_json: bool,
    allowed: tuple[str, ...],
) -> None:
    """Tell why trajectories were worth what they were.

    FILE is what `forgec run --out` wrote; a TASK is a name or a pattern such as lend_*. Each trajectory is played
    again: shown are what was said and done, what kept the reward from being paid, the first call after which no plan
    of the task could have led to it any more, the calls of the plan that were never made, and whether the user erred.
    Without --all only trajectories that were not paid are explained, and without a TASK the first five of them.

    \b
    Examples:
      forgec explain qwen3.jsonl
      forgec explain qwen3.jsonl settle_the_overdue --trial 2
      forgec explain qwen3.jsonl --all --html qwen3.html
      forgec explain qwen3.jsonl 'lend_*' --json

    Exit codes: 0 explained, or all were paid, 2 FILE or an environment cannot be read, nothing matches, or the
    environment has changed.
    """
    try:
        found = list(_chosen(read(file), tasks, trial, everything, all_of_them=bool(html or as_json)))
        if not found:
            _nothing(file, asked=bool(tasks or everything or trial is not None))
        explanations = _explained(found, packages, allowed)
    except (StoreError, LoadError, Mismatch, GoldError, TaskError) as error:
        fail(str(error))
    if html is not None:
        try:
            write_whole(html, page(explanations, file.name).encode())
        except OSError as error:
            fail(f"{html} cannot be written: {error.strerror or error}")
        click.echo(f"{html}: {len(explanations)} explained", err=True)
    elif as_json:
        for one in explanations:
            click.echo(json.dumps(texts.as_json(one), ensure_ascii=False))
    else:
        width = shutil.get_terminal_size((texts.WIDTH, 0)).columns if sys.stdout.isatty() else texts.WIDTH
        click.echo("\n\n".join(texts.text(one, min(width, texts.WIDTH)) for one in explanations))


def _chosen(
    trajectories: Iterator[Trajectory], tasks: tuple[str, ...], trial: int | None, everything: bool, all_of_them: bool
) -> Iterator[Trajectory]:
    left = None if tasks or everything or all_of_them else SHOWN
    for one in trajectories:
        if left == 0:
            return
        named = not tasks or any(fnmatchcase(one.task, pattern) for pattern in tasks)
        if named and (trial is None or one.trial == trial) and (everything or one.reward != 1):
            yield one
            left = None if left is None else left - 1


def _explained(found: list[Trajectory], packages: tuple[str, ...], allowed: tuple[str, ...]) -> list[Explanation]:
    with ExitStack() as stack:
        environments: dict[str, Environment] = {}
        for name in packages:
            env = load_environment(stack.enter_context(package(name, allowed)), allow_sources=allowed)
            environments[env.name] = env
        explanations = []
        for one in found:
            if one.environment not in environments:
                folder = stack.enter_context(package(one.environment, allowed))
                environments[one.environment] = load_environment(folder, allow_sources=allowed)
            try:
                explanations.append(explain(environments[one.environment], one))
            except Mismatch as error:
                raise Mismatch(f"{one.environment}/{one.task}: {error}") from None
        return explanations


def _nothing(file: Path, *, asked: bool) -> NoReturn:
    if next(read(file), None) is None:
        fail(f"{file} has no trajectories")
    if asked:
        fail("nothing matches")
    click.echo("every trajectory was paid: --all explains them, too", err=True)
    sys.exit(CLEAN)
