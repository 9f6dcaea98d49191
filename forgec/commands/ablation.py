"""A run with the thoughts of earlier turns, one without, and the difference: `forgec run --ablate-reasoning`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from forgec.commands.common import CLEAN
from forgec.commands.compare_command import compared_files
from forgec.commands.run_rollouts import Options, run_rollouts
from forgec.commands.wanted import Wanted


def ablate_reasoning(folders: Sequence[Path], wanted: Wanted, options: Options) -> int:
    """Play the wanted tasks twice and print a comparison; the exit code. Raises `LoadError`."""
    if options.out is None:
        raise click.UsageError("--ablate-reasoning plays two runs: name the file of the first with --out")
    if not any(agent.startswith("openai:") for agent in options.agents):
        raise click.UsageError("--ablate-reasoning is for an agent that is a model: --agent openai:MODEL")
    kept, dropped = options.out, options.out.with_name(f"{options.out.stem}.dropped{options.out.suffix}")
    for path, keep in ((kept, True), (dropped, False)):
        click.echo(f"{path}: thoughts of earlier turns are {'kept' if keep else 'dropped'}", err=True)
        model = replace(options.model, keep_reasoning=keep)
        code = run_rollouts(folders, wanted, replace(options, out=path, model=model, silent=options.as_json))
        if code != CLEAN:
            return code
    found = compared_files(dropped, kept)
    click.echo(json.dumps(found.json(), indent=2) if options.as_json else f"\n{dropped} -> {kept}\n{found.text()}")
    return CLEAN
