"""An environment that many coroutines play at once: what arrives while a step runs forms the next one.

One thread owns the environment and makes its steps; the event loop only collects what is asked and hands out what came
of it. A single call takes the same path as a thousand.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from .arguments import Arguments
from .errors import CallTimeout, WorkerError
from .results import Result
from .reward import Reward
from .tasks import Task
from .tool import Side

if TYPE_CHECKING:
    from .telemetry import Telemetry

MAX_CALLS = 1_000
"""How many calls one message of an agent may have."""


class Playable(Protocol):
    """An episode, here or in a worker."""

    def snapshot(self) -> bytes: ...
    def digest(self) -> str: ...


E = TypeVar("E", bound=Playable)
T = TypeVar("T")


class Steppable(Protocol[E]):
    """An environment, in this process or over workers."""

    def reset(self, start: str, seed: int = 0) -> E: ...
    def restore(self, snapshot: bytes) -> E: ...
    def step(self, calls: Sequence[tuple[E, str, Arguments]], by: Side | None = "agent") -> list[Result]: ...
    def rewards(self, asked: Iterable[tuple[E, Task]]) -> list[Reward]: ...
    @property
    def telemetry(self) -> Telemetry | None: ...


class _Request:
    """Something that waits for its turn: calls of a side, a reward, or whatever else the thread is to do."""

    __slots__ = ("answer", "asked", "begun", "episode", "kind", "what")

    def __init__(self, kind: tuple[str, Side | None], episode: Any, what: Any, answer: asyncio.Future[Any]) -> None:
        self.kind = kind
        self.episode = episode
        self.what = what
        self.answer = answer
        self.begun = False
        self.asked = perf_counter()

    @property
    def size(self) -> int:
        return len(self.what) if self.kind[0] == "step" else 1


class AsyncEnvironment(Generic[E]):
    """An `Environment` or `Workers`, for coroutines of one event loop at a time.

    What is asked of one episode happens in the order in which it was asked. At most `waiting` requests wait at a time;
    whoever asks more waits for room. A step has at most `step` calls, unless one message has more. `timeout` is how
    many seconds a request may take, with its time in the queue; each may be given one of its own.

    A request that is cancelled, or runs out of time, before its step begins is never run; later it runs to its end, and
    what came of it is dropped. Nothing else is harmed. What raises, raises where it was asked for and nowhere else.

    While it is open, ask nothing of the environment and its episodes but through it, beyond what is plain data: `task`,
    `world`, `messages`. Use it in an `async with`, or close it; the environment is not closed with it.
    """

    def __init__(
        self, environment: Steppable[E], *, waiting: int = 10_000, step: int = 4_096, timeout: float | None = None
    ) -> None:
        self.environment = environment
        self.timeout = timeout
        self._most_waiting = waiting
        self._most_calls = step
        self._thread = ThreadPoolExecutor(1, "forgec environment")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._room = asyncio.Semaphore(waiting)
        self._waiting: OrderedDict[_Request, None] = OrderedDict()
        self._running: asyncio.Future[list[Any]] | None = None
        self._scheduled = False
        self._closed = False

    # -- what can be asked -------------------------------------------------------------------------------------

    async def reset(self, start: str, seed: int = 0, *, timeout: float | None = None) -> E:
        """A fresh episode in a world, or of a task in its world. Raises what `Environment.reset` does."""
        return await self.ask(lambda: self.environment.reset(start, seed), timeout=timeout)

    async def restore(self, snapshot: bytes, *, timeout: float | None = None) -> E:
        """The episode of a snapshot. Raises what `Environment.restore` does."""
        return await self.ask(lambda: self.environment.restore(snapshot), timeout=timeout)

    async def call(
        self, episode: E, tool: str, arguments: Arguments, by: Side | None = "agent", *, timeout: float | None = None
    ) -> Result:
        """One call. Raises `CallTimeout`, and `WorkerError` when its worker has died."""
        return (await self.calls(episode, [(tool, arguments)], by, timeout=timeout))[0]

    async def calls(
        self,
        episode: E,
        calls: Sequence[tuple[str, Arguments]],
        by: Side | None = "agent",
        *,
        timeout: float | None = None,
    ) -> list[Result]:
        """The calls of one message, in order, in one step. Raises `ValueError` for more than `MAX_CALLS`."""
        if len(calls) > MAX_CALLS:
            raise ValueError(f"{len(calls):,} calls in one message; there may be {MAX_CALLS:,}")
        results: list[Result] = await self._ask(("step", by), episode, list(calls), timeout)
        return results

    async def reward(self, episode: E, task: Task, *, timeout: float | None = None) -> Reward:
        """The reward of an episode as it stands. Raises `GoldError`."""
        reward: Reward = await self._ask(("rewards", None), episode, task, timeout)
        return reward

    async def snapshot(self, episode: E, *, timeout: float | None = None) -> bytes:
        """The episode as bytes. Raises `SnapshotError`."""
        return await self.ask(episode.snapshot, episode, timeout=timeout)

    async def digest(self, episode: E, *, timeout: float | None = None) -> str:
        """The digest of an episode's state."""
        return await self.ask(episode.digest, episode, timeout=timeout)

    async def ask(self, function: Callable[[], T], episode: E | None = None, *, timeout: float | None = None) -> T:
        """What a function gives that asks anything else of the environment or, in its turn, of an episode."""
        found: T = await self._ask(("do", None), episode, function, timeout)
        return found

    async def close(self) -> None:
        """End: what runs runs to its end, what waits is refused with `RuntimeError`, and so is what comes later."""
        self._closed = True
        for request in self._waiting:
            if not request.answer.done():
                request.answer.set_exception(RuntimeError("the environment is closed"))
        if self._running is not None and self._loop is asyncio.get_running_loop():
            await asyncio.wait([self._running])
        self._thread.shutdown(wait=False)

    async def __aenter__(self) -> AsyncEnvironment[E]:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # -- the queue ---------------------------------------------------------------------------------------------

    async def _ask(self, kind: tuple[str, Side | None], episode: Any, what: Any, timeout: float | None) -> Any:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._move(loop)
        request = _Request(kind, episode, what, loop.create_future())
        seconds = self.timeout if timeout is None else timeout
        if seconds is None:
            return await self._answered(request)
        try:
            async with asyncio.timeout(seconds):
                return await self._answered(request)
        except TimeoutError as error:
            if request.answer.done() and not request.answer.cancelled() and request.answer.exception() is error:
                raise  # it is what was asked for that raised this
            raise CallTimeout(seconds, request.begun) from error

    async def _answered(self, request: _Request) -> Any:
        async with self._room:
            if self._closed:
                raise RuntimeError("the environment is closed")
            self._waiting[request] = None
            self._schedule()
            try:
                return await request.answer
            finally:
                self._waiting.pop(request, None)

    def _schedule(self) -> None:
        """Begin a step soon: when all coroutines that are ready to ask have done so, too."""
        if self._running is None and not self._scheduled and self._loop is not None:
            self._scheduled = True
            self._loop.call_soon(self._begin)

    def _move(self, loop: asyncio.AbstractEventLoop) -> None:
        """Serve another event loop from now on."""
        if self._loop is not None and not self._loop.is_closed() and (self._waiting or self._running is not None):
            raise RuntimeError("the environment is played in another event loop")
        self._loop = loop
        self._room = asyncio.Semaphore(self._most_waiting)
        self._waiting.clear()
        self._running = None
        self._scheduled = False

    def _begin(self) -> None:
        """Have the thread answer what waits."""
        self._scheduled = False
        batch: list[_Request] = []
        calls = 0
        for request in self._waiting:
            if batch and calls + request.size > self._most_calls:
                break
            if not request.answer.done():  # else it was cancelled, or refused
                batch.append(request)
                calls += request.size
        for request in batch:
            request.begun = True
            del self._waiting[request]
        if batch and (telemetry := self.environment.telemetry) is not None:
            _note(telemetry, batch)
        if batch:
            assert self._loop is not None
            self._running = self._loop.run_in_executor(self._thread, _play, self.environment, batch)
            self._running.add_done_callback(lambda done: self._end(batch, done))

    def _end(self, batch: list[_Request], done: asyncio.Future[list[Any]]) -> None:
        self._running = None
        for request, found in zip(batch, done.result(), strict=True):
            if request.answer.done():
                continue
            if isinstance(found, BaseException):
                request.answer.set_exception(found)
            else:
                request.answer.set_result(found)
        if self._waiting:
            self._schedule()


def _note(telemetry: Telemetry, batch: list[_Request]) -> None:
    """How long the calls of a batch have waited."""
    now = perf_counter()
    for request in batch:
        if request.kind[0] == "step":
            for tool, _ in request.what:
                telemetry.waited(tool, now - request.asked)


def _play(environment: Steppable[Any], batch: list[_Request]) -> list[Any]:
    """What came of each request of a batch: its answer, or what was raised.

    Requests of one kind are answered together. A request joins those of its kind that come last, unless something else
    was asked of its episode after those.
    """
    groups: list[list[int]] = []
    last: dict[tuple[str, Side | None], int] = {}
    reached: dict[Any, int] = {}
    for i, request in enumerate(batch):
        place = last.get(request.kind, -1)
        if place < reached.get(request.episode, 0):
            place = last[request.kind] = len(groups)
            groups.append([])
        groups[place].append(i)
        if request.episode is not None:
            reached[request.episode] = place
    found: list[Any] = [None] * len(batch)
    for group in groups:
        requests = [batch[i] for i in group]
        for i, answer in zip(group, _answers(environment, requests), strict=True):
            found[i] = answer
    return found


def _answers(environment: Steppable[Any], requests: list[_Request]) -> list[Any]:
    """The answers to requests of one kind."""
    kind, by = requests[0].kind
    if kind == "step":
        return _stepped(environment, requests, by)
    if kind == "rewards":
        try:
            return [*environment.rewards([(one.episode, one.what) for one in requests])]
        except BaseException as error:
            if len(requests) == 1:
                return [error]
            return [answer for one in requests for answer in _answers(environment, [one])]
    return [_done(one.what) for one in requests]


def _done(function: Callable[[], Any]) -> Any:
    try:
        return function()
    except StopIteration:
        return RuntimeError("what was asked for raised StopIteration")  # which no future can hold
    except BaseException as error:
        return error


def _stepped(environment: Steppable[Any], requests: list[_Request], by: Side | None) -> list[Any]:
    """The results of calls that run in one step."""
    closed = [getattr(one.episode, "closed", False) for one in requests]
    calls = [(one.episode, *call) for one, gone in zip(requests, closed, strict=True) if not gone for call in one.what]
    failure: BaseException | None = None
    results: list[Result | None]
    try:
        results = [*environment.step(calls, by)]
    except WorkerError as error:
        results, failure = error.results or [None] * len(calls), error
    except BaseException as error:
        results, failure = [None] * len(calls), error
    answers: list[Any] = []
    at = 0
    for one, gone in zip(requests, closed, strict=True):
        if gone:
            answers.append(ValueError("the episode is closed"))
            continue
        own = results[at : at + len(one.what)]
        at += len(one.what)
        answers.append(failure if None in own else own)
    return answers
