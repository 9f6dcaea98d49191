"""What commands share: reading specs, printing findings, exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from forgec.diagnostics import Diagnostic, counted
from forgec.diagnostics.text import render_text, summary
from forgec.files.units import arrange
from forgec_runtime.confining.posture import POSTURES

if TYPE_CHECKING:
    from forgec.pipeline import Checked

CLEAN, FINDINGS, UNREADABLE = 0, 1, 2
UNREADABLE_CODES = {"AFS001", "AFS002", "AFS003"}
MAX_SHOWN = 50

strict_option = click.option("--strict", is_flag=True, help="Fail on warnings, too.")
sources_option = click.option(
    "--allow-source",
    "allowed",
    multiple=True,
    metavar="NAME",
    help="Let worlds read rows from this installed package, or from the file that this environment variable names; "
    "may be repeated.",
)
require_option = click.option(
    "--require",
    type=click.Choice(POSTURES),
    help="Refuse to go on with workers that are confined less: `process` is a process of its own, `limits` one that is "
    "limited in memory and time, `confined` one that reaches no file but its own, no network and no other process.",
)
specs_argument = click.argument("specs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="SPEC...")


def fail(message: str, code: int = UNREADABLE) -> NoReturn:
    """Leave with a word on what cannot be done."""
    click.echo(f"error: {message}", err=True)
    sys.exit(code)


def check_all(specs: Sequence[Path], allowed: Iterable[str] = ()) -> list[Checked]:
    """Check every environment that files are named of, once; two may not declare the same.

    A file without a head may be named beside one that uses it. Sources outside are read where they are `allowed`.
    """
    from forgec.pipeline import Checked, check_unit

    units = arrange(specs)
    found = {i: check_unit(unit, allowed) for i, unit in enumerate(units) if not unit.loose}
    used = {os.path.realpath(source.name) for result in found.values() for source in result.sources}
    loose = {i: unit for i, unit in enumerate(units) if unit.loose and os.path.realpath(unit.base) not in used}
    found |= {i: check_unit(unit, allowed) for i, unit in loose.items()}
    checked = [found[i] for i in sorted(found)]
    owners: dict[str, Path] = {}
    for i, result in enumerate(checked):
        if result.spec is None:
            continue
        first = owners.setdefault(result.spec.name, result.path)
        if first != result.path:
            message = f"the environment `{result.spec.name}` is declared by {first.as_posix()} too"
            result.report.error("AFS802", message, result.spec.span)
            checked[i] = Checked(result.path, result.source, None, result.report)
    return checked


def show(diagnostics: Iterable[Diagnostic]) -> None:
    """Print findings to standard error, the first fifty in full."""
    found = list(diagnostics)
    if not found:
        return
    click.echo(render_text(found[:MAX_SHOWN], color=sys.stderr.isatty()), err=True)
    if len(found) > MAX_SHOWN:
        click.echo(f"... and {len(found) - MAX_SHOWN} more", err=True)
    click.echo(summary(found), err=True)


def all_diagnostics(checked: Iterable[Checked]) -> list[Diagnostic]:
    return [diagnostic for result in checked for diagnostic in result.report]


def errors_of(checked: Iterable[Checked]) -> list[Diagnostic]:
    return [diagnostic for diagnostic in all_diagnostics(checked) if diagnostic.severity == "error"]


def warned(result: Checked) -> str:
    """What a command that is about something else says of the warnings about a spec, at the end of its line."""
    return of_warnings(sum(diagnostic.severity == "warning" for diagnostic in result.report))


def of_warnings(number: int) -> str:
    """The same for so many."""
    return f"; {counted(number, 'warning')}: see forgec check" if number else ""


def exit_code(checked: Sequence[Checked], strict: bool = False) -> int:
    """The exit code that the findings call for; `strict` makes warnings count."""
    return code_of(all_diagnostics(checked), strict)


def code_of(found: Sequence[Diagnostic], strict: bool = False) -> int:
    """The same for findings."""
    errors = [diagnostic for diagnostic in found if diagnostic.severity == "error"]
    if any(diagnostic.code in UNREADABLE_CODES for diagnostic in errors):
        return UNREADABLE
    return FINDINGS if errors or (strict and found) else CLEAN
