"""`forgec train --backend nemo-rl`."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import click

from forgec.commands.common import FINDINGS, UNREADABLE

MISSING = "torch and transformers are not installed: pip install 'forgec[train]'"


def on_cluster(
    path: Path, out: Path, overrides: tuple[str, ...], *, python: Path | None, untested: bool, allow_uncertified: bool,
    dry_run: bool,
) -> None:  # fmt: skip
    """Look at everything, render a run, and start it. Leaves with an exit code where it cannot be."""
    try:
        from forgec.cluster import checking
        from forgec.cluster.checkout import CheckoutError
        from forgec.cluster.config import ClusterConfig
        from forgec.cluster.launching import HOW
        from forgec.cluster.planning import GYM, RECORD, plan
        from forgec.cluster.rows import RowError
        from forgec.training.config import ConfigError, read_as
    except ModuleNotFoundError as error:
        click.echo(f"error: {MISSING} ({error.name})", err=True)
        sys.exit(UNREADABLE)
    if allow_uncertified:
        overrides = (*overrides, "allow_uncertified=true")
    try:
        config = read_as(ClusterConfig, path, overrides)
        made = plan(config, out, python=python, untested=untested, tell=lambda line: click.echo(line, err=True))
    except (ConfigError, CheckoutError, RowError) as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(UNREADABLE)
    except OSError as error:
        click.echo(f"error: {error.filename or path} cannot be read: {error.strerror}", err=True)
        sys.exit(UNREADABLE)
    machine = [] if dry_run else checking.of_machine(config)
    for one in (*made.findings, *machine):
        click.echo(f"{'error' if one.stops else 'beware'}: {one.text}", err=True)
    if made.stops or any(one.stops for one in machine):
        sys.exit(FINDINGS)
    start = [*HOW[config.launch.by], str(made.folder / made.start)]
    if dry_run:
        gym = [name for name in made.files if name.startswith(f"{GYM}/")]
        if gym:
            click.echo(f"--- {GYM}/: {len(gym)} files, servers for NeMo Gym as `forgec export nemo-gym` writes them")
        for name, content in made.files.items():
            if name in gym:
                continue
            if name.endswith(".jsonl"):
                click.echo(f"--- {name}: {len(content.splitlines()):,} questions")
            elif name == RECORD:
                click.echo(f"--- {name}: the configuration, with hashes of all that is played")
            else:
                click.echo(f"--- {name}\n{content.decode()}", nl=False)
        click.echo(f"--- it would be started by: {shlex.join(start)}")
        return
    try:
        made.write()
    except ConfigError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(FINDINGS)
    except OSError as error:
        click.echo(f"error: {error.filename or out} cannot be written: {error.strerror}", err=True)
        sys.exit(UNREADABLE)
    click.echo(f"starts: {shlex.join(start)}", err=True)
    try:
        sys.exit(subprocess.run(start, check=False).returncode)
    except KeyboardInterrupt:
        click.echo("interrupted: the same command goes on from the last checkpoint", err=True)
        sys.exit(130)
