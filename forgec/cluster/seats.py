"""Episodes played turn by turn, for trainers that generate by themselves: they hand in what the agent wrote in many
episodes, and are handed what each of them reads next.

The episodes are played by the rollout loop, as all others are; a seat is the loop's agent, which waits for the trainer.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from forgec.dialogue import AssistantMessage, Message, Transcript
from forgec.rollouts.agents.agent import AgentPart, Tools
from forgec.rollouts.limits import Limits
from forgec.rollouts.run import Failure, Job, Runner, Setup, Side
from forgec.rollouts.trajectory import Key, Trajectory
from forgec.training.questions import Question
from forgec.users.user import Users
from forgec_runtime import AsyncEnvironment, Environment

T = TypeVar("T")

IDLE = 3600.0
"""Seconds after which an episode that nobody goes on with is given up."""


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


class _Seat:
    """The agent of one episode: it does what it is told, and tells what it has seen."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.job: asyncio.Task[Any] | None = None
        self.touched = 0.0
        self._written: asyncio.Queue[AssistantMessage] = asyncio.Queue()
        self._next: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._seen = 0

    async def act(self, transcript: Transcript, tools: Tools) -> AssistantMessage:
        read = tuple(one for one in transcript[self._seen :] if one.role in ("user", "tool"))
        self._seen = len(transcript)
        self.hand(Answer(self.number, read))
        return await self._written.get()

    def hand(self, answer: Answer) -> None:
        """Give the next answer to whoever waits for it."""
        if not self._next.done():
            self._next.set_result(answer)

    async def answer(self) -> Answer:
        """The next answer, as soon as there is one."""
        found = await self._next
        self._next = asyncio.get_running_loop().create_future()
        return found

    def write(self, message: AssistantMessage) -> None:
        self._written.put_nowait(message)


class _Room:
    """An environment that is played, and the seats of its episodes."""

    def __init__(self, environment: Environment, setup: Setup) -> None:
        self.environment = environment
        self.front: AsyncEnvironment[Any] = AsyncEnvironment(environment)
        self.seats: dict[Key, _Seat] = {}
        self.trials: Counter[tuple[str, int]] = Counter()
        self._failures = _Last()
        setup = replace(setup, agents=self._agent, over=self._over)
        self.runner = Runner(environment, self.front, setup, self._done, self._failures)

    def begin(self, seat: _Seat, task: str, seed: int) -> Key:
        """Have an episode played, its agent at the seat."""
        trial = self.trials[task, seed]
        self.trials[task, seed] += 1
        key = (self.environment.name, task, seed, trial)
        self.seats[key] = seat
        job = Job(self.environment.tasks[task], seed, trial)
        seat.job = asyncio.create_task(self.runner.play([job], 1))
        return key

    def _agent(self, part: AgentPart) -> _Seat:
        return self.seats[self.environment.name, part.task.name, part.seed, part.trial]

    def _done(self, trajectory: Trajectory) -> None:
        seat = self.seats[trajectory.key]
        seat.hand(Answer(seat.number, trajectory=trajectory))

    def _over(self, key: Key) -> None:
        seat = self.seats.get(key)
        if seat is not None:  # where it ended well, it has its answer already
            seat.hand(Answer(seat.number, failure=self._failures.text or "the episode failed"))


class _Last(list[Failure]):
    """The failures of an environment's episodes, of which only the last is kept."""

    @property
    def text(self) -> str:
        return self[-1].text if self else ""

    def append(self, failure: Failure) -> None:
        self[:] = [failure]


class Seats:
    """Plays episodes of some environments, as many at a time as are begun. May be used from several threads.

    Episodes that nobody has gone on with for `idle` seconds are given up when the next turns come. Close it.
    """

    def __init__(
        self, environments: Iterable[Environment], users: Users, user: str, limits: Limits, *, idle: float = IDLE
    ) -> None:
        self.idle = idle
        self._loop = asyncio.new_event_loop()
        self._seats: dict[int, tuple[_Seat, _Room, Key]] = {}
        self._begun = 0
        setup = Setup(Side("policy"), Side(user), _nobody, users, limits)
        self._rooms = {one.name: _Room(one, setup) for one in environments}
        self._thread = threading.Thread(target=self._loop.run_forever, name="forgec seats", daemon=True)
        self._thread.start()

    @property
    def playing(self) -> int:
        """How many episodes are begun and not over."""
        return len(self._seats)

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
        found = []
        for question in questions:
            seat, first = await self._begin(question)
            if first.over:
                raise RuntimeError(f"{question.environment}/{question.task}: {first.failure or 'it is over at once'}")
            found.append(_said(first))
            await self._leave(seat)
        return found

    async def _step(self, turns: Sequence[Turn]) -> list[Answer]:
        await self._give_up(self._loop.time() - self.idle)
        return list(await asyncio.gather(*(self._turn(turn) for turn in turns)))

    async def _turn(self, turn: Turn) -> Answer:
        if turn.seat is None:
            seat, first = await self._begin(turn.question)
            if first.over:
                return first
            if _said(first) != turn.opening:
                await self._leave(seat)
                text = f"the user of {turn.question.task} begins with {_said(first)!r}, not with {turn.opening!r}"
                return Answer(seat.number, failure=f"{text}: render the rows again")
        else:
            there = self._seats.get(turn.seat)
            if there is None:
                return Answer(turn.seat, failure=f"there is no episode {turn.seat}: it is over, or was given up")
            seat = there[0]
        seat.touched = self._loop.time()
        seat.write(turn.wrote)
        return await self._answered(seat)

    async def _begin(self, question: Question) -> tuple[_Seat, Answer]:
        """A seat at a new episode, and what its agent reads first."""
        self._begun += 1
        seat = _Seat(self._begun)
        room = self._rooms.get(question.environment)
        if room is None or question.task not in room.environment.tasks:
            what = f"environment {question.environment}" if room is None else f"task {question.task}"
            return seat, Answer(seat.number, failure=f"there is no {what} here")
        if room.runner.stopped:
            raise RuntimeError(room.runner.stopped)
        seat.touched = self._loop.time()
        self._seats[seat.number] = (seat, room, room.begin(seat, question.task, question.seed))
        return seat, await self._answered(seat)

    async def _answered(self, seat: _Seat) -> Answer:
        answer = await seat.answer()
        if answer.over:
            await self._leave(seat)
        return answer

    async def _leave(self, seat: _Seat) -> None:
        there = self._seats.pop(seat.number, None)
        if there is None:
            return
        _, room, key = there
        del room.seats[key]
        if seat.job is not None:
            seat.job.cancel()
            await asyncio.gather(seat.job, return_exceptions=True)

    async def _give_up(self, before: float) -> None:
        for seat in [seat for seat, _, _ in self._seats.values() if seat.touched < before]:
            seat.hand(Answer(seat.number, failure="the episode was given up, as nobody went on with it"))
            await self._leave(seat)

    async def _close(self) -> None:
        for seat in [seat for seat, _, _ in self._seats.values()]:
            await self._leave(seat)
        for room in self._rooms.values():
            await room.front.close()


def _said(answer: Answer) -> str:
    return "\n".join(one.content for one in answer.read if one.role == "user")


def _nobody(part: AgentPart) -> _Seat:
    raise AssertionError("a room seats its agents itself")
