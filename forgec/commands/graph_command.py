"""`forgec graph`."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import click

from forgec.commands.common import UNREADABLE, exit_code, show
from forgec.graphing.dot import dot
from forgec.graphing.drawing import Drawing, drawing
from forgec.graphing.mermaid import mermaid
from forgec.graphing.page import page
from forgec.pipeline import check
from forgec.tasking.tool_graph import tool_graph
from forgec.writing import write_whole

FORMATS = ("mermaid", "dot", "html", "json")
ENDINGS = {".mmd": "mermaid", ".dot": "dot", ".gv": "dot", ".html": "html", ".htm": "html", ".json": "json"}


@click.command("graph")
@click.argument("path", type=click.Path(path_type=Path), metavar="SPEC")
@click.option("--format", "form", type=click.Choice(FORMATS), help="[default: by the ending of --out, or mermaid]")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write to this file.")
@click.option("--changes", is_flag=True, help="Also draw which tools read what others write.")
def command(path: Path, form: str | None, out: Path | None, changes: bool) -> None:
    """Draw which tools lead to which.

    An arrow leads from a tool whose result has a key of a table to each tool that takes such a key. It is drawn as
    Mermaid, which Markdown shows; as DOT for Graphviz; or as one HTML page that needs nothing else, to search and to
    click through.

    \b
    Examples:
      forgec graph specs/library.afs
      forgec graph specs/library.afs --out library.html
      forgec graph specs/library.afs --changes --format dot | dot -Tsvg > library.svg

    Exit codes: 0 drawn, 1 the spec has findings, 2 SPEC cannot be read or the file cannot be written.
    """
    form = form or _by_ending(out)
    checked = check(path)
    if checked.spec is None:
        show(checked.report)
        sys.exit(exit_code([checked]))
    kinds = ("gives", "changes") if changes else ("gives",)
    text = _text(drawing(checked.spec, tool_graph(checked.spec), kinds), form)
    if out is None:
        click.echo(text, nl=False)
        return
    try:
        write_whole(out, text.encode("utf-8"))
    except OSError as error:
        click.echo(f"error: {out.as_posix()} cannot be written: {error.strerror or error}", err=True)
        sys.exit(UNREADABLE)
    click.echo(f"{path.as_posix()} -> {out.as_posix()}")


def _by_ending(out: Path | None) -> str:
    """The format of a file of this name. Raises `UsageError`."""
    if out is None:
        return "mermaid"
    form = ENDINGS.get(out.suffix.lower())
    if form is None:
        raise click.UsageError(f"{out.name} may be of any format: end it in {', '.join(ENDINGS)}, or give --format")
    return form


def _text(found: Drawing, form: str) -> str:
    if form == "json":
        return json.dumps(asdict(found), indent=2, ensure_ascii=False) + "\n"
    return {"mermaid": mermaid, "dot": dot, "html": page}[form](found)
