"""`forgec train`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import click

from forgec.commands.common import FINDINGS, UNREADABLE
from forgec.commands.train_cluster import on_cluster

MISSING = "torch, transformers, tokenizers and safetensors are not installed: pip install 'forgec[train]'"


def _print_schema(backend: str) -> None:
    from forgec.cluster.config import ClusterConfig
    from forgec.training.config import RunConfig

    kind = ClusterConfig if backend == "nemo-rl" else RunConfig
    click.echo(json.dumps(kind.model_json_schema(), indent=2))


@click.command("train")
@click.argument("config", required=False, type=click.Path(path_type=Path, dir_okay=False), metavar="CONFIG.toml")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder of the run: a new one, or, with nemo-rl, that of a run to go on with.",
)
@click.option(
    "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Set a key of the file otherwise; may be repeated."
)
@click.option(
    "--resume",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="RUN",
    help="Go on with a run from its last checkpoint.",
)
@click.option("--allow-uncertified", is_flag=True, help="Train on tasks that are not certified as they are now, too.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Tell what would be run, look at all that can be looked at, and play gold plans; nothing is written.",
)
@click.option(
    "--backend",
    type=click.Choice(["embedded", "nemo-rl"]),
    default="embedded",
    show_default=True,
    help="Who trains: forgec itself, on a CPU, or NeMo-RL, on GPUs.",
)
@click.option(
    "--python",
    type=click.Path(path_type=Path, dir_okay=False),
    help="With nemo-rl: the interpreter of its workers, to see whether the environments load there.",
)
@click.option("--untested", is_flag=True, help="With nemo-rl: go on with a version that forgec does not know.")
@click.option("--schema", is_flag=True, help="Print the JSON schema of a configuration instead, by its --backend.")
def command(
    config: Path | None, out: Path | None, overrides: tuple[str, ...], resume: Path | None, dry_run: bool,
    allow_uncertified: bool, backend: str, python: Path | None, untested: bool, schema: bool,
) -> None:  # fmt: skip
    """Train a policy in compiled environments: a small one on a CPU, or a large one on a cluster.

    Gold trajectories are imitated until the policy succeeds now and then; then it is reinforced with ERPO: it plays,
    and what was paid better than the rest of its question becomes likelier. CONFIG.toml says in which environments,
    and all else; its keys are described in docs/training.md.

    With --backend nemo-rl, CONFIG.toml is another, described in docs/cluster.md: everything that can be looked at
    without a GPU is, questions and a recipe are written to the folder of the run, and NeMo-RL's own script is started.

    The folder of a run has the configuration with hashes of all that is played, metrics, checkpoints, policies, and
    trajectories before and after. A run that was killed goes on with --resume, to the same curve.

    \b
    Examples:
      forgec train desk.toml --out runs/desk
      forgec train desk.toml --out runs/grpo --set reinforcement.estimator=grpo --set seed=3
      forgec train desk.toml --dry-run
      forgec train --resume runs/desk
      forgec train --backend nemo-rl cluster.toml --out runs/large --dry-run

    Exit codes: 0 trained, 1 the run cannot go on, or something has changed since it began, 2 usage, or a file that
    cannot be read.
    """
    if schema:
        _print_schema(backend)
        return
    if backend == "nemo-rl":
        if config is None or out is None or resume is not None:
            raise click.UsageError("name a CONFIG.toml and, with --out, a folder; a run that is there is gone on with")
        on_cluster(config, out, overrides, python=python, untested=untested, allow_uncertified=allow_uncertified,
                   dry_run=dry_run)  # fmt: skip
        return
    if python is not None or untested:
        raise click.UsageError("--python and --untested are for --backend nemo-rl")
    if (config is None) == (resume is None):
        raise click.UsageError("name a CONFIG.toml for a new run, or --resume a run")
    if allow_uncertified:
        overrides = (*overrides, "allow_uncertified=true")
    if resume is not None and (overrides or out):
        raise click.UsageError(
            "a run goes on as it was begun: --set, --allow-uncertified and --out belong to a new one"
        )
    if config is not None and out is None and not dry_run:
        raise click.UsageError("say with --out where the run is to be written")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    try:
        from forgec.training.config import ConfigError
        from forgec.training.run import RunStopped
    except ModuleNotFoundError as error:
        click.echo(f"error: {MISSING} ({error.name})", err=True)
        sys.exit(UNREADABLE)
    try:
        _train(config, out, overrides, resume, dry_run)
    except ConfigError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(UNREADABLE)
    except RunStopped as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(FINDINGS)
    except OSError as error:
        click.echo(f"error: the run cannot be written: {error}; go on with --resume once it can", err=True)
        sys.exit(FINDINGS)
    except KeyboardInterrupt:
        click.echo("interrupted: go on with --resume", err=True)
        sys.exit(130)


def _train(
    config: Path | None, out: Path | None, overrides: tuple[str, ...], resume: Path | None, dry_run: bool
) -> None:
    from forgec.training import curves, opening, outcome
    from forgec.training.config import read
    from forgec.training.planning import told
    from forgec.training.run import RunStopped, Training

    if config is not None:
        opened = opening.open_environments(read(config, overrides))
        folder = out
    else:
        assert resume is not None
        folder, record = resume, opening.recorded(resume)
        opened = opening.open_environments(opening.config_of(record, resume))
        changed = opening.drift(record, opened)
        if changed:
            raise RunStopped(f"{resume} was begun with something else: {', '.join(changed[:10])}; begin a new run")
        if record["code"] != opening.code_hash():
            click.echo("beware: forgec has changed since this run began; its curve may be another", err=True)
    if dry_run:
        click.echo(told(opened))
        return
    assert folder is not None
    if config is not None:
        opening.begin(folder, opened)
    with opening.alone_in(folder):
        Training(
            folder,
            opened.config,
            opened.environments,
            opened.choices,
            opened.stage,
            lambda line: click.echo(line, err=True),
        ).play()
    click.echo(outcome.told(curves.read(folder)))
