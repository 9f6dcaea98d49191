"""An environment as a server of the Model Context Protocol: its tools, and one more, to talk to the user.

Each session of the protocol has an episode of its own; so has each name below `/mcp/`, for clients of protocols that
know no sessions. Through standard input and output there is one.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route

from forgec.dialogue import AssistantMessage, ToolCall, readable
from forgec.llm.errors import LLMError
from forgec.rollouts.run import Job, Runner
from forgec.serving.session import Over, Session
from forgec.serving.sessions import Full, Sessions
from forgec_runtime import CallTimeout, GoldError, TaskError, WorkerError

TALK = "talk_to_user"
"""The tool that is not the environment's."""
MAX_NAME = 200
ENDED = "The episode has ended."
NO_SESSION = (
    "This request is of no session: initialize one, or give it a name of its own in the address, as /mcp/NAME does."
)


class NoSession(Exception):
    """A request that belongs to no episode, and why."""


@dataclass(frozen=True)
class Chosen:
    """The episode that a session plays where it does not ask for another."""

    task: str
    seed: int


class McpServer:
    """One environment, for all sessions of a process. Whoever makes it closes `sessions`."""

    def __init__(self, runner: Runner, sessions: Sessions, chosen: Chosen) -> None:
        self.runner, self.sessions, self.chosen = runner, sessions, chosen
        environment = runner.environment
        self.tools = [_tool(tool.schema["function"]) for tool in environment.tools.values()]
        self.talk = TALK if TALK not in environment.tools else f"{TALK}_2"
        self.tools.append(_talk(self.talk))
        self.server: Server[Any] = Server(
            environment.name,
            instructions=environment.policy,
            on_list_tools=self._list,
            on_call_tool=self._call,
        )

    async def serve_stdio(self) -> None:
        """Answer what comes on standard input until it ends."""
        async with stdio_server() as (read, write):
            await self.server.run(read, write, self.server.create_initialization_options())

    def application(self) -> Starlette:
        """Streamable HTTP at `/mcp` and at `/mcp/NAME`; only what names this machine as its host is answered."""
        manager = StreamableHTTPSessionManager(
            app=self.server,
            session_idle_timeout=self.sessions.idle,
            max_sessions=self.sessions.most,
            security_settings=TransportSecuritySettings(
                enable_dns_rebinding_protection=True,
                allowed_hosts=["127.0.0.1:*", "localhost:*", "[::1]:*"],
                allowed_origins=["http://127.0.0.1:*", "http://localhost:*", "http://[::1]:*"],
            ),
        )
        endpoint = StreamableHTTPASGIApp(manager)

        @asynccontextmanager
        async def lifespan(app: Starlette) -> AsyncIterator[None]:
            async with manager.run():
                yield

        return Starlette(routes=[Route("/mcp", endpoint), Route("/mcp/{name}", endpoint)], lifespan=lifespan)

    # -- requests ----------------------------------------------------------------------------------------------

    async def _list(
        self, context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=self.tools)

    async def _call(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        arguments = params.arguments or {}
        try:
            name, job = self._place(context.request)
            with self.sessions.asked(name) as known:
                if known is not None:
                    return await self._answer(known, params.name, arguments)
            await self.sessions.begin(name, job)
            with self.sessions.asked(name) as begun:
                assert begun is not None
                return await self._answer(begun, params.name, arguments)
        except NoSession as error:
            return _result(str(error), error=True)
        except Full:
            return _result("There are too many episodes; try again later.", error=True)
        except Over:
            return _result(ENDED, error=True)
        except LLMError as error:
            return _result(f"The user cannot answer: {error}", error=True)
        except (WorkerError, CallTimeout, GoldError, TaskError) as error:
            return _result(f"The environment failed: {error}", error=True)

    async def _answer(self, session: Session, tool: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
        if tool == self.talk:
            return await self._talked(session, arguments)
        call = ToolCall.of(readable(tool), readable(json.dumps(arguments, ensure_ascii=False)))
        seen = await session.act(AssistantMessage(calls=(call,)))
        found = next(one for one in seen if one.role == "tool")
        return _result(found.content, error=found.kind != "ok")

    async def _talked(self, session: Session, arguments: Mapping[str, Any]) -> types.CallToolResult:
        message = arguments.get("message", "")
        if not isinstance(message, str) or arguments.keys() - {"message"}:
            return _result("message must be a string, and there is no other argument", error=True)
        if message:
            seen = await session.act(AssistantMessage(text=readable(message)))
        elif session.over:
            raise Over
        else:
            seen = await session.begun()
        said = [one.content for one in seen if one.role == "user"]
        text = "\n".join(said if message else said[:1])
        return _result("\n".join(part for part in (text, ENDED if session.over else "") if part))

    def _place(self, request: Any) -> tuple[str, Job]:
        """The name of the episode that a request is of, and what is played there. Raises `NoSession`."""
        if not isinstance(request, Request):
            return "stdio", self._job({})
        place = str(request.path_params.get("name", ""))[:MAX_NAME]
        handshake = request.headers.get("mcp-session-id", "")
        if not place and not handshake:
            raise NoSession(NO_SESSION)
        return f"{place}/{handshake}", self._job(request.query_params)

    def _job(self, query: Mapping[str, str]) -> Job:
        tasks = self.runner.environment.tasks
        task, seed = query.get("task", self.chosen.task), query.get("seed", str(self.chosen.seed))
        if task not in tasks:
            raise NoSession(f"There is no task {task[:100]!r}.")
        if not (seed.isascii() and seed.isdigit() and len(seed) < 19):
            raise NoSession(f"seed must be a number from 0 on, not {seed[:100]!r}.")
        return Job(tasks[task], int(seed), 0)


def _tool(function: Mapping[str, Any]) -> types.Tool:
    return types.Tool(
        name=function["name"], description=function["description"], input_schema=dict(function["parameters"])
    )  # fmt: skip


def _talk(name: str) -> types.Tool:
    return types.Tool(
        name=name,
        description="Say something to the user, and read the answer. Without a message: what the user wants.",
        input_schema={
            "type": "object",
            "properties": {"message": {"type": "string", "description": "What the user is told or asked."}},
            "additionalProperties": False,
        },
    )


def _result(text: str, *, error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=error)
