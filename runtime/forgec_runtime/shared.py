"""An environment that many threads play at once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from types import TracebackType
from typing import Any, Generic, TypeVar

from .arguments import Arguments
from .front import AsyncEnvironment, E, Steppable
from .results import Result
from .reward import Reward
from .tasks import Task
from .tool import Side

T = TypeVar("T")


class SharedEnvironment(Generic[E]):
    """An `AsyncEnvironment` for threads: each call waits for its answer, and calls of many threads make one step.

    Arguments, order, time-outs and errors are those of `AsyncEnvironment`.
    """

    def __init__(
        self, environment: Steppable[E], *, waiting: int = 10_000, step: int = 4_096, timeout: float | None = None
    ) -> None:
        self._front = AsyncEnvironment(environment, waiting=waiting, step=step, timeout=timeout)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="forgec shared environment", daemon=True)
        self._thread.start()

    def reset(self, start: str, seed: int = 0) -> E:
        """A fresh episode in a world, or of a task in its world."""
        return self._wait(self._front.reset(start, seed))

    def restore(self, snapshot: bytes) -> E:
        """The episode of a snapshot."""
        return self._wait(self._front.restore(snapshot))

    def call(
        self, episode: E, tool: str, arguments: Arguments, by: Side | None = "agent", *, timeout: float | None = None
    ) -> Result:
        """One call."""
        return self._wait(self._front.call(episode, tool, arguments, by, timeout=timeout))

    def calls(
        self,
        episode: E,
        calls: Sequence[tuple[str, Arguments]],
        by: Side | None = "agent",
        *,
        timeout: float | None = None,
    ) -> list[Result]:
        """The calls of one message, in order, in one step."""
        return self._wait(self._front.calls(episode, calls, by, timeout=timeout))

    def reward(self, episode: E, task: Task) -> Reward:
        """The reward of an episode as it stands."""
        return self._wait(self._front.reward(episode, task))

    def snapshot(self, episode: E) -> bytes:
        """The episode as bytes."""
        return self._wait(self._front.snapshot(episode))

    def digest(self, episode: E) -> str:
        """The digest of an episode's state."""
        return self._wait(self._front.digest(episode))

    def ask(self, function: Callable[[], T], episode: E | None = None) -> T:
        """What a function gives that asks anything else of the environment or of an episode."""
        return self._wait(self._front.ask(function, episode))

    def close(self) -> None:
        """End: what runs runs to its end, what waits is refused with `RuntimeError`, and so is what comes later."""
        if self._loop.is_closed():
            return
        self._wait(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        await self._front.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        if others:
            await asyncio.wait(others)

    def __enter__(self) -> SharedEnvironment[E]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _wait(self, asked: Coroutine[Any, Any, T]) -> T:
        if self._loop.is_closed():
            asked.close()
            raise RuntimeError("the environment is closed")
        answer = asyncio.run_coroutine_threadsafe(asked, self._loop)
        try:
            return answer.result()
        except BaseException:
            answer.cancel()  # a thread that is interrupted drops what it asked for
            raise
