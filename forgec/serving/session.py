"""One episode that is played from outside: the loop is the one of `forgec run`, only its agent sits elsewhere."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from forgec.dialogue import AssistantMessage, Message, Transcript
from forgec.rollouts.agents.agent import Left, Tools
from forgec.rollouts.run import Job, Runner
from forgec.rollouts.trajectory import Trajectory


class Over(Exception):
    """The episode has ended: nothing can be said or done in it any more."""


class Seat:
    """The agent's place in an episode. The loop waits for whoever takes it."""

    def __init__(self) -> None:
        self.transcript: Transcript = ()
        """What the agent has seen so far; grows as the episode does."""
        self._move: asyncio.Future[AssistantMessage] | None = None
        self._settled = asyncio.Event()

    async def act(self, transcript: Transcript, tools: Tools) -> AssistantMessage:
        self.transcript = transcript
        self._move = asyncio.get_running_loop().create_future()
        self._settled.set()
        return await self._move

    async def settled(self) -> None:
        """Wait until it is the agent's turn, or all is over."""
        await self._settled.wait()

    def take(self, message: AssistantMessage | None) -> None:
        """Hand in the next message, when it is the agent's turn; None leaves."""
        assert self._move is not None
        self._settled.clear()
        if message is None:
            self._move.set_exception(Left())
        else:
            self._move.set_result(message)

    def end(self) -> None:
        """Nobody will be asked again."""
        self._settled.set()


class Session:
    """An episode, and the place of its agent. What is asked of it at once happens one after the other."""

    def __init__(self, runner: Runner, job: Job) -> None:
        self.job = job
        self.used = 0.0
        """When it was last asked for anything, by the clock of whoever keeps it."""
        self.asked = 0
        """How many requests are being answered."""
        self.spoken = False
        """Whether the agent has said anything to the user here."""
        self._seat = Seat()
        self._lock = asyncio.Lock()
        self._last: tuple[int | None, int] = (None, 0)
        """The turn that was taken last, and how many messages had been seen before it."""
        self._play = asyncio.create_task(runner.episode(job, lambda part: self._seat))
        self._play.add_done_callback(self._ended)

    @property
    def over(self) -> bool:
        return self._play.done()

    async def begun(self) -> list[Message]:
        """What the agent sees at first: the policy, and how the user opens. Raises what `Runner.episode` does."""
        async with self._lock:
            await self._settled()
            return list(self._seat.transcript)

    async def act(self, message: AssistantMessage, turn: int | None = None) -> list[Message]:
        """What the agent sees when it has said or done something: results of its calls in their order, then what the
        user says. The same `turn` again, because an answer got lost on its way, is not taken again.

        Raises `Over`, and what `Runner.episode` does.
        """
        async with self._lock:
            await self._settled()
            if turn is None or turn != self._last[0]:
                if self.over:
                    raise Over
                self._last = (turn, len(self._seat.transcript))
                self.spoken = self.spoken or not message.calls
                self._seat.take(message)
                await self._settled()
            return [one for one in self._seat.transcript[self._last[1] :] if one.role != "assistant"]

    async def end(self) -> Trajectory:
        """End the episode, if it has not; what it was worth. Raises what `Runner.episode` does, `Over` if it was
        dropped.
        """
        async with self._lock:
            await self._settled()
            if not self.over:
                self._seat.take(None)
                await self._settled()
            return self._play.result()

    async def drop(self) -> None:
        """End the episode whatever it is at, without a verdict."""
        self._play.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await self._play

    async def _settled(self) -> None:
        """Wait until it is the agent's turn, or all is over. Raises what the episode has failed of."""
        await self._seat.settled()
        if self._play.done():
            if self._play.cancelled():
                raise Over
            self._play.result()

    def _ended(self, play: asyncio.Task[Trajectory]) -> None:
        if not play.cancelled():
            play.exception()  # looked at, so that asyncio does not complain where nobody asks again
        self._seat.end()
