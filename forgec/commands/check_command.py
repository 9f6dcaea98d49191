"""`forgec check`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from forgec.commands.common import all_diagnostics, check_all, exit_code, show, specs_argument
from forgec.diagnostics.json import render_json
from forgec.model.spec import Spec


@click.command("check")
@specs_argument
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON to standard output.")
def command(specs: tuple[Path, ...], as_json: bool) -> None:
    """Find what is wrong with specs: syntax, names, types, worlds, plans.

    \b
    Examples:
      forgec check specs/*.afs
      forgec check specs/library.afs --json

    Exit codes: 0 clean, 1 findings, 2 a spec cannot be read.
    """
    checked = check_all(specs)
    if as_json:
        click.echo(render_json(all_diagnostics(checked)))
    else:
        show(all_diagnostics(checked))
        for result in checked:
            if result.spec is not None:
                click.echo(f"{result.path.as_posix()}: {_describe(result.spec)}")
    sys.exit(exit_code(checked))


def _describe(spec: Spec) -> str:
    parts = [
        (len(spec.tables), "table"), (len(spec.tools), "tool"), (len(spec.rules), "rule"), (len(spec.worlds), "world"),
        (len(spec.tests), "test"), (len(spec.tasks), "task"),
    ]  # fmt: skip
    return "ok, " + ", ".join(f"{count} {what}{'' if count == 1 else 's'}" for count, what in parts)
