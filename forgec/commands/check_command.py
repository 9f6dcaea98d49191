"""`forgec check`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from forgec.commands.common import (
    all_diagnostics,
    check_all,
    exit_code,
    show,
    sources_option,
    specs_argument,
    strict_option,
)
from forgec.diagnostics.github import render_github
from forgec.diagnostics.json import render_json
from forgec.diagnostics.sarif import render_sarif
from forgec.explaining import title_of
from forgec.model.spec import Spec


@click.command("check")
@specs_argument
@sources_option
@strict_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "github", "sarif"]),
    default="text",
    show_default=True,
    help="For people, for programs, for the log of a GitHub action, or as SARIF 2.1.0.",
)
@click.option("--json", "form", flag_value="json", help="The same as --format json.")
def command(specs: tuple[Path, ...], allowed: tuple[str, ...], strict: bool, form: str) -> None:
    """Find what is wrong with specs: syntax, names, types, worlds, plans; then what had better be otherwise.

    Errors fail; warnings do with --strict. `forgec rule CODE` explains a finding, and a comment
    `-- allow CODE: why` beside it or above it allows a warning.

    \b
    Examples:
      forgec check specs/*.afs
      forgec check specs/*.afs --strict              # in CI
      forgec check specs/library.afs --format json
      forgec check specs/*.afs --format sarif > forgec.sarif

    Exit codes: 0 clean, 1 findings, 2 a spec cannot be read.
    """
    checked = check_all(specs, allowed)
    found = all_diagnostics(checked)
    if form == "text":
        show(found)
        for result in checked:
            if result.spec is not None:
                click.echo(f"{result.path.as_posix()}: {_describe(result.spec)}")
    elif form == "json":
        click.echo(render_json(found))
    elif form == "github":
        click.echo(render_github(found), nl=bool(found))
    else:
        click.echo(render_sarif(found, title_of))
    sys.exit(exit_code(checked, strict))


def _describe(spec: Spec) -> str:
    parts = [
        (len(spec.tables), "table"), (len(spec.tools), "tool"), (len(spec.rules), "rule"), (len(spec.worlds), "world"),
        (len(spec.tests), "test"), (len(spec.tasks), "task"),
    ]  # fmt: skip
    counts = ", ".join(f"{count} {what}{'' if count == 1 else 's'}" for count, what in parts)
    unread = sorted({name for world in spec.worlds.values() for name in world.unread})
    grants = " ".join(f"--allow-source {name}" for name in unread)
    return f"ok, {counts}" + (f"; rows outside not looked at ({grants})" if unread else "")
