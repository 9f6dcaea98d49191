"""What a call costs where an environment is served, and where the difference to a call in process goes.

    .venv/bin/python -m benchmarks.serving [CALLS]

The same call is made by 256 episodes at a time, with one thing more around it on each line: a step of all at once, the
front that gathers steps of coroutines, the loop of dialogues with the seat of an agent elsewhere, the service, its
routes (ASGI, cookies, without a network), and the server over HTTP on this machine, which runs in a process of its own.
Figures are processor time of the process that serves, in microseconds a call; the wall is not looked at.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import httpx2
import uvicorn
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from forgec.dialogue import AssistantMessage, ToolCall
from forgec.rollouts.run import Job
from forgec.serving.gym.routes import application
from forgec.serving.gym.service import Service
from forgec.serving.session import Session
from forgec_runtime import AsyncEnvironment, load_environment

LIBRARY = Path(__file__).parent.parent / "generated" / "library"
TASK, TOOL, ARGUMENTS = "settle_the_overdue", "find_member", {"email": "joan.moreno@example.org"}
BODY = json.dumps(ARGUMENTS)
AT_ONCE = 256
CALLS = 25_600

Call = Callable[[int], Awaitable[Any]]


def main(calls: int) -> None:
    rounds = max(1, calls // AT_ONCE)
    found = [("a step of all at once", _steps(rounds))]
    found += asyncio.run(_in_process(rounds))
    found.append(("HTTP", asyncio.run(_over_http(rounds))))
    before = 0.0
    print(f"{'µs of processor time a call':32}     in all    more")
    for name, each in found:
        print(f"{name:32}  {each:9.1f}  {each - before:+8.1f}")
        before = each


def _steps(rounds: int) -> float:
    env = load_environment(LIBRARY)
    episodes = [env.reset(TASK) for _ in range(AT_ONCE)]
    env.step([(one, TOOL, BODY) for one in episodes])
    began = time.process_time()
    for _ in range(rounds):
        env.step([(one, TOOL, BODY) for one in episodes])
    return 1e6 * (time.process_time() - began) / (rounds * AT_ONCE)


async def _in_process(rounds: int) -> list[tuple[str, float]]:
    env = load_environment(LIBRARY)
    service = Service(env)
    service.sessions.runner.setup = _unlimited(service)
    front: AsyncEnvironment[Any] = service.front
    episodes = [await front.reset(TASK) for _ in range(AT_ONCE)]
    sessions = [Session(service.sessions.runner, Job(env.tasks[TASK], 0, i)) for i in range(AT_ONCE)]
    message = AssistantMessage(calls=(ToolCall.of(TOOL, BODY),))
    for i in range(AT_ONCE):
        await service.seed(f"s{i}", {"task": TASK})
    app = application(service, "secret")
    clients = [
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://server") for _ in range(AT_ONCE)
    ]
    cookies = []
    for client in clients:
        seeded = await client.post("/seed_session", json={"task": TASK})
        cookies.append(seeded.headers["set-cookie"].split(";")[0].encode())

    async def asgi(i: int) -> None:
        await _asgi(app, cookies[i])

    layers: list[tuple[str, Call]] = [
        ("+ the front of coroutines", lambda i: front.call(episodes[i], TOOL, BODY)),
        ("+ the loop, with a seat", lambda i: sessions[i].act(message)),
        ("+ the service", lambda i: service.call(f"s{i}", TOOL, BODY)),
        ("+ routes and cookies", asgi),
    ]
    found = [(name, await _measured(call, rounds)) for name, call in layers]
    for session in sessions:
        await session.drop()
    await service.close()
    return found


def _unlimited(service: Service) -> Any:
    from dataclasses import replace

    from forgec.rollouts.limits import Limits

    return replace(service.sessions.runner.setup, limits=Limits(turns=10**9, calls=10**9))


async def _measured(call: Call, rounds: int) -> float:
    await asyncio.gather(*(call(i) for i in range(AT_ONCE)))
    began = time.process_time()
    for _ in range(rounds):
        await asyncio.gather(*(call(i) for i in range(AT_ONCE)))
    return 1e6 * (time.process_time() - began) / (rounds * AT_ONCE)


async def _asgi(app: Any, cookie: bytes) -> None:
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http",
        "path": f"/{TOOL}", "raw_path": f"/{TOOL}".encode(), "query_string": b"", "root_path": "",
        "headers": [(b"cookie", cookie), (b"content-type", b"application/json")], "server": ("server", 80),
        "client": ("client", 1),
    }  # fmt: skip
    given = [{"type": "http.request", "body": BODY.encode(), "more_body": False}]

    async def receive() -> dict[str, Any]:
        return given.pop() if given else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        assert message.get("status", 200) == 200

    await app(scope, receive, send)


# -- over HTTP ---------------------------------------------------------------------------------------------------------


async def _over_http(rounds: int) -> float:
    server = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.serving", "--serve"], stdout=subprocess.PIPE, text=True
    )  # fmt: skip
    assert server.stdout is not None
    try:
        url = server.stdout.readline().strip()
        limits = httpx2.Limits(max_connections=AT_ONCE, max_keepalive_connections=AT_ONCE)
        async with httpx2.AsyncClient(base_url=url, limits=limits, timeout=120) as client:
            cookies = []
            for _ in range(AT_ONCE):
                seeded = await client.post("/seed_session", json={"task": TASK})
                cookies.append(seeded.headers["set-cookie"].split(";")[0])
                client.cookies.clear()

            async def one(i: int) -> None:
                answer = await client.post(f"/{TOOL}", content=BODY, headers={"cookie": cookies[i]})
                assert answer.status_code == 200, answer.text

            await asyncio.gather(*(one(i) for i in range(AT_ONCE)))
            began = (await client.get("/cpu")).json()
            for _ in range(rounds):
                await asyncio.gather(*(one(i) for i in range(AT_ONCE)))
                client.cookies.clear()
            seconds: float = (await client.get("/cpu")).json() - began
            return 1e6 * seconds / (rounds * AT_ONCE)
    finally:
        server.terminate()
        server.wait()


def _serve() -> None:
    import socket

    service = Service(load_environment(LIBRARY))
    service.sessions.runner.setup = _unlimited(service)
    app = application(service, "secret")

    async def cpu(request: Request) -> JSONResponse:
        return JSONResponse(time.process_time())

    app.router.routes.insert(0, Route("/cpu", cpu))
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False, timeout_keep_alive=600))
    asyncio.run(server.serve(sockets=[listener]))


def arguments(given: Sequence[str]) -> int:
    return int(given[0]) if given else CALLS


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        _serve()
    else:
        main(arguments(sys.argv[1:]))
