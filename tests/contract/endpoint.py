"""A model server of OpenAI's Responses API that plays what a request's metadata names: gold, nothing, or a liar."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from forgec.dialogue import AssistantMessage
from forgec_runtime import Environment
from tests.serving.playing import gold_moves, response

LIE = "My number is M77123."


class Endpoint:
    """Answers for an agent, and for a user: the latter has a system message that makes it one."""

    def __init__(self, environments: dict[str, Environment]) -> None:
        self.environments = environments
        self._golds: dict[tuple[str, str], list[AssistantMessage]] = {}

    async def answer(self, request: Request) -> JSONResponse:
        body = await request.json()
        return JSONResponse(response(self._move(body)))

    def _move(self, body: dict[str, Any]) -> AssistantMessage:
        play = body.get("metadata") or {}
        if not play:
            return AssistantMessage(text=LIE)
        made = sum(
            item.get("type") == "function_call" or item.get("role") == "assistant" for item in body["input"]
        )  # fmt: skip
        if play["play"] == "noop":
            return AssistantMessage(text="I see." if made < 5 else "")
        key = (play["environment"], play["task"])
        if key not in self._golds:
            self._golds[key] = gold_moves(self.environments[key[0]], key[1])
        moves = self._golds[key]
        return moves[made] if made < len(moves) else AssistantMessage(text="That is all.")


@contextmanager
def serving(endpoint: Endpoint) -> Iterator[str]:
    """The endpoint at a free port of this machine; gives its address."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    app = Starlette(routes=[Route("/v1/responses", endpoint.answer, methods=["POST"])])
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    finally:
        server.should_exit = True
        thread.join(10)
