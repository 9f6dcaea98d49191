"""The client: one request in, one answer out, whatever happens in between. The door to `openai`, and `httpx2` below."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from forgec.diagnostics import counted
from forgec.llm.answer import Answer, Unreadable, parsed
from forgec.llm.errors import LLMError, NotAllowed, Rejected, TooLong, Unavailable
from forgec.llm.retrying import Patience, asked_to_wait
from forgec.llm.secrets import Secrets, secrets_of
from forgec.llm.spending import Budget, Meter, Price, Usage, cost_of
from forgec.llm.traffic import Traffic

MAX_BODY = 2**26
"""How many bytes of an answer are read. Texts of models are far shorter."""
HOW_TO_INSTALL = "the package `openai` is not installed: pip install 'forgec[llm]'"

_TOO_LONG = re.compile(
    r"context[ _-]?(?:length|window|size)|too (?:long|many tokens)|maximum (?:context|.{0,20}tokens)"
)
_CHARACTERS_A_TOKEN = 3  # on the high side: a budget is rather kept than passed


class SetupError(ValueError):
    """A client that cannot be made: a package or a key is missing."""


@dataclass(frozen=True)
class Endpoint:
    """Which model is asked, and where. Keys come from environment variables alone."""

    model: str
    base_url: str | None = None
    """None: `OPENAI_BASE_URL`, or OpenAI's own."""
    key_variable: str = "OPENAI_API_KEY"
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of each request: temperature, max_tokens, chat_template_kwargs, ..."""
    concurrency: int = 64
    """How many requests may be on their way at once."""
    patience: Patience = field(default_factory=Patience)
    max_body: int = MAX_BODY
    """How many bytes an answer may have."""


class Client:
    """Asks one model. May be used by any number of tasks of one event loop at once."""

    def __init__(
        self, endpoint: Endpoint, *, budget: Budget | None = None, prices: Mapping[str, Price] | None = None,
        traffic: Traffic | None = None,
    ) -> None:  # fmt: skip
        """Raises `SetupError`."""
        try:
            import httpx2
            import openai

            from forgec.llm import bounded
        except ImportError:
            raise SetupError(HOW_TO_INSTALL) from None
        self.endpoint = endpoint
        self.budget = budget or Budget()
        self.prices = prices or {}
        self.traffic = traffic
        self._openai, self._response_type, self._bounded = openai, httpx2.Response, bounded
        key = os.environ.get(endpoint.key_variable, "").strip()
        base_url = endpoint.base_url or os.environ.get("OPENAI_BASE_URL") or None
        if not key and base_url is None and not (traffic and traffic.only):
            raise SetupError(f"the environment variable {endpoint.key_variable} has no key; or name a --base-url")
        if not (key.isascii() and key.isprintable()):
            raise SetupError(f"the environment variable {endpoint.key_variable} holds characters that no key has")
        query: dict[str, str] = {}
        known = [key]
        if base_url is not None:
            known += secrets_of(_checked(base_url))
            place = httpx2.URL(base_url)
            base_url, query = str(place.copy_with(query=None)), dict(place.params)
        self._secrets = Secrets(known)
        if traffic is not None:
            traffic.secrets.add(known)
        limits = httpx2.Limits(max_connections=endpoint.concurrency, max_keepalive_connections=endpoint.concurrency)
        self._client = openai.AsyncOpenAI(
            api_key=key or "none", base_url=base_url, max_retries=0, timeout=None,  # both are ours
            default_query=query,
            default_headers={"Accept-Encoding": "identity"},  # so that what comes is as large as it seems
            http_client=openai.DefaultAsyncHttpxClient(limits=limits, event_hooks={"response": [self._bound]}),
        )  # fmt: skip
        self._free = asyncio.Semaphore(endpoint.concurrency)
        self._quiet_until = 0.0
        self.tell: Callable[[str], None] = lambda text: None
        """Hears of every attempt that has failed and is made again."""

    async def close(self) -> None:
        await self._client.close()

    async def complete(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = (), *, meter: Meter,
        scope: str = "", settings: Mapping[str, Any] | None = None,
    ) -> Answer:  # fmt: skip
        """The model's answer to a dialogue. `scope` says who asks, to tell equal requests apart in recorded traffic.

        Raises `Unavailable`, `Rejected`, `TooLong`, `NotAllowed`, `OverBudget`, `NotRecorded`, `NotWritten`.
        """
        body = {"model": self.endpoint.model, "messages": messages, **self.endpoint.settings, **(settings or {})}
        if tools:
            body["tools"] = tools
        began = time.monotonic()
        try:
            answer = await self._answer(scope, body, meter)
        finally:
            meter.seconds += time.monotonic() - began
        usage = answer.usage or _estimate(body, answer)
        cost = cost_of(self.prices, self.endpoint.model, usage)
        meter.add(usage, cost)
        self.budget.pay(cost)
        return answer

    async def _answer(self, scope: str, body: Mapping[str, Any], meter: Meter) -> Answer:
        """The answer, from the record or the endpoint."""
        self.budget.afford()
        recorded = self.traffic.recorded(scope, body) if self.traffic else None
        if recorded is not None:
            try:
                return parsed(recorded)
            except Unreadable as error:
                raise Unavailable(f"the recorded answer cannot be read: {error}") from None
        patience = self.endpoint.patience
        for attempt in range(patience.retries + 1):
            async with self._free:
                await self._quiet()
                self.budget.take()
                meter.requests += 1
                try:
                    content = await self._ask(body)
                    answer = parsed(content)
                except _Again as failure:
                    problem, wait = failure, failure.wait
                except Unreadable as failure:
                    problem, wait = _Again("unreadable", str(failure)), None
                else:
                    if self.traffic:
                        self.traffic.record(scope, body, content)
                    return answer
            meter.failed(problem.kind)
            if wait is not None and wait > patience.longest_asked:
                raise Unavailable(f"the endpoint asks to be left alone for {wait:.0f} seconds")
            if attempt < patience.retries:
                self.tell(str(problem))
                await asyncio.sleep(patience.wait(attempt) if wait is None else wait)
        times = counted(patience.retries + 1, "attempt")
        raise Unavailable(f"no answer after {times}; the last one: {problem}")

    async def _bound(self, response: Any) -> None:
        """Have the body of a response read up to its limit alone."""
        self._bounded.bound(response, self.endpoint.max_body)

    async def _quiet(self) -> None:
        """Wait while the endpoint has asked to be left alone."""
        while (left := self._quiet_until - time.monotonic()) > 0:
            await asyncio.sleep(left)

    async def _ask(self, body: Mapping[str, Any]) -> bytes:
        """The body of the response to one request. Raises `_Again` and the errors that asking again does not help."""
        openai = self._openai
        try:
            async with asyncio.timeout(self.endpoint.patience.timeout):
                # the body is read by us: openai's own models cost more than all the rest, and fail on odd answers
                response = await self._client.post("/chat/completions", body=body, cast_to=self._response_type)
                return self._secrets.hide(response.content.decode("utf-8", "replace")).encode()
        except TimeoutError:
            raise _Again("timeout", f"no answer within {self.endpoint.patience.timeout:g} seconds") from None
        except self._bounded.TooLarge as error:
            raise Rejected(str(error)) from None
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, self._bounded.TooLarge):
                raise Rejected(str(error.__cause__)) from None
            raise _Again("connection", self._secrets.hide(f"{error} {error.__cause__ or ''}".strip())) from None
        except openai.APIStatusError as error:
            text = self._secrets.hide(f"{error} ({error.code})" if isinstance(error.code, str) else str(error))[:500]
            raise self._status(error.status_code, error.response.headers, text) from None
        except openai.OpenAIError as error:
            raise _Again("unreadable", self._secrets.hide(str(error))[:500]) from None

    def _status(self, code: int, headers: Mapping[str, str], text: str) -> _Again | LLMError:
        """What a response that is an error comes to."""
        if code == 429 and "insufficient_quota" in text:
            return NotAllowed(text)
        if code in (408, 409, 429) or code >= 500:
            wait = asked_to_wait(headers)
            if wait is not None:
                wanted = time.monotonic() + min(wait, self.endpoint.patience.longest_asked)
                self._quiet_until = max(self._quiet_until, wanted)
            return _Again("rate_limit" if code == 429 else f"http_{code}", text, wait)
        if code in (401, 402, 403, 404):
            return NotAllowed(f"{text} (model `{self.endpoint.model}`, key from {self.endpoint.key_variable})")
        return TooLong(text) if code == 413 or _TOO_LONG.search(text.lower()) else Rejected(text)


class _Again(Exception):
    """An attempt that failed, and may be made again."""

    def __init__(self, kind: str, text: str, wait: float | None = None) -> None:
        super().__init__(text)
        self.kind, self.wait = kind, wait


def _checked(url: str) -> str:
    """An address that can be asked. Raises `SetupError`."""
    if not url.startswith(("http://", "https://")):
        raise SetupError("the base URL does not begin with http:// or https://")
    try:
        parts = urlsplit(url)
        if parts.hostname and parts.port != 0:
            return url
    except ValueError:
        pass
    raise SetupError("the base URL names no host, or no port that there can be")


def _estimate(body: Mapping[str, Any], answer: Answer) -> Usage:
    """Tokens by the length of the texts."""
    prompt = sum(len(str(part)) for part in body["messages"]) + len(str(body.get("tools", "")))
    said = len(answer.text) + len(answer.reasoning or "") + sum(len(c.name) + len(c.arguments) for c in answer.calls)
    return Usage(-(-prompt // _CHARACTERS_A_TOKEN), 0, -(-said // _CHARACTERS_A_TOKEN), 0, estimated=True)
