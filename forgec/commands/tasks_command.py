"""`forgec tasks`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from forgec.bulk.shape import TaskShape
from forgec.commands.common import UNREADABLE, exit_code, show, sources_option
from forgec.diagnostics import did_you_mean
from forgec.pipeline import check
from forgec.showing.bulk import line


@click.command("tasks")
@click.argument("path", type=click.Path(path_type=Path), metavar="SPEC", required=False)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--schema", is_flag=True, help="Print the JSON schema of a line instead.")
@sources_option
def command(path: Path | None, names: tuple[str, ...], schema: bool, allowed: tuple[str, ...]) -> None:
    """Print the tasks of a spec, or those with a NAME, as lines of JSON.

    They are what stands in a file of tasks beside a spec: `library.tasks.jsonl` beside the environment `library`.

    \b
    Examples:
      forgec tasks specs/library.afs
      forgec tasks specs/library.afs settle_the_overdue
      forgec tasks --schema

    Exit codes: 0 printed, 1 the spec has findings, 2 SPEC cannot be read or has no task NAME.
    """
    if schema:
        click.echo(json.dumps(TaskShape.model_json_schema(), indent=2))
        return
    if path is None:
        raise click.UsageError("name a spec, or ask for the --schema")
    checked = check(path, allowed)
    if checked.spec is None:
        show(checked.report)
        sys.exit(exit_code([checked]))
    for name in names:
        if name not in checked.spec.tasks:
            hint = did_you_mean(name, checked.spec.tasks)
            click.echo(f"error: there is no task `{name}`" + (f"; {hint}" if hint else ""), err=True)
            sys.exit(UNREADABLE)
    for task in checked.spec.tasks.values():
        if not names or task.name in names:
            click.echo(line(task))
