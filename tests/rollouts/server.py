"""A server of chat completions for tests: what it answers is scripted, and it misbehaves as real ones do, on demand."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from forgec.dialogue import AssistantMessage
from forgec.rollouts.agents.built_in import moves
from forgec.users.speech import first_person
from forgec_runtime import Environment
from forgec_runtime.plan import gold_run

Brain = Callable[[dict[str, Any]], dict[str, Any] | str | bytes]
"""What is answered to the body of a request: a message, its text, or the bytes of a whole body."""

Trouble = str | None
"""How a request is mistreated: see `Server._mistreat`. None: not at all."""


@dataclass
class Server:
    """Runs in a thread of its own; `seen` has the bodies of all requests in order, `headers` and `paths` what came with
    them.
    """

    brain: Brain
    trouble: Callable[[int], Trouble] = lambda number: None
    delay: float = 0.0
    seen: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    moments: list[float] = field(default_factory=list)
    answered: int = 0
    most_at_once: int = 0
    _at_once: int = 0

    def __enter__(self) -> Server:
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0, limit=2**26)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                lines = head.decode().split("\r\n")
                self.paths.append(lines[0].split(" ")[1])
                headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                self._at_once += 1
                self.most_at_once = max(self.most_at_once, self._at_once)
                try:
                    if not await self._request(json.loads(body), headers, writer):
                        break
                finally:
                    self._at_once -= 1
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _request(self, body: dict[str, Any], headers: dict[str, str], writer: asyncio.StreamWriter) -> bool:
        """Answer a request; whether the connection may be used again."""
        number = len(self.seen)
        self.seen.append(body)
        self.headers.append(headers)
        self.moments.append(self._loop.time())
        if self.delay:
            await asyncio.sleep(self.delay)
        trouble = self.trouble(number)
        if trouble is not None:
            return await self._mistreat(trouble, body, writer)
        await _send(writer, 200, self._answer(body))
        self.answered += 1
        return True

    def _answer(self, body: dict[str, Any]) -> bytes:
        given = self.brain(body)
        return given if isinstance(given, bytes) else completion(given)

    async def _mistreat(self, trouble: str, body: dict[str, Any], writer: asyncio.StreamWriter) -> bool:
        kind, _, detail = trouble.partition(" ")
        if kind == "hang":
            await asyncio.sleep(float(detail))
            return False
        if kind == "drop":
            return False
        whole = self._answer(body)
        if kind == "trickle":  # it comes byte by byte, and never to its end
            writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(whole)}\r\n\r\n".encode())
            for byte in whole[:-1]:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(0.1)
            return False
        if kind == "cut":  # the connection ends in the middle of the body
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
            writer.write(f"Content-Length: {len(whole)}\r\n\r\n".encode() + whole[: len(whole) // 2])
            await writer.drain()
            return False
        if kind == "truncated":  # the body itself is cut
            await _send(writer, 200, whole[: len(whole) // 2])
        elif kind == "malformed":
            await _send(writer, 200, b"<html>It works!</html>")
        elif kind == "no_choices":
            await _send(writer, 200, b'{"choices": []}')
        else:
            status, _, more = trouble.partition(" ")
            text = {"error": {"message": f"something with {body.get('model')}", "code": None}}
            if more.startswith("body "):
                text = json.loads(more[5:])
                more = ""
            await _send(writer, int(status), json.dumps(text).encode(), more)
        return True


async def _send(writer: asyncio.StreamWriter, status: int, body: bytes, header: str = "") -> None:
    head = f"HTTP/1.1 {status} Whatever\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    writer.write((head + (header + "\r\n" if header else "") + "\r\n").encode() + body)
    await writer.drain()


def completion(message: dict[str, Any] | str, finish: str = "stop") -> bytes:
    """The body of an answer."""
    told = {"content": message} if isinstance(message, str) else message
    return json.dumps(
        {
            "id": "x",
            "object": "chat.completion",
            "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", **told}}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 40}},
        }
    ).encode()


def called(name: str, arguments: Any, id: str = "c0") -> dict[str, Any]:
    """A message with one call."""
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {
        "content": None,
        "tool_calls": [{"id": id, "type": "function", "function": {"name": name, "arguments": written}}],
    }


class GoldBrain:
    """Plays the gold plans of an environment from the dialogue alone: it knows a task by its user's first words."""

    def __init__(self, environment: Environment, seed: int = 0, spoilt: Sequence[str] = ()) -> None:
        """The tasks that are `spoilt` are left as soon as the facts are known."""
        self._moves: dict[str, list[AssistantMessage]] = {}
        for name, task in environment.tasks.items():
            run = gold_run(environment, task, seed)
            found = list(moves(environment, run))
            briefing = run.episode.briefing
            wants = [text for text in (briefing.intent, *(request.text for request in briefing.requests[:1])) if text]
            self._moves["\n".join(map(first_person, wants))] = [found[0], found[-1]] if name in spoilt else found

    def __call__(self, body: dict[str, Any]) -> dict[str, Any] | str:
        messages = body["messages"]
        first = next(message["content"] for message in messages if message["role"] == "user")
        found = self._moves[first]
        done = sum(message["role"] == "assistant" for message in messages)
        if done >= len(found):
            return "That is all."
        move = found[done]
        thought = f"move {done}"
        if not move.calls:
            return {"content": move.text, "reasoning_content": thought}
        return {
            "content": None,
            "reasoning_content": thought,
            "tool_calls": [call.model_dump() for call in move.calls],
        }


@contextmanager
def serving(brain: Brain, trouble: Callable[[int], Trouble] = lambda number: None, **more: Any) -> Iterator[Server]:
    with Server(brain, trouble, **more) as server:
        yield server
