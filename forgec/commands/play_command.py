"""`forgec play`."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import IO

import click

from forgec.commands.common import FINDINGS, fail, sources_option
from forgec.commands.environments import package
from forgec.commands.model_options import ModelOptions, model_options
from forgec.playing.play import Outcome, play
from forgec.playing.script import play_script, script_lines, transcript
from forgec.playing.session import Session
from forgec_runtime import Environment, LoadError, load_environment


@click.command("play")
@click.argument("environment", metavar="ENV_OR_SPEC")
@click.option("--world", metavar="NAME", help="Start in this world; else in the first one.")
@click.option("--task", metavar="NAME", help="Start with this task, in its world.")
@click.option("--seed", type=click.IntRange(0, 999_999_999), help="Draws what the task samples; else 0.")
@click.option("--script", metavar="FILE", help="Play the lines of FILE instead of asking; `-` is standard input.")
@click.option("--as", "side", type=click.Choice(["user"]), help="Play the user of --task, in a dialogue with --agent.")
@click.option("--agent", metavar="NAME", help="Who answers the user: gold, openai:MODEL, ..., as in `forgec run`.")
@model_options
@sources_option
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object a line: input, kind, result, changes.")
def command(
    environment: str,
    world: str | None,
    task: str | None,
    seed: int | None,
    script: str | None,
    side: str | None,
    agent: str | None,
    model: ModelOptions,
    allowed: tuple[str, ...],
    as_json: bool,
) -> None:
    """Call the tools of an environment by hand, as an agent would.

    ENV_OR_SPEC is the folder of a generated package, its name when it lies in ./generated, or a spec (.afs), which is
    checked and compiled on the spot. A line is a call, such as `find_member email=joan@example.org`, or a command that
    begins with a dot; `.help` lists them. Each call shows its result, the rows it changed and the audited rules it
    broke. What was done can be undone.

    Without a terminal, with --script and with --json, lines are read as they are and echoed after `> `. The transcript
    of such a session is itself a script that plays it again.

    With --as user a person plays the user of a task, and --agent the agent: what is typed is said, `.done` ends it.
    The reward and its reasons are printed then, or with --json the trajectory.

    \b
    Examples:
      forgec play library
      forgec play library --as user --task settle_the_overdue --agent openai:qwen3-8b --base-url http://localhost:8000/v1
      forgec play specs/library.afs --task settle_the_overdue
      forgec play library --task a_late_book --seed 7
      forgec play library --script session.txt
      echo 'find_by_name name=Moreno' | forgec play library --json

    Exit codes: 0 played, 1 the spec has findings or a line of a script is not understood, 2 usage or unreadable input.
    """
    if world is not None and task is not None:
        raise click.UsageError("a task has a world of its own: give --world or --task, not both")
    if seed is not None and task is None:
        raise click.UsageError("a seed draws what a task samples: give --task, too")
    if (side is None) != (agent is None):
        raise click.UsageError("a user needs somebody to talk to: give --as user and --agent together")
    if agent is not None and (task is None or script is not None):
        raise click.UsageError("the user has a task, and says what it types: give --task, and no --script")
    if agent is not None and task is not None:
        from forgec.commands.play_user import play_user

        sys.exit(play_user(environment, task, seed or 0, agent, model, allowed, as_json=as_json))
    begun = f"{task} {seed}" if seed is not None else task
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that lacks a letter is no reason to stop
    try:
        if script is None and not as_json and sys.stdin.isatty() and sys.stdout.isatty():
            _play_terminal(environment, allowed, world, begun)
        else:
            _play_script(environment, allowed, world, begun, script or "-", as_json)
    except LoadError as error:
        fail(str(error))


def _play_terminal(name: str, allowed: tuple[str, ...], world: str | None, task: str | None) -> None:
    from forgec.playing.terminal import play_terminal

    with package(name, allowed) as folder:
        environment = load_environment(folder, allow_sources=allowed)
        session = _started(environment, world, task, partial(transcript, color=True))
        play_terminal(session, click.echo)


def _play_script(
    name: str, allowed: tuple[str, ...], world: str | None, task: str | None, script: str, as_json: bool
) -> None:
    shown = "standard input" if script == "-" else script
    with _open(script) as file, package(name, allowed) as folder:
        environment = load_environment(folder, allow_sources=allowed)
        lines = script_lines(_lines(file, shown))
        if world is None and task is None:
            world, task, lines = _beginning(environment, lines)
        session = _started(environment, world, task, partial(transcript, as_json=as_json))
        wrong = play_script(session, lines, click.echo, as_json=as_json)
    if wrong is not None:
        click.echo(f"{shown}:{wrong}: stopped at a line that cannot be played", err=True)
        sys.exit(FINDINGS)


def _beginning(
    environment: Environment, lines: Iterator[tuple[int, str]]
) -> tuple[str | None, str | None, Iterator[tuple[int, str]]]:
    """The world and the task that a script begins with, if its first line names one, and the lines to play then."""
    for number, line in lines:
        command, _, name = line.strip().partition(" ")
        if command == ".world" and name in environment.worlds:
            return name, None, lines
        if command == ".task" and name in environment.tasks:
            return None, name, lines
        return None, None, chain([(number, line)], lines)
    return None, None, lines


def _started(
    environment: Environment, world: str | None, task: str | None, written: Callable[[Outcome], str]
) -> Session:
    """A session that has just begun, its beginning shown as if it had been typed. Raises `LoadError`."""
    if not environment.worlds:
        raise LoadError(f"`{environment.name}` has no world to play in")
    first = min(environment.worlds, key=lambda name: bool(environment.denied(name)))
    session = Session(environment, first)
    outcome = play(session, f".task {task}" if task else f".world {world or first}")
    if outcome.failed:
        raise LoadError(outcome.answer.data)
    session.begin_here()
    click.echo(written(outcome))
    return session


def _open(script: str) -> IO[bytes]:
    """The script to play. Raises `LoadError`."""
    try:
        return click.open_file(script, "rb")
    except FileNotFoundError:
        raise LoadError(f"there is no file {script}") from None
    except OSError as error:
        raise LoadError(f"{script} cannot be read: {error.strerror}") from None


def _lines(file: IO[bytes], name: str) -> Iterator[str]:
    """The lines of a script, each as soon as it is there. Raises `LoadError`."""
    for number, line in enumerate(file, 1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise LoadError(f"{name}:{number}: this line is not UTF-8") from None
