"""The requests of a resources server as HTTP routes of Starlette, which FastAPI takes, too.

Bodies are read here and bounded; an answer that is an error says why, in JSON.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from typing import Any, Final

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from forgec.serving.gym.service import Problem, Service
from forgec_runtime.results import from_json, to_bytes

SESSION: Final = "session_id"
"""The entry of a signed cookie that names a session, as NeMo Gym has it."""
MAX_BODY = 2_000_000
"""Bytes of a request."""
MAX_VERIFIED = 256_000_000
"""Bytes of a request for a verdict: it carries the whole dialogue, with the tokens of the model."""
Answer = Callable[[str, Any], Awaitable[dict[str, Any]]]


def add_routes(app: Starlette, service: Service) -> None:
    """Give an application the routes of a service. Its requests have a session, with a name in `SESSION`.

    They stand before those that it has already, but for those of tools, which stand behind.
    """
    *own, tools = routes(service)
    app.router.routes[:0] = own
    app.router.routes.append(tools)


def routes(service: Service) -> list[Route]:
    """The routes of a service; the last one is that of tools, which takes any path."""

    def json_route(path: str, answer: Answer, most: int = MAX_BODY) -> Route:
        async def endpoint(request: Request) -> Response:
            async def found() -> Response:
                return _json(200, await answer(_name(request), _parsed(await _body(request, most))))

            return await _answered(found)

        return Route(path, endpoint, methods=["POST"])

    async def seed(request: Request) -> Response:
        async def answer() -> Response:
            name, told = await service.seed(_name(request), _parsed(await _body(request, MAX_BODY)))
            request.session[SESSION] = name
            return _json(200, told)

        return await _answered(answer)

    async def tool(request: Request) -> Response:
        async def answer() -> Response:
            body = await _body(request, MAX_BODY)
            result = await service.call(_name(request), request.path_params["tool"], body.decode("utf-8", "replace"))
            kind = "application/json" if result.kind == "ok" else "text/plain"
            return Response(result.content, _STATUS.get(result.kind or "", 422), media_type=kind)

        return await _answered(answer)

    async def sessions(request: Request) -> Response:
        return _json(200, service.counted())

    return [
        Route("/sessions", sessions, methods=["GET"]),
        Route("/seed_session", seed, methods=["POST"]),
        json_route("/next_user_message", service.next_user_message),
        json_route("/execute_agent_tool_calls", service.execute),
        json_route("/verify", service.verify, MAX_VERIFIED),
        json_route("/close_session", service.drop),
        Route("/{tool:path}", tool, methods=["POST"]),
    ]


_STATUS = {"ok": 200, "fault": 500}
"""Of results; all others are 422. The text of each is for the model."""


def application(service: Service, secret: str) -> Starlette:
    """The server alone, without NeMo Gym around it. Cookies are signed with `secret`."""
    return Starlette(
        routes=routes(service), middleware=[Middleware(SessionMiddleware, secret_key=secret), Middleware(Named)]
    )  # fmt: skip


class Named:
    """Names the session of each request that has none, as NeMo Gym's middleware does."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            scope["session"].setdefault(SESSION, str(uuid.uuid4()))
        await self.app(scope, receive, send)


async def _answered(answer: Callable[[], Awaitable[Response]]) -> Response:
    try:
        return await answer()
    except Problem as problem:
        return _json(problem.status, {"error": problem.text})
    except ClientDisconnect:
        return Response(status_code=499)


async def _body(request: Request, most: int) -> bytes:
    """The body of a request. Raises `Problem` for one that is too long."""
    parts: list[bytes] = []
    length = 0
    async for part in request.stream():
        length += len(part)
        if length > most:
            raise Problem(413, f"the body has more than {most:,} bytes")
        parts.append(part)
    return b"".join(parts)


def _parsed(body: bytes) -> Any:
    """JSON; an empty body is an empty object. Raises `Problem`."""
    if not body:
        return {}
    try:
        return from_json(body)
    except ValueError as error:
        raise Problem(422, f"the body is not valid JSON: {str(error)[:200]}") from None


def _json(status: int, content: Any) -> Response:
    return Response(to_bytes(content), status, media_type="application/json")


def _name(request: Request) -> str:
    return str(request.session.get(SESSION, ""))
