"""`forgec new`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from forgec.commands.common import FINDINGS, UNREADABLE, show
from forgec.diagnostics import Diagnostic, Report, counted
from forgec.formatting import format_source
from forgec.source import Source
from forgec.starting.drafting import Drafted, draft_spec
from forgec.starting.found import SourceError
from forgec.starting.names import is_name, legal
from forgec.starting.starter import starter_spec
from forgec.writing import write_whole


@click.command("new")
@click.argument("name")
@click.argument("more", nargs=-1, type=click.Path(path_type=Path), metavar="")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help="Where to write.  [default: specs/NAME.afs]"
)
@click.option("--force", is_flag=True, help="Overwrite a file that is there already.")
@click.option(
    "--from",
    "sources",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="SOURCE...",
    help="Draft the tables from a schema or from data: .sql, SQLite, .csv, .tsv, .parquet.",
)
def command(name: str, more: tuple[Path, ...], out: Path | None, force: bool, sources: tuple[Path, ...]) -> None:
    """Begin a spec: a small example to change, or a draft from what there is already.

    Without --from, NAME is a commented spec that teaches the language in the order of reading. With --from, its tables
    are those of the sources, with a world of the first rows, tools that look things up, tests and a task; what could
    not be taken over is said in comments. Either way the spec compiles, tests and runs as it is.

    \b
    Examples:
      forgec new bakery
      forgec new shop --from schema.sql               # PostgreSQL, MySQL, SQLite or DuckDB
      forgec new shop --from shop.sqlite --out drafts/shop.afs
      forgec new shop --from customers.csv orders.csv items.csv
      forgec new rides --from rides.parquet

    Exit codes: 0 written, 1 the draft has findings, 2 NAME or FILE will not do, or a source cannot be read.
    """
    if more and not sources:
        raise click.UsageError(f"one NAME is wanted, but there is `{more[0]}` too; sources come after --from")
    _check_name(name)
    path = out or Path("specs") / f"{name}.afs"
    if path.exists() and not force:
        help_ = "choose another --out, or overwrite it with --force"
        _refuse(Diagnostic("AFS805", "there is such a file already", path=path.as_posix(), help=help_))
    wanted = (*sources, *more)
    drafted: Drafted | None = None
    if wanted:
        try:
            drafted = draft_spec(name, list(dict.fromkeys(wanted)), path)
        except SourceError as error:
            _refuse(error.diagnostic)
    text = drafted.text if drafted else starter_spec(name, path)
    _write(path, format_source(Source(path.as_posix(), text), Report()) or text)
    if drafted is not None:
        show([*drafted.warnings, *drafted.findings])
    click.echo(_next(name, path, drafted))
    sys.exit(FINDINGS if drafted is not None and drafted.findings else 0)


def _check_name(name: str) -> None:
    if is_name(name):
        return
    better = legal(name, "environment", (), 1)
    rule = "lower-case letters, digits and single underscores, starting with a letter, at most 60 characters"
    message = f"`{name}` cannot be the name of an environment: use {rule}"
    raise click.UsageError(f"{message}; such as `{better}`" if is_name(better) else message)


def _refuse(diagnostic: Diagnostic) -> None:
    show([diagnostic])
    sys.exit(UNREADABLE)


def _write(path: Path, text: str) -> None:
    """Write the whole file or nothing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode("utf-8"))
    except OSError as error:
        message = f"this file cannot be written: {error.strerror or error}"
        _refuse(Diagnostic("AFS804", message, path=path.as_posix()))


def _next(name: str, path: Path, drafted: Drafted | None) -> str:
    """What was written, and what to do with it."""
    what = "a spec to read from top to bottom"
    if drafted is not None:
        what = f"{counted(drafted.tables, 'table')}, {counted(drafted.rows, 'row')}; its comments say what changed"
    file = shlex.quote(path.as_posix())
    return "\n".join(
        [
            f"{path.as_posix()}: {what}",
            "next:",
            f"  forgec check {file}",
            f"  forgec test {file}",
            f"  forgec compile {file}",
            f"  forgec run {name} --agent gold --agent noop",
        ]
    )
