"""Episodes played turn by turn, for trainers that generate by themselves: they hand in what the agent wrote in many
episodes, and are handed what each of them reads next.

The episodes are played by the rollout loop, as all others are; a seat is the loop's agent, which waits for the trainer.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections import Counter
from collections.abc import Coroutine, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

from forgec.dialogue import AssistantMessage, Message
from forgec.llm.errors import LLMError
from forgec.rollouts.agents.agent import AgentError, AgentPart
from forgec.rollouts.limits import Limits
from forgec.rollouts.run import MAX_FAILURES, Job, Runner, Setup, Side
from forgec.rollouts.trajectory import Trajectory
from forgec.serving.session import Over, Session
from forgec.serving.sessions import Full, Sessions
from forgec.training.questions import Question
from forgec.users.user import Users
from forgec_runtime import AsyncEnvironment, CallTimeout, Environment, GoldError, TaskError, WorkerError

T = TypeVar("T")

IDLE = 3600.0
"""Seconds after which an episode that nobody goes on with is given up."""
MOST = 100_000
"""Episodes of an environment that are played at a time."""
FAILURES = (LLMError, AgentError, GoldError, TaskError, WorkerError, CallTimeout)
"""What an episode may fail of, without harm to others."""


@dataclass(frozen=True)
class Turn:
    """What the agent of one episode wrote. Without a `seat` it is the first of a new episode of the question."""

    question: Question
    wrote: AssistantMessage
    seat: int | None = None
    opening: str = ""
    """What the agent was told that the user began with: the first turn's, and checked."""


@dataclass(frozen=True)
class Answer:
    """What came of a turn."""

    seat: int
    read: tuple[Message, ...] = ()
    """What the agent reads next: results of its calls, or what the user says."""
    trajectory: Trajectory | None = None
    """The whole episode, once it is over."""
    failure: str = ""
    """Why the episode could not be played on: it counts for nothing."""

    @property
    def over(self) -> bool:
        return self.trajectory is not None or bool(self.failure)

    @property
    def masked(self) -> bool:
        """Whether nothing can be learned of the episode, as its user erred, or it failed."""
        if self.trajectory is None:
            return bool(self.failure)
        return self.trajectory.user_verdict is not None and self.trajectory.user_verdict.mask is True


class Seats:
    """Plays episodes of some environments, as many at a time as are begun. May be used from several threads.

    Episodes that nobody has gone on with for `idle` seconds are given up; when `most` of an environment are played, new
    ones fail. Close it.
    """

    def __init__(
        self, environments: Iterable[Environment], users: Users, user: str, limits: Limits, *, idle: float = IDLE,
        most: int = MOST,
    ) -> None:  # fmt: skip
        self._loop = asyncio.new_event_loop()
        self._numbers = itertools.count(1)
        self._rooms: dict[str, Sessions] = {}
        self._fronts: list[AsyncEnvironment[Any]] = []
        self._room_of: dict[int, Sessions] = {}
        self._trials: Counter[Question] = Counter()
        self._failed = 0
        setup = Setup(Side("policy"), Side(user), _nobody, users, limits)
        for one in environments:
            front: AsyncEnvironment[Any] = AsyncEnvironment(one)
            self._fronts.append(front)
            self._rooms[one.name] = Sessions(Runner(one, front, setup, _kept_nowhere, []), most=most, idle=idle)
        self._thread = threading.Thread(target=self._loop.run_forever, name="forgec seats", daemon=True)
        self._thread.start()

    @property
    def playing(self) -> int:
        """How many episodes are begun and not over."""
        return sum(map(len, self._rooms.values()))

    def openings(self, questions: Sequence[Question]) -> list[str]:
        """What the users of some episodes begin with. Raises `RuntimeError` for one that cannot be begun."""
        return self._run(self._openings(questions))

    def step(self, turns: Sequence[Turn]) -> list[Answer]:
        """What comes of the turns, in their order; calls of all episodes share the steps of their environment.

        A turn of an episode that is not there, or begins otherwise than the agent was told, is answered with a failure.
        Raises `RuntimeError` when so many episodes have failed one after the other that something is broken.
        """
        return self._run(self._step(turns))

    def close(self) -> None:
        """Give up what is played, and end."""
        self._run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _openings(self, questions: Sequence[Question]) -> list[str]:
        return list(await asyncio.gather(*(self._opening(one) for one in questions)))

    async def _opening(self, question: Question) -> str:
        number = next(self._numbers)
        try:
            return await self._begin(number, question)
        except (_Missing, Over, *FAILURES) as error:
            raise RuntimeError(
                f"{question.environment}/{question.task}: {str(error) or 'it is over at once'}"
            ) from None
        finally:
            await self._leave(number)

    async def _step(self, turns: Sequence[Turn]) -> list[Answer]:
        return list(await asyncio.gather(*(self._turn(turn) for turn in turns)))

    async def _turn(self, turn: Turn) -> Answer:
        number = next(self._numbers) if turn.seat is None else turn.seat
        try:
            if turn.seat is None:
                said = await self._begin(number, turn.question)
                if said != turn.opening:
                    text = f"the user of {turn.question.task} begins with {said!r}, not with {turn.opening!r}"
                    raise _Missing(f"{text}: render the rows again")
            answer = await self._go_on(number, turn.wrote)
        except (_Missing, Over) as error:
            answer = Answer(number, failure=str(error) or "the episode is over")
        except FAILURES as error:
            self._failed += 1
            if self._failed >= MAX_FAILURES:
                text = f"{MAX_FAILURES} episodes failed one after the other; the last one: {error}"
                raise RuntimeError(text) from error
            answer = Answer(number, failure=str(error))
        if answer.over:
            await self._leave(number)
        return answer

    async def _begin(self, number: int, question: Question) -> str:
        """Begin an episode; what its user says first."""
        room = self._rooms.get(question.environment)
        if room is None:
            raise _Missing(f"there is no environment {question.environment} here")
        if question.task not in room.runner.environment.tasks:
            raise _Missing(f"there is no task {question.task} here")
        trial = self._trials[question]
        self._trials[question] += 1
        self._room_of[number] = room
        job = Job(room.runner.environment.tasks[question.task], question.seed, trial)
        try:
            session = await room.begin(str(number), job)
        except Full:
            raise _Missing(f"{room.most:,} episodes of {question.environment} are played already") from None
        with room.asked(str(number)):  # so that it is not given up meanwhile
            return "\n".join(one.content for one in await session.begun() if one.role == "user")

    async def _go_on(self, number: int, wrote: AssistantMessage) -> Answer:
        room = self._room_of.get(number)
        with room.asked(str(number)) if room else _no_session() as session:
            if session is None:
                raise _Missing(f"there is no episode {number}: it is over, or was given up")
            read = tuple(await session.act(wrote))
            if not session.over:
                return Answer(number, read)
            self._failed = 0
            return Answer(number, read, await session.end())

    async def _leave(self, number: int) -> None:
        room = self._room_of.pop(number, None)
        if room is not None:
            await room.drop(str(number))

    async def _close(self) -> None:
        for room in self._rooms.values():
            await room.close()
        for front in self._fronts:
            await front.close()


class _Missing(Exception):
    """What is asked for is not there; the text says what."""


def _no_session() -> AbstractContextManager[Session | None]:
    return nullcontext()


def _kept_nowhere(trajectory: Trajectory) -> None:
    """Trajectories are handed to whoever takes the last turn."""


def _nobody(part: AgentPart) -> Any:
    raise AssertionError("a session seats its agent itself")
