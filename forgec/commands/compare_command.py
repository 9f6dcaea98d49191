"""`forgec compare`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from forgec.commands.common import fail
from forgec.rollouts.comparing import Comparison, compared
from forgec.rollouts.store import StoreError, read
from forgec.rollouts.summary import Summary
from forgec.rollouts.trajectory import HashesOf


@click.command("compare")
@click.argument("before", type=click.Path(path_type=Path))
@click.argument("after", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def command(before: Path, after: Path, as_json: bool) -> None:
    """Compare two files of trajectories, task by task.

    A task is compared with itself: what is told is the mean difference of the tasks that both files have, an interval
    for it by a paired bootstrap over tasks, and how likely so lopsided a count of better and worse tasks would be by
    chance: McNemar's exact test, or with several trials a task the exact sign test, and the exact sign-flip test of the
    mean difference. The trials of a task belong together, and are not counted as if they were tasks.

    \b
    Examples:
      forgec compare base.jsonl trained.jsonl
      forgec compare kept.jsonl dropped.jsonl --json

    Exit codes: 0 compared, 2 a file cannot be read, the files have no task in common, or were not played in the same
    environment.
    """
    found = compared_files(before, after)
    click.echo(json.dumps(found.json(), indent=2) if as_json else found.text())


def compared_files(before: Path, after: Path) -> Comparison:
    """The comparison of two files; leaves with a word where there is none."""
    try:
        runs, hashes = [], []
        for path in (before, after):
            summary, known = Summary(), dict[str, HashesOf]()
            for one in read(path):
                summary.add(one)
                if one.hashes is not None:
                    known[f"{one.environment}/{one.task}"] = one.hashes
            runs.append(summary)
            hashes.append(known)
        found = compared(*runs)
    except StoreError as error:
        fail(str(error))
    if found is None:
        fail(f"{before} and {after} have no task in common")
    changed = [task for task, known in hashes[0].items() if task in hashes[1] and hashes[1][task] != known]
    if changed:
        names = [name for name, value in hashes[0][changed[0]] if value != getattr(hashes[1][changed[0]], name)]
        what = " and ".join(names)
        fail(f"{len(changed):,} tasks changed between the runs, such as {changed[0]}: its {what} is not the same")
    return found
