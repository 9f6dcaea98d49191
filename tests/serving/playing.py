"""Episodes over HTTP, in one process: a service behind its routes, clients with cookies, and scripted models."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import httpx2

from forgec.dialogue import AssistantMessage
from forgec.exporting.nemo_gym.cases import response_of
from forgec.rollouts.agents.built_in import moves
from forgec.serving.gym.loop import play
from forgec.serving.gym.responses import Ask
from forgec.serving.gym.routes import application
from forgec.serving.gym.rows import params_of
from forgec.serving.gym.service import Service
from forgec_runtime import Environment, load_environment
from forgec_runtime.plan import gold_run

GENERATED = Path(__file__).parents[2] / "generated"
SECRET = "of tests"


def environment(name: str = "library") -> Environment:
    return load_environment(GENERATED / name)


def written(env: Environment) -> list[str]:
    """The tasks that people wrote."""
    return [name for name, task in env.tasks.items() if "made" not in task.tags]


class Session(Protocol):
    """What posts in one session of a server."""

    async def post(self, path: str, body: dict[str, Any]) -> Any: ...


class Client:
    """One session of a server, with its cookie."""

    def __init__(self, http: httpx2.AsyncClient) -> None:
        self.http = http

    async def send(self, path: str, content: bytes) -> httpx2.Response:
        return await self.http.post(path, content=content)

    async def ask(self, path: str, **body: Any) -> httpx2.Response:
        return await self.http.post(path, json=body)

    async def post(self, path: str, body: dict[str, Any]) -> Any:
        """The JSON of an answer that is no error."""
        response = await self.http.post(path, json=body)
        assert response.status_code == 200, (path, response.status_code, response.text)
        return response.json()


class Direct:
    """A session of a service that is asked without HTTP: a thousand of them cost little."""

    def __init__(self, service: Service, name: str) -> None:
        self.service, self.name = service, name

    async def post(self, path: str, body: dict[str, Any]) -> Any:
        if path == "/seed_session":
            return (await self.service.seed(self.name, body))[1]
        requests = {
            "/next_user_message": self.service.next_user_message,
            "/execute_agent_tool_calls": self.service.execute,
            "/verify": self.service.verify,
            "/close_session": self.service.drop,
        }
        return await requests[path](self.name, body)


class Served:
    """A service, and as many clients of it as are wanted."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._transport = httpx2.ASGITransport(application(service, SECRET))

    def client(self) -> Client:
        return Client(httpx2.AsyncClient(transport=self._transport, base_url="http://server"))


@asynccontextmanager
async def served(env: Environment | None = None, **options: Any) -> AsyncIterator[Served]:
    service = Service(env or environment(), **options)
    try:
        yield Served(service)
    finally:
        await service.close()


def gold_moves(env: Environment, task: str, seed: int = 0) -> list[AssistantMessage]:
    """What an agent says and does that knows the task."""
    return list(moves(env, gold_run(env, env.tasks[task], seed)))


def model(said: Sequence[AssistantMessage]) -> Ask:
    """A model server that says and does these, then that it is done."""
    left: Iterator[AssistantMessage] = iter(said)

    async def ask(body: dict[str, Any]) -> Any:
        message = next(left, AssistantMessage(text="That is all."))
        return response(message)

    return ask


def response(message: AssistantMessage) -> dict[str, Any]:
    calls = [
        {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
        for call in message.calls
    ]
    text = {
        "type": "message", "id": "m", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": message.text, "annotations": []}],
    }  # fmt: skip
    output = [*([text] if message.text or not calls else []), *calls]
    usage = {
        "input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 2,
        "output_tokens_details": {"reasoning_tokens": 1}, "total_tokens": 12,
    }  # fmt: skip
    return {**response_of(()), "output": output, "usage": usage}


async def rollout(env: Environment, client: Session, task: str, ask: Ask, most: int = 100, seed: int = 0) -> Any:
    """What NeMo Gym's agent server does for a row: the answer to /verify."""
    row = {"responses_create_params": params_of(env), "task": task, "seed": seed}
    await client.post("/seed_session", row)
    found = await play(params_of(env), ask, client.post, most)
    verdict = await client.post("/verify", {**row, "response": found})
    await client.post("/close_session", {})
    return verdict


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
