"""`forgec serve`."""

from __future__ import annotations

import asyncio
from typing import Any

import click

from forgec.commands.common import fail, sources_option
from forgec.commands.environments import package
from forgec.diagnostics import did_you_mean
from forgec_runtime import AsyncEnvironment, LoadError, Workers, load_environment

PORT = 8322


@click.group("serve")
def command() -> None:
    """Offer an environment to agents in other programs.

    \b
    Examples:
      forgec serve mcp library --task settle_the_overdue
      forgec serve mcp specs/library.afs --transport http --port 8322

    Exit codes: 0 ended, 1 the spec has findings, 2 usage, or the environment, the task or the port cannot be had.
    """


@command.command("mcp")
@click.argument("environment", metavar="ENV_OR_SPEC")
@click.option("--task", metavar="NAME", help="The task that sessions play.  [default: the first]")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Draws what the task samples.")
@click.option(
    "--user", type=click.Choice(["scripted", "briefed"]), default="scripted", show_default=True,
    help="Who plays the user: rules, or somebody who tells everything at once.",
)  # fmt: skip
@click.option("--transport", type=click.Choice(["stdio", "http"]), default="stdio", show_default=True)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option("--port", type=click.IntRange(1, 65535), default=PORT, show_default=True)
@click.option("--workers", type=click.IntRange(1), help="Processes that hold the episodes; else this one does.")
@sources_option
def mcp(
    environment: str, task: str | None, seed: int, user: str, transport: str, host: str, port: int,
    workers: int | None, allowed: tuple[str, ...],
) -> None:  # fmt: skip
    """Offer an environment as a server of the Model Context Protocol.

    ENV_OR_SPEC is the folder of a generated package, its name when it lies in ./generated, or a spec (.afs). Agents see
    its tools, and one to talk to the user; its policy is what the server says of itself. An error of a tool is told as
    one, and the episode goes on.

    Over standard input and output there is one session. Over HTTP (`streamable HTTP`, at /mcp) each session has an
    episode of its own, and so has each /mcp/NAME; ?task=NAME&seed=N chooses what it plays. There is no key: serve it on
    an address that only you can reach.

    \b
    Examples:
      forgec serve mcp library --task settle_the_overdue
      forgec serve mcp specs/library.afs --transport http --port 8322
      forgec serve mcp library --transport http --workers 2

    Exit codes: 0 ended, 1 the spec has findings, 2 usage, or the environment, the task or the port cannot be had.
    """
    try:
        from forgec.serving import mcp_server
    except ModuleNotFoundError as error:
        fail(f"{error.name} is not installed: pip install 'forgec[mcp]'")
    from forgec.rollouts import players
    from forgec.rollouts.run import Runner, Setup, Side
    from forgec.serving.session import Seat
    from forgec.serving.sessions import Sessions

    async def serve(env: Any, inner: Any, chosen: mcp_server.Chosen) -> None:
        made = players.user(user)
        front: AsyncEnvironment[Any] = AsyncEnvironment(env, timeout=60.0)
        setup = Setup(Side("served"), made.side, lambda part: Seat(), made.play)
        runner = Runner(inner, front, setup, lambda trajectory: None, [])
        sessions = Sessions(runner)
        server = mcp_server.McpServer(runner, sessions, chosen)
        try:
            if transport == "stdio":
                await server.serve_stdio()
            else:
                await _listen(server.application(), host, port)
        finally:
            await sessions.close()
            await front.close()

    try:
        with package(environment, allowed) as folder:
            env = load_environment(folder, allow_sources=allowed)
            name = task or next(iter(env.tasks), "")
            if name not in env.tasks:
                hint = did_you_mean(name, env.tasks)
                fail(f"`{env.name}` has no task `{name}`" + (f"; {hint}" if hint else ""))
            held = Workers(folder, workers, allow_sources=allowed) if workers else None
            try:
                asyncio.run(serve(held or env, held.environment if held else env, mcp_server.Chosen(name, seed)))
            finally:
                if held:
                    held.close()
    except KeyboardInterrupt:
        click.echo("stopped", err=True)
    except LoadError as error:
        fail(str(error))


async def _listen(app: Any, host: str, port: int) -> None:
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(app, host=host, port=port, log_level="warning"))
    click.echo(f"http://{host}:{port}/mcp answers", err=True)
    try:
        await server.serve()
    except SystemExit:
        fail(f"{host}:{port} cannot be listened at")
