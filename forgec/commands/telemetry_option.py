"""`--telemetry`: where the time of calls went."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forgec.commands.common import UNREADABLE
from forgec.writing import write_whole

if TYPE_CHECKING:
    from forgec_runtime import Environment
    from forgec_runtime.telemetry import Telemetry

telemetry_option = click.option(
    "--telemetry", is_flag=False, flag_value="-", metavar="[FILE]",
    help="Count what calls come to and how long they take, by tool and stage: as JSON to this file, else as a table "
    "to standard error.",
)  # fmt: skip


def tell(where: str | None, counted: Iterable[tuple[Environment, Telemetry | None]]) -> None:
    """Print or write what was counted; leaves when that cannot be written."""
    if where is None:
        return
    found = {environment.name: one for environment, one in counted if one is not None}
    if where != "-":
        data = {name: one.as_dict() for name, one in found.items()}
        try:
            write_whole(Path(where), (json.dumps(data, indent=2) + "\n").encode())
        except OSError as error:
            click.echo(f"error: cannot write {where}: {error.strerror}", err=True)
            sys.exit(UNREADABLE)
        return
    for name, one in found.items():
        click.echo(f"\n{name}: {one}", err=True)
