"""Episodes that a trainer plays turn by turn: the same as those of the rollout loop."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forgec.cluster.seats import Answer, Seats, Turn
from forgec.dialogue import AssistantMessage, Message, ToolCall
from forgec.rollouts.agents.built_in import GoldPlayer
from forgec.rollouts.limits import Limits
from forgec.rollouts.run import Failure, Job, Runner, Setup, Side
from forgec.rollouts.trajectory import Trajectory
from forgec.training.questions import Question
from forgec.users.scripted import ScriptedUser
from forgec_runtime import AsyncEnvironment, Environment, load_environment

GENERATED = Path(__file__).parents[2] / "generated"
LIMITS = Limits(turns=30, calls=60, seconds=None)


@pytest.fixture(scope="module")
def library() -> Environment:
    return load_environment(GENERATED / "library")


@pytest.fixture
def seats(library: Environment) -> Iterator[Seats]:
    made = Seats([library], ScriptedUser, "scripted", LIMITS)
    yield made
    made.close()


def gold(library: Environment, tasks: list[str]) -> dict[str, Trajectory]:
    """The episodes of gold, by the rollout loop."""
    found: dict[str, Trajectory] = {}
    failures: list[Failure] = []

    async def play() -> None:
        front: AsyncEnvironment[Any]
        async with AsyncEnvironment(library) as front:
            setup = Setup(Side("policy"), Side("scripted"), GoldPlayer, ScriptedUser, LIMITS)
            runner = Runner(library, front, setup, lambda one: found.update({one.task: one}), failures)
            await runner.play([Job(library.tasks[name], 7, 0) for name in tasks], 8)

    asyncio.run(play())
    assert not failures
    return found


def turns_of(trajectory: Trajectory) -> list[AssistantMessage]:
    return [
        AssistantMessage(text=one.content, calls=one.tool_calls, reasoning=one.reasoning)
        for one in trajectory.messages if one.role == "assistant"
    ]  # fmt: skip


def question(task: str) -> Question:
    return Question("library", task, 7)


def test_an_episode_played_turn_by_turn_is_that_of_the_loop(library: Environment, seats: Seats) -> None:
    names = sorted(library.tasks)[:12]
    expected = gold(library, names)
    openings = dict(zip(names, seats.openings([question(name) for name in names]), strict=True))
    todo = {name: turns_of(expected[name]) for name in names}
    numbers: dict[str, int | None] = dict.fromkeys(names)
    ended: dict[str, Trajectory] = {}
    while todo:
        asked = [Turn(question(name), todo[name].pop(0), numbers[name], openings[name]) for name in todo]
        for turn, answer in zip(asked, seats.step(asked), strict=True):
            numbers[turn.question.task] = answer.seat
            if answer.over:
                assert answer.trajectory is not None and not answer.masked
                ended[turn.question.task] = answer.trajectory
                del todo[turn.question.task]
    assert seats.playing == 0
    for name in names:
        # the openings were episodes, too, so that the trial is another
        ours, theirs = ended[name], expected[name]
        assert (ours.messages, ours.reward, ours.digest, ours.end) == (
            theirs.messages, theirs.reward, theirs.digest, theirs.end
        )  # fmt: skip


def test_an_answer_has_what_the_agent_reads_next(library: Environment, seats: Seats) -> None:
    task = sorted(library.tasks)[0]
    (opening,) = seats.openings([question(task)])
    call = ToolCall.of("no_such_tool")
    (first,) = seats.step([Turn(question(task), AssistantMessage(calls=(call, call)), None, opening)])
    assert [one.role for one in first.read] == ["tool", "tool"]
    (second,) = seats.step([Turn(question(task), AssistantMessage(text="What is your name?"), first.seat)])
    assert [one.role for one in second.read] == ["user"]


def test_an_opening_that_is_another_fails_its_episode_alone(library: Environment, seats: Seats) -> None:
    task = sorted(library.tasks)[0]
    (opening,) = seats.openings([question(task)])
    said = AssistantMessage(text="Hello?")
    wrong, right = seats.step(
        [Turn(question(task), said, None, "Sell me a ship."), Turn(question(task), said, None, opening)]
    )
    assert wrong.masked and "render the rows again" in wrong.failure
    assert not right.over
    assert seats.playing == 1


@pytest.mark.parametrize(
    ("asked", "missing"),
    [(Question("library", "none", 0), "task none"), (Question("none", "x", 0), "environment none")],
)
def test_what_is_not_there_fails_its_episode_alone(seats: Seats, asked: Question, missing: str) -> None:
    (answer,) = seats.step([Turn(asked, AssistantMessage(text="Hi"))])
    assert answer == Answer(answer.seat, failure=f"there is no {missing} here")


def test_an_episode_that_is_over_cannot_be_gone_on_with(library: Environment, seats: Seats) -> None:
    (answer,) = seats.step([Turn(question(sorted(library.tasks)[0]), AssistantMessage(text="Hi"), 99)])
    assert answer.masked and "it is over, or was given up" in answer.failure


def test_abandoned_episodes_are_given_up(library: Environment) -> None:
    seats = Seats([library], ScriptedUser, "scripted", LIMITS, idle=0.2)
    task = sorted(library.tasks)[0]
    (opening,) = seats.openings([question(task)])
    (begun,) = seats.step([Turn(question(task), AssistantMessage(text="What is your name?"), None, opening)])
    assert seats.playing == 1
    until = time.monotonic() + 60
    while seats.playing and time.monotonic() < until:
        time.sleep(0.05)
    (late,) = seats.step([Turn(question(task), AssistantMessage(text="Hello?"), begun.seat)])
    assert "given up" in late.failure
    seats.close()


def test_more_episodes_than_may_be_fail_alone(library: Environment) -> None:
    seats = Seats([library], ScriptedUser, "scripted", LIMITS, most=1)
    task = sorted(library.tasks)[0]
    (opening,) = seats.openings([question(task)])
    turn = Turn(question(task), AssistantMessage(text="What is your name?"), None, opening)
    first, second = seats.step([turn, turn])
    assert not first.over
    assert second.masked and "1 episodes of library are played already" in second.failure
    seats.close()


def test_many_threads_share_the_seats(library: Environment, seats: Seats) -> None:
    task = sorted(library.tasks)[0]
    (opening,) = seats.openings([question(task)])
    turn = Turn(question(task), AssistantMessage(text="What is your name?"), None, opening)
    found: list[tuple[Message, ...]] = []
    threads = [threading.Thread(target=lambda: found.append(seats.step([turn])[0].read)) for _ in range(20)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(found) == 20 and len({*found}) == 1
    assert seats.playing == 20
