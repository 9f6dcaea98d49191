"""`forgec serve-policy`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from forgec.commands.common import UNREADABLE

PORT = 8321


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
@click.option("--longest-turn", type=click.IntRange(1), default=64, show_default=True, help="Tokens of an answer.")
def command(run: Path, policy: str, host: str, port: int, longest_turn: int) -> None:
    """Serve a policy of a run behind an endpoint that speaks OpenAI's chat completions.

    It answers /v1/chat/completions and /v1/models, whole answers only, until it is interrupted. It knows the tools of
    the environments that it was trained in, and refuses others. There is no key: serve it on an address that only you
    can reach.

    \b
    Examples:
      forgec serve-policy runs/desk --port 8321
      forgec run library --user scripted --agent openai:forgec --base-url http://127.0.0.1:8321/v1 --task a_late_book

    Exit codes: 0 interrupted, 2 usage, there is no policy, or the port is taken.
    """
    try:
        from forgec.training import policy as policies
        from forgec.training.serving import Answerer, server
        from forgec.training.template import Template
    except ModuleNotFoundError as error:
        click.echo(f"error: {error.name} is not installed: pip install 'forgec[train]'", err=True)
        sys.exit(UNREADABLE)
    try:
        model, tokenizer = policies.load(run / policy)
        answerer = Answerer(model, Template(tokenizer), longest_turn)
        endpoint = server(answerer, host, port)
    except ValueError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(UNREADABLE)
    except OSError as error:
        click.echo(f"error: {host}:{port} cannot be listened at: {error.strerror}", err=True)
        sys.exit(UNREADABLE)
    click.echo(f"http://{host}:{endpoint.server_address[1]}/v1 answers for {run / policy}", err=True)
    try:
        endpoint.serve_forever()
    except KeyboardInterrupt:
        click.echo("stopped", err=True)
    finally:
        endpoint.server_close()
