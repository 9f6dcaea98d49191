"""A policy behind an endpoint that speaks OpenAI's chat completions, as far as agents of the rollout loop use them.

What arrives while the policy draws is answered together afterwards. An answer follows from the messages, the tools, the
temperature and the seed of its request, up to how sums are rounded in batches of different sizes.
"""

from __future__ import annotations

import asyncio
import json
import queue
import threading
from array import array
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from transformers import Qwen3ForCausalLM

from forgec.dialogue import Message, ToolCall
from forgec.training.decoding import Decoder, OutOfContext
from forgec.training.template import Template, UnknownTool
from forgec.training.tokenizer import AGENT, END

MOST_AT_ONCE = 64
"""Requests that are answered together."""
MOST_KEPT = 10_000
"""Answers whose tokens are remembered."""
MOST_BYTES = 4_000_000
"""Of a request."""
IDLE = 60.0
"""Seconds after which a connection that says nothing is closed."""


class _Loose(BaseModel):
    """What is asked for; fields that mean nothing to a policy are passed over."""

    model_config = ConfigDict(extra="ignore")


class _Function(_Loose):
    name: str
    arguments: str = "{}"


class _Call(_Loose):
    id: str = ""
    function: _Function


class _Message(_Loose):
    role: str
    content: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[_Call] | None = None
    tool_call_id: str | None = None


class Request(_Loose):
    """A chat completion that is asked for."""

    messages: list[_Message] = Field(min_length=1, max_length=2_000)
    tools: list[dict[str, Any]] = Field(default_factory=list, max_length=500)
    temperature: float | None = Field(default=None, ge=0, le=10)
    seed: int = 0
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    stream: bool = False
    n: int = 1


class Refused(Exception):
    """A request that cannot be answered."""


def requested(content: Any) -> Request:
    """What the body of a request asks for. Raises `Refused`."""
    try:
        request = Request.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        raise Refused(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    if request.stream or request.n != 1:
        raise Refused("this endpoint gives one answer, and gives it whole: `stream` and `n` are not for it")
    return request


@dataclass(frozen=True)
class _Asked:
    request: Request
    ids: list[int]
    answer: Future[dict[str, Any]]


class Answerer:
    """Answers requests, many at once, in a thread of its own."""

    def __init__(
        self, model: Qwen3ForCausalLM, template: Template, longest_turn: int = 64, *, temperature: float = 1.0,
        min_p: float = 0.0,
    ) -> None:  # fmt: skip
        """The last three are `Decoder`'s; a request may ask for another `temperature`."""
        self.model, self.template, self.longest_turn = model, template, longest_turn
        self.temperature, self.min_p = temperature, min_p
        self._written: OrderedDict[tuple[str, ...], list[int]] = OrderedDict()
        """The tokens of what was answered: read again, they are what was drawn, not what it would be rendered to."""
        self._waiting: queue.SimpleQueue[_Asked | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="forgec policy", daemon=True)
        torch.set_num_threads(1)  # so small a model gains nothing by more
        self._thread.start()

    def complete(self, content: Any) -> dict[str, Any]:
        """A chat completion for the body of a request. Raises `Refused`."""
        request = requested(content)
        asked = _Asked(request, self._prompt(request), Future())
        self._waiting.put(asked)
        return asked.answer.result()

    def close(self) -> None:
        """Answer what waits, and end."""
        self._waiting.put(None)
        self._thread.join()

    def _prompt(self, request: Request) -> list[int]:
        try:
            ids = self.template.beginning(request.tools)
        except (UnknownTool, KeyError, TypeError, AttributeError) as error:
            raise Refused(f"tools: {error}") from None
        for one in request.messages:
            if one.role == "assistant":
                calls = tuple(ToolCall.of(call.function.name, call.function.arguments) for call in one.tool_calls or ())
                message = Message(role="assistant", content=one.content or "", tool_calls=calls)
                drawn = self._written.get(_place(ids, message))
                ids += [AGENT, *(drawn or self.template.written(message, request.tools))]
            elif one.role == "tool":
                ids += self.template.observed(Message(role="tool", content=one.content or ""))
            elif one.role == "user":
                ids += self.template.observed(Message(role="user", content=one.content or ""))
            elif one.role not in ("system", "developer"):
                raise Refused(f"messages: there is no role `{one.role}`")
        return ids

    def _work(self) -> None:
        while (first := self._waiting.get()) is not None:
            batch, ended = [first], False
            while len(batch) < MOST_AT_ONCE and not self._waiting.empty():
                more = self._waiting.get()
                if more is None:
                    ended = True
                    break
                batch.append(more)
            for temperature in sorted({self._temperature(one) for one in batch}):
                self._answer([one for one in batch if self._temperature(one) == temperature], temperature)
            if ended:
                return

    def _temperature(self, asked: _Asked) -> float:
        wanted = asked.request.temperature
        return self.temperature if wanted is None else wanted

    def _answer(self, batch: list[_Asked], temperature: float) -> None:
        try:
            asyncio.run(self._draw(batch, temperature))
        except Exception as error:  # a fault of ours must not leave anybody waiting
            for one in batch:
                if not one.answer.done():
                    one.answer.set_exception(error)

    async def _draw(self, batch: list[_Asked], temperature: float) -> None:
        names = [(place, one.request.seed, len(one.ids)) for place, one in enumerate(batch)]
        decoder = Decoder(
            self.model, names, "served", temperature=temperature, min_p=self.min_p, longest_turn=self.longest_turn
        )  # fmt: skip

        async def draw(name: tuple[int, int, int], asked: _Asked) -> None:
            try:
                drawn, cut = await decoder.turn(name, asked.ids)
                asked.answer.set_result(self._completion(asked, drawn, cut))
            except OutOfContext as error:
                text = (
                    f"context_length_exceeded: the maximum context length is {decoder.context} tokens; this is {error}"
                )
                asked.answer.set_exception(Refused(text))
            finally:
                decoder.leave(name)

        async with asyncio.TaskGroup() as group:
            for name, asked in zip(names, batch, strict=True):
                group.create_task(draw(name, asked))

    def _completion(self, asked: _Asked, drawn: list[int], cut: bool) -> dict[str, Any]:
        said = self.template.read(drawn, asked.request.tools, len(asked.request.messages))
        message: dict[str, Any] = {"role": "assistant", "content": said.text}
        if said.calls:
            message["tool_calls"] = [call.model_dump() for call in said.calls]
        calls = tuple(ToolCall.of(call.name, call.arguments) for call in said.calls)
        place = _place(asked.ids, Message(role="assistant", content=said.text, tool_calls=calls))
        self._written[place] = [*drawn, END] if cut else drawn
        if len(self._written) > MOST_KEPT:
            self._written.popitem(last=False)
        finish = "length" if cut else "tool_calls" if said.calls else "stop"
        counts = {"prompt_tokens": len(asked.ids) + 1, "completion_tokens": len(drawn)}
        return {
            "id": "chatcmpl-forgec",
            "object": "chat.completion",
            "created": 0,
            "model": "forgec",
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {**counts, "total_tokens": sum(counts.values())},
        }


def _place(before: Sequence[int], message: Message) -> tuple[str, ...]:
    """What a message of the policy is known by: all that it had read, and what it said."""
    digest = sha256(array("i", before).tobytes()).hexdigest()
    return (digest, message.content, *(text for call in message.tool_calls for text in (call.name, call.arguments)))


class Completes(Protocol):
    """Whoever answers requests."""

    def complete(self, content: Any) -> dict[str, Any]:
        """A chat completion for the body of a request. Raises `Refused`."""
        ...


class _Endpoint(ThreadingHTTPServer):
    request_queue_size = 256
    """Connections that wait to be taken: all episodes of a rollout begin at once."""


def server(answerer: Completes, host: str, port: int) -> ThreadingHTTPServer:
    """The endpoint, which serves once `serve_forever` is called; port 0 takes one that is free. Raises `OSError`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = IDLE

        def do_GET(self) -> None:
            if self.path.rstrip("/") == "/v1/models":
                self._send(200, {"object": "list", "data": [{"id": "forgec", "object": "model", "owned_by": "forgec"}]})
            else:
                self._refuse(404, f"there is no {self.path}")

        def do_POST(self) -> None:
            length = self.headers.get("Content-Length", "")
            if not length.isdecimal() or int(length) > MOST_BYTES:
                self.close_connection = True
                self._refuse(413, f"a request has its length, and at most {MOST_BYTES:,} bytes")
                return
            body = self.rfile.read(int(length))
            if self.path.rstrip("/") != "/v1/chat/completions":
                self._refuse(404, f"there is no {self.path}")
                return
            try:
                self._send(200, answerer.complete(json.loads(body)))
            except (ValueError, RecursionError) as error:
                self._refuse(400, f"the request is no JSON: {error}")
            except Refused as error:
                self._refuse(400, str(error))

        def log_message(self, format: str, *arguments: Any) -> None:
            """Say nothing."""

        def _refuse(self, code: int, text: str) -> None:
            self._send(code, {"error": {"message": text, "type": "invalid_request_error", "code": code}})

        def _send(self, code: int, content: Mapping[str, Any]) -> None:
            body = json.dumps(content).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return _Endpoint((host, port), Handler)
