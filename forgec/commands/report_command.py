"""`forgec report`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from forgec.commands.common import FINDINGS, UNREADABLE


@click.command("report")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path, file_okay=False), metavar="RUN...")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder to write to; else `report` in that of the first run.",
)
def command(runs: tuple[Path, ...], out: Path | None) -> None:
    """Draw what runs of `forgec train` have learned: a page of HTML that needs nothing else, and PNGs.

    Curves of held-out success with intervals, for each environment, several runs in one; what the steps were paid; and
    the same episodes before and after, side by side. A run that has not ended yet is drawn as far as it is.

    \b
    Examples:
      forgec report runs/desk
      forgec report runs/erpo runs/grpo --out comparison

    Exit codes: 0 written, 1 it could not be written, 2 usage, or there is no run.
    """
    try:
        from forgec.rollouts.store import StoreError
        from forgec.training import report
        from forgec.training.config import ConfigError
        from forgec.training.curves import read
    except ModuleNotFoundError as error:
        click.echo(f"error: {error.name} is not installed: pip install 'forgec[train]'", err=True)
        sys.exit(UNREADABLE)
    try:
        found = [read(run) for run in runs]
        written = report.write(found, out or runs[0] / "report")
    except (ConfigError, StoreError, ValueError) as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(UNREADABLE)
    except (KeyError, TypeError, AttributeError) as error:
        click.echo(f"error: the metrics are damaged, or of another version: {error}", err=True)
        sys.exit(UNREADABLE)
    except OSError as error:
        click.echo(f"error: the report cannot be written: {error}", err=True)
        sys.exit(FINDINGS)
    for path in written:
        click.echo(path)
