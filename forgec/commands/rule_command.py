"""`forgec rule`."""

from __future__ import annotations

import json
import sys

import click

from forgec.checks.rules import RULES
from forgec.commands.common import UNREADABLE
from forgec.diagnostics import did_you_mean
from forgec.explaining import explanation, titles


@click.command("rule")
@click.argument("codes", nargs=-1, metavar="[CODE]...")
@click.option("--json", "as_json", is_flag=True, help="Print JSON to standard output.")
def command(codes: tuple[str, ...], as_json: bool) -> None:
    """Explain the codes of findings; without a code, list the rules behind warnings.

    A mistake is shown in a few lines, with what is said about it, a rule by a bad and a good example.

    A warning is allowed in one place by a comment there, at the end of the line or alone on the line above:
    `-- allow AFW102: why`.

    \b
    Examples:
      forgec rule AFW102
      forgec rule AFS201 AFS504
      forgec rule --json

    Exit codes: 0 done, 2 there is no such code.
    """
    known = titles()
    wanted = [code.upper() for code in codes] or list(RULES)
    unknown = [code for code in wanted if code not in known]
    for code in unknown:
        hint = did_you_mean(code, known)
        click.echo(f"there is no code `{code}`" + (f"; {hint}" if hint else ""), err=True)
    if unknown:
        sys.exit(UNREADABLE)
    if as_json:
        click.echo(json.dumps([_data(code, known[code]) for code in wanted], indent=2))
    elif not codes:
        for code in wanted:
            click.echo(f"{code}  {known[code]}")
    else:
        click.echo("\n\n".join(_explained(code, known[code]) for code in wanted))


def _explained(code: str, title: str) -> str:
    return "\n\n".join(part for part in (f"{code}: {title}", explanation(code)) if part)


def _data(code: str, title: str) -> dict[str, str]:
    severity = "warning" if code in RULES else "error"
    return {"code": code, "severity": severity, "title": title, "text": _explained(code, title)}
