"""`forgec run`."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from forgec.commands.common import FINDINGS, UNREADABLE, require_option, sources_option
from forgec.commands.environments import package
from forgec.commands.locks import Locks, lock_option
from forgec.commands.model_options import ModelOptions, model_options
from forgec.commands.run_table import play_table, row, table
from forgec.commands.telemetry_option import telemetry_option, tell
from forgec.commands.wanted import Wanted, tasks_option
from forgec_runtime import AGENTS, GoldError, LoadError, PostureError, TaskError, load_environment
from forgec_runtime.confining.posture import Posture


def _print_schema(ctx: click.Context, option: click.Parameter, value: bool) -> None:
    if value:
        from forgec.rollouts.trajectory import Trajectory

        click.echo(json.dumps(Trajectory.model_json_schema(), indent=2))
        ctx.exit()


@click.command("run")
@click.argument("environments", nargs=-1, required=True, metavar="ENV_OR_SPEC...")
@click.option(
    "--agent",
    "agents",
    multiple=True,
    default=("gold",),
    show_default=True,
    metavar="NAME",
    help="Who plays: gold, noop, random, replay:FILE, openai:MODEL, or MODULE:FUNCTION. Several of the first three "
    "are compared in a table.",
)
@click.option(
    "--user",
    metavar="NAME",
    help="Who the agent talks to: scripted, briefed (tells all at once, and is content with the first answer), "
    "openai:MODEL, or replay:FILE. Without one the built-in agents play alone.",
)
@click.option(
    "--judge", metavar="openai:MODEL", help="A model that decides whether the user erred, where rules leave it open."
)
@tasks_option
@click.option("--trials", type=click.IntRange(1), default=1, show_default=True, help="How often each task is played.")
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="Draws what tasks sample, and the calls of the random agent; else it changes nothing.",
)
@click.option(
    "--seeds", type=click.IntRange(1), default=1, show_default=True,
    help="Play each task with so many seeds, from --seed on: with other samples each time, where it samples any.",
)  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write trajectories to this file.")
@click.option("--resume", is_flag=True, help="Go on with --out: what is in it already is not played again.")
@click.option("--at-once", type=click.IntRange(1), default=64, show_default=True, help="Episodes in flight.")
@click.option("--workers", type=click.IntRange(1), help="Processes that hold the episodes; else this one does.")
@require_option
@telemetry_option
@click.option("--max-turns", type=click.IntRange(1), help="Messages of the agent in an episode; else 100.")
@click.option("--max-tool-calls", type=click.IntRange(1), help="Calls of the agent in an episode; else 500.")
@click.option("--max-tokens", type=click.IntRange(1), help="Tokens of the agent's model in an episode.")
@click.option("--max-seconds", type=click.FloatRange(0, min_open=True), help="Time of an episode; else 3600.")
@model_options
@sources_option
@lock_option
@click.option(
    "--ablate-reasoning", is_flag=True,
    help="Play all of it twice, with the thoughts of earlier turns and without, and compare: --out NAME.jsonl, and "
    "NAME.dropped.jsonl beside it.",
)  # fmt: skip
@click.option("--schema", is_flag=True, is_eager=True, expose_value=False, callback=_print_schema,
              help="Print the JSON schema of a trajectory instead.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print rewards with their reasons, or the summary, as JSON.")
def command(
    environments: tuple[str, ...], agents: tuple[str, ...], user: str | None, judge: str | None,
    wanted: tuple[str, ...], trials: int, seed: int, seeds: int, allowed: tuple[str, ...], as_json: bool,
    out: Path | None, resume: bool, at_once: int, workers: int | None, require: Posture | None, telemetry: str | None,
    max_turns: int | None, max_tool_calls: int | None, max_tokens: int | None, max_seconds: float | None,
    model: ModelOptions, lock_file: Path | None, ablate_reasoning: bool,
) -> None:  # fmt: skip
    """Play the tasks of environments and pay rewards.

    ENV_OR_SPEC is the folder of a generated package, its name when it lies in ./generated, or a spec (.afs), which is
    compiled on the spot. Tasks in a world with rows from outside are skipped unless its sources are allowed.

    Tasks that are not certified, or were before something changed, are played, too; each result says so.

    The built-in agents need no user: `gold` plays the plan of each task, `noop` does nothing, `random` calls tools at
    random, and a table says what they were paid. With --user, --out, --trials, --seeds, a limit, or any other agent,
    each episode is a dialogue: the user opens, the agent speaks or calls tools, until the user is satisfied, a tool
    ends the episode, or a limit is reached. Trajectories go to --out, a line of JSON each, and a summary is printed.

    With --workers, episodes live in processes that confine themselves, as far as this system can; with --require, only
    in such that are confined so far. Without both they live in this process, which is for specs that are trusted.

    Keys are read from environment variables alone. A run that was interrupted goes on with --resume.

    \b
    Examples:
      forgec run library --agent gold --agent noop
      forgec run specs/library.afs --task settle_the_overdue --json
      forgec run library --user scripted --agent openai:qwen3-8b --base-url http://localhost:8000/v1 \\
          --trials 4 --out qwen3.jsonl
      forgec run library --user scripted --agent my_agent:act --trials 4 --out mine.jsonl --resume
      forgec run library --agent openai:qwen3-8b --trials 4 --out qwen3.jsonl --ablate-reasoning
      forgec run --schema

    Exit codes: 0 played, 1 a gold plan fails or is not paid, or episodes could not be finished, 2 usage, or an
    environment or task does not exist.
    """
    chosen = Wanted.parsed(wanted, len(environments))
    alone = all(agent in AGENTS for agent in agents)
    more = (
        user,
        judge,
        out,
        max_turns,
        max_tool_calls,
        max_tokens,
        max_seconds,
        workers,
        require,
        model.record,
        model.replay,
    )
    flags = resume, trials > 1, seeds > 1, ablate_reasoning, not alone
    dialogue = any(one is not None for one in more) or any(flags)
    try:
        with ExitStack() as stack:
            folders = [stack.enter_context(package(name, allowed)) for name in environments]
            locks = Locks.beside(environments, folders, lock_file)
            if dialogue:
                from forgec.commands.run_rollouts import Options, run_rollouts

                limits: dict[str, Any] = {
                    "turns": max_turns, "calls": max_tool_calls, "tokens": max_tokens, "seconds": max_seconds
                }  # fmt: skip
                options = Options(
                    agents=agents, user=user or "scripted", judge=judge, trials=trials, seed=seed, seeds=seeds,
                    out=out, resume=resume, at_once=at_once, workers=workers, require=require, telemetry=telemetry,
                    model=model, allowed=allowed, as_json=as_json, locks=locks,
                    limits={name: value for name, value in limits.items() if value is not None},
                )  # fmt: skip
                if ablate_reasoning:
                    from forgec.commands import ablation

                    sys.exit(ablation.ablate_reasoning(folders, chosen, options))
                sys.exit(run_rollouts(folders, chosen, options))
            loaded = [load_environment(folder, allow_sources=allowed) for folder in folders]
            if telemetry is not None:
                for environment in loaded:
                    environment.measure()
            played = play_table(loaded, agents, chosen, seed, locks)
            chosen.check()
            sampled = {(env.name, task.name) for env in loaded for task in env.tasks.values() if task.sampled}
    except (LoadError, PostureError) as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(UNREADABLE)
    except GoldError as error:
        click.echo(f"error: the gold plan fails: {error}", err=True)
        sys.exit(FINDINGS)
    except TaskError as error:
        click.echo(f"error: a task cannot begin: {error}", err=True)
        sys.exit(FINDINGS)
    click.echo(json.dumps([row(one) for one in played], indent=2) if as_json else table(played, agents))
    tell(telemetry, ((environment, environment.measured()) for environment in loaded))
    given = click.get_current_context().get_parameter_source("seed") is not ParameterSource.DEFAULT
    if given and "random" not in agents and not any((one.environment, one.task) in sampled for one in played):
        click.echo("--seed changes nothing here: no task that was played samples anything", err=True)
    unpaid = any(one.agent == "gold" and one.reward.value != 1.0 for one in played)
    sys.exit(FINDINGS if unpaid else 0)
