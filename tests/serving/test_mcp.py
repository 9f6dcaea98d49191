"""`forgec serve mcp`, asked by the client of the `mcp` package: over standard input and output, and over HTTP."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn
from click.testing import CliRunner
from mcp import StdioServerParameters
from mcp.client.client import Client

from forgec.commands import forgec
from forgec.rollouts import players
from forgec.rollouts.run import Runner, Setup, Side
from forgec.serving.mcp_server import Chosen, McpServer
from forgec.serving.session import Seat
from forgec.serving.sessions import Sessions
from forgec_runtime import AsyncEnvironment
from tests.serving.playing import GENERATED, environment, gold_moves

TASK = "settle_the_overdue"


@contextmanager
def serving(name: str = "library", task: str = TASK) -> Iterator[tuple[str, McpServer]]:
    """A server in a thread of its own; gives its address."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    env = environment(name)
    front: AsyncEnvironment[Any] = AsyncEnvironment(env)
    made = players.user("scripted")
    setup = Setup(Side("served"), made.side, lambda part: Seat(), made.play)
    runner = Runner(env, front, setup, lambda trajectory: None, [])
    found = McpServer(runner, Sessions(runner), Chosen(task, 0))
    server = uvicorn.Server(uvicorn.Config(found.application(), log_level="warning"))

    async def serve() -> None:
        await server.serve(sockets=[listener])
        await found.sessions.close()
        await front.close()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", found
    finally:
        server.should_exit = True
        thread.join(10)


def text(result: Any) -> str:
    return "".join(part.text for part in result.content)


def test_a_client_plays_a_task_over_standard_input_and_output() -> None:
    command = ["-m", "forgec", "serve", "mcp", str(GENERATED / "library"), "--task", TASK]
    moves = gold_moves(environment(), TASK)

    async def play() -> tuple[Any, list[Any], str]:
        async with Client(StdioServerParameters(command=sys.executable, args=command)) as client:
            tools = (await client.list_tools()).tools
            opening = text(await client.call_tool("talk_to_user", {}))
            results = []
            for move in moves:
                for call in move.calls:
                    results.append(await client.call_tool(call.name, json.loads(call.arguments)))
                if not move.calls:
                    results.append(await client.call_tool("talk_to_user", {"message": move.text}))
            return tools, results, opening

    tools, results, opening = asyncio.run(play())
    by_name = {tool.name: tool for tool in tools}
    schema = environment().tools["find_member"].schema["function"]
    assert by_name["find_member"].input_schema == schema["parameters"]
    assert by_name["find_member"].description == schema["description"]
    assert opening.startswith("I have let two books run over")
    assert not any(result.is_error for result in results)
    assert text(results[-1]).endswith("Thank you, that is all.\nThe episode has ended.")


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_names_below_the_address_are_episodes_of_their_own(mode: str) -> None:
    async def play(url: str) -> list[str]:
        async with Client(f"{url}/a", mode=mode) as one, Client(f"{url}/b", mode=mode) as other:
            changed = {"member_id": "M001", "email": "new@example.org"}
            first = await one.call_tool("change_email", changed)
            seen = [await client.call_tool("find_member", {"email": "new@example.org"}) for client in (one, other)]
            return [str(result.is_error) for result in (first, *seen)]

    with serving() as (url, _):
        assert asyncio.run(play(url)) == ["False", "False", "True"]


def test_sessions_are_isolated_without_names() -> None:
    async def play(url: str) -> list[bool]:
        async with Client(url, mode="legacy") as one, Client(url, mode="legacy") as other:
            await one.call_tool("change_email", {"member_id": "M001", "email": "new@example.org"})
            seen = [await client.call_tool("find_member", {"email": "new@example.org"}) for client in (one, other)]
            return [result.is_error for result in seen]

    with serving() as (url, server):
        assert asyncio.run(play(url)) == [False, True]
        assert len(server.sessions) == 2


def test_what_is_amiss_is_an_error_of_the_tool_and_the_episode_goes_on() -> None:
    asked: list[tuple[str, dict[str, Any], str]] = [
        ("no_such_tool", {}, "There is no tool 'no_such_tool'"),
        ("find_member", {}, "email is missing"),
        ("find_member", {"email": 7}, "email must be"),
        ("list_loans", {"member_id": "M999"}, "M999"),
        ("list_loans", {"member_id": "x" * 200_000}, "Not called"),
        ("talk_to_user", {"message": 7}, "message must be a string"),
        ("talk_to_user", {"massage": "x"}, "no other argument"),
    ]

    async def play(url: str) -> tuple[list[Any], Any]:
        async with Client(f"{url}/a") as client:
            wrong = [await client.call_tool(name, arguments) for name, arguments, _ in asked]
            return wrong, await client.call_tool("list_loans", {"member_id": "M001"})

    with serving() as (url, _):
        wrong, after = asyncio.run(play(url))
    assert [result.is_error for result in wrong] == [True] * len(asked)
    assert all(part in text(result) for result, (_, _, part) in zip(wrong, asked, strict=True))
    assert not after.is_error


def test_an_address_chooses_the_task() -> None:
    async def play(url: str) -> list[str]:
        openings = []
        for query in ("", "?task=keep_what_can_be_kept&seed=3", "?task=none", "?seed=-1"):
            async with Client(f"{url}/{query.count('=')}{len(query)}{query}") as client:
                openings.append(text(await client.call_tool("talk_to_user", {})))
        return openings

    with serving() as (url, _):
        first, second, third, fourth = asyncio.run(play(url))
    assert first.startswith("I have let two books") and second not in ("", first)
    assert third == "There is no task 'none'." and fourth.startswith("seed must be a number")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["no_such"], "no generated environment"),
        ([str(GENERATED / "library"), "--task", "settle"], "has no task `settle`"),
    ],
)
def test_what_cannot_be_served_is_told(arguments: list[str], part: str) -> None:
    done = CliRunner().invoke(forgec, ["serve", "mcp", *arguments])
    assert done.exit_code == 2 and part in done.output
