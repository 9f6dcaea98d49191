"""`forgec serve-policy`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forgec.commands.common import UNREADABLE

if TYPE_CHECKING:
    from forgec.training.serving import Completes

PORT = 8321
LONGEST_CHAT = 64
"""Tokens of an answer of a large model, where nothing is said."""


@click.command("serve-policy")
@click.argument("run", type=click.Path(path_type=Path, file_okay=False), metavar="RUN")
@click.option(
    "--policy",
    type=click.Choice(["imitated", "trained", "control"]),
    default="trained",
    show_default=True,
    help="Which policy of the run.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0 takes one that is free."
)
@click.option("--longest-turn", type=click.IntRange(1), help="Tokens of an answer; else as in the run.")
@click.option(
    "--min-p",
    type=click.FloatRange(0, 1, max_open=True),
    help="No token is drawn that is less likely than this share of the likeliest; else as in the run.",
)
@click.option(
    "--chat",
    is_flag=True,
    help="RUN is a run of --backend nemo-rl, or the folder of a model in Hugging Face's form, of Qwen3's dialogues.",
)
@click.option("--no-thinking", is_flag=True, help="With --chat: turns are not begun with <think>.")
def command(
    run: Path, policy: str, host: str, port: int, longest_turn: int | None, min_p: float | None, chat: bool,
    no_thinking: bool,
) -> None:  # fmt: skip
    """Serve a policy of a run behind an endpoint that speaks OpenAI's chat completions.

    It answers /v1/chat/completions and /v1/models, whole answers only, until it is interrupted. It knows the tools of
    the environments that it was trained in, and refuses others. It draws as it did in the evaluations of the run,
    where a request does not ask for another temperature. There is no key: serve it on an address that only you can
    reach.

    With --chat it serves a large model's checkpoint, converted where that is needed, one answer at a time: to look at.

    \b
    Examples:
      forgec serve-policy runs/desk --port 8321
      forgec run library --user scripted --agent openai:forgec --base-url http://127.0.0.1:8321/v1 --task a_late_book
      forgec serve-policy runs/large --chat --longest-turn 2048

    Exit codes: 0 interrupted, 2 usage, there is no policy, or the port is taken.
    """
    try:
        from forgec.training.serving import server

        if chat:
            answerer = _chat(run, LONGEST_CHAT if longest_turn is None else longest_turn, not no_thinking)
        else:
            answerer = _policy(run, policy, longest_turn, min_p)
    except ModuleNotFoundError as error:
        click.echo(f"error: {error.name} is not installed: pip install 'forgec[train]'", err=True)
        sys.exit(UNREADABLE)
    except ValueError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(UNREADABLE)
    try:
        endpoint = server(answerer, host, port)
    except OSError as error:
        click.echo(f"error: {host}:{port} cannot be listened at: {error.strerror}", err=True)
        sys.exit(UNREADABLE)
    click.echo(f"http://{host}:{endpoint.server_address[1]}/v1 answers for {run if chat else run / policy}", err=True)
    try:
        endpoint.serve_forever()
    except KeyboardInterrupt:
        click.echo("stopped", err=True)
    finally:
        endpoint.server_close()


def _policy(run: Path, name: str, longest_turn: int | None, min_p: float | None) -> Completes:
    from forgec.training import opening
    from forgec.training import policy as policies
    from forgec.training.serving import Answerer
    from forgec.training.template import Template

    model, tokenizer = policies.load(run / name)
    config = opening.config_of(opening.recorded(run), run)
    return Answerer(
        model, Template(tokenizer), config.longest_turn if longest_turn is None else longest_turn,
        temperature=config.evaluation.temperature, min_p=config.min_p if min_p is None else min_p,
    )  # fmt: skip


def _chat(run: Path, longest_turn: int, thinking: bool) -> Completes:
    from forgec.cluster.checkpoints import Saved, convert
    from forgec.cluster.planning import launched
    from forgec.cluster.serving import ChatAnswerer

    saved = Saved(run, run)
    if not (run / "config.json").is_file():
        checkout, thinks = launched(run)
        saved, thinking = convert(run, checkout), thinking and thinks
    return ChatAnswerer(saved, thinking=thinking, longest_turn=longest_turn)
