"""Many coroutines and threads in one environment: batches, order, cancellation, time-outs, errors, closing."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from forgec_runtime import (
    AsyncEnvironment,
    CallTimeout,
    Environment,
    Episode,
    Result,
    Reward,
    SharedEnvironment,
    Task,
    Workers,
    load_environment,
)
from forgec_runtime.arguments import Arguments
from forgec_runtime.telemetry import Telemetry
from forgec_runtime.tool import Side

LIBRARY = Path(__file__).parents[2] / "generated" / "library"
LOANS: dict[str, Any] = {"member_id": "M001"}


@pytest.fixture(scope="module")
def env() -> Environment:
    return load_environment(LIBRARY)


class Watched:
    """An environment whose steps are counted, and begin only while the door is open."""

    def __init__(self, env: Environment) -> None:
        self.env = env
        self.telemetry: Telemetry | None = None
        self.door = threading.Event()
        self.door.set()
        self.entered = threading.Event()
        self.steps: list[int] = []

    def step(self, calls: Sequence[tuple[Episode, str, Arguments]], by: Side | None = "agent") -> list[Result]:
        self.entered.set()
        assert self.door.wait(20)
        self.steps.append(len(calls))
        return self.env.step(calls, by)

    def reset(self, start: str, seed: int = 0) -> Episode:
        return self.env.reset(start, seed)

    def restore(self, snapshot: bytes) -> Episode:
        return self.env.restore(snapshot)

    def rewards(self, asked: Iterable[tuple[Episode, Task]]) -> list[Reward]:
        return self.env.rewards(asked)


@pytest.fixture
def watched(env: Environment) -> Watched:
    return Watched(env)


def run(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(test(), 60))


def payments(i: int) -> list[tuple[str, dict[str, Any]]]:
    chance = random.Random(i)
    members = [f"M00{chance.randint(1, 9)}" for _ in range(6)]
    return [("pay_fines", {"member_id": one, "amount": 0.25, "method": "card"}) for one in members]


async def played(front: AsyncEnvironment[Any], i: int) -> tuple[list[str], str]:
    """What one coroutine sees that plays one episode, some calls alone, some in one message."""
    calls = payments(i)
    episode = await front.reset("main_library")
    texts = [(await front.call(episode, *call)).text for call in calls[:3]]
    texts += [result.text for result in await front.calls(episode, calls[3:])]
    return texts, await front.digest(episode)


def expected(env: Environment, i: int) -> tuple[list[str], str]:
    episode = env.reset("main_library")
    return [result.text for result in env.step([(episode, *call) for call in payments(i)])], episode.digest()


def test_many_coroutines_share_steps_and_see_their_own_episodes(env: Environment, watched: Watched) -> None:
    async def test() -> None:
        async with AsyncEnvironment(watched) as front:
            found = await asyncio.gather(*(played(front, i) for i in range(500)))
        assert found == [expected(env, i) for i in range(500)]
        assert sum(watched.steps) == 6 * 500 and len(watched.steps) <= 12

    run(test)


def test_coroutines_over_workers() -> None:
    async def test(env: Environment, workers: Workers) -> None:
        async with AsyncEnvironment(workers) as front:
            found = await asyncio.gather(*(played(front, i) for i in range(60)))
            task = workers.tasks["settle_the_overdue"]
            episode = await front.reset(task.name)
            assert (await front.reward(episode, task)).value == 0.0
            again = await front.restore(await front.snapshot(episode))
            assert await front.ask(lambda: again.ended, again) is False
        assert found == [expected(env, i) for i in range(60)]

    with Workers(LIBRARY, 2) as workers:
        run(lambda: test(workers.environment, workers))


def test_what_arrives_while_a_step_runs_is_the_next_step(watched: Watched) -> None:
    async def test() -> None:
        async with AsyncEnvironment(watched, step=30) as front:
            episodes = [await front.reset("main_library") for _ in range(41)]
            watched.door.clear()
            first = asyncio.create_task(front.call(episodes[0], "list_loans", LOANS))
            await asyncio.to_thread(watched.entered.wait)
            others = [asyncio.create_task(front.call(one, "list_loans", LOANS)) for one in episodes[1:]]
            await asyncio.sleep(0.01)
            assert not any(one.done() for one in [first, *others])
            watched.door.set()
            results = await asyncio.gather(first, *others)
        assert len({result.text for result in results}) == 1
        assert watched.steps == [1, 30, 10]

    run(test)


def test_one_episode_is_asked_in_order(env: Environment, watched: Watched) -> None:
    async def test() -> None:
        async with AsyncEnvironment(watched) as front:
            one, two = [await front.reset("main_library") for _ in range(2)]
            pay = {"member_id": "M002", "method": "card"}
            asked: list[Coroutine[Any, Any, Any]] = [
                front.call(one, "pay_fines", {"amount": 1.25, **pay}),
                front.digest(one),
                front.call(two, "pay_fines", {"amount": 1, **pay}),
                front.call(one, "pay_fines", {"amount": 2, **pay}),
                front.digest(one),
                front.call(two, "pay_fines", {"amount": 2.25, **pay}),
            ]
            first, before, other, second, after, last = await asyncio.gather(*asked)
            assert [result.text for result in (first, second, other, last)] == ["2.25", "0.25", "2.50", "0.25"]
            assert before != after == one.digest()
        assert watched.steps == [2, 2]

    run(test)


def test_a_cancelled_call_never_runs_or_runs_to_its_end(env: Environment, watched: Watched) -> None:
    async def test() -> None:
        async with AsyncEnvironment(watched) as front:
            begun, waits, other = [await front.reset("main_library") for _ in range(3)]
            fresh = begun.digest()
            call = payments(1)[0]
            watched.door.clear()
            first = asyncio.create_task(front.call(begun, *call))
            await asyncio.to_thread(watched.entered.wait)
            second = asyncio.create_task(front.call(waits, *call))
            third = asyncio.create_task(front.call(other, *call))
            await asyncio.sleep(0.01)
            for one in (first, second):
                one.cancel()
            assert [type(one) for one in await asyncio.gather(first, second, return_exceptions=True)] == [
                asyncio.CancelledError
            ] * 2
            watched.door.set()
            assert (await third).ok
            assert waits.digest() == fresh and begun.digest() == other.digest() != fresh
        assert watched.steps == [1, 1]

    run(test)


def test_cancelled_calls_leave_nothing_in_the_queue(watched: Watched) -> None:
    async def test() -> None:
        async with AsyncEnvironment(watched, waiting=4) as front:
            episode = await front.reset("main_library")
            watched.door.clear()
            first = asyncio.create_task(front.call(episode, "list_loans", LOANS))
            await asyncio.to_thread(watched.entered.wait)
            for _ in range(10):
                tasks = [asyncio.create_task(front.call(episode, "list_loans", LOANS)) for _ in range(8)]
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                assert len(front._waiting) == 3  # the fourth runs; the others wait for room
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                assert not front._waiting
            watched.door.set()
            assert (await first).ok and (await front.call(episode, "list_loans", LOANS)).ok
        assert watched.steps == [1, 1]

    run(test)


def test_a_time_out_says_whether_the_call_runs(watched: Watched) -> None:
    async def test() -> None:
        async with AsyncEnvironment(watched, timeout=20) as front:
            begun, waits = [await front.reset("main_library") for _ in range(2)]
            fresh = waits.digest()
            call = payments(1)[0]
            watched.door.clear()
            first = asyncio.create_task(front.call(begun, *call, timeout=0.1))
            await asyncio.to_thread(watched.entered.wait)
            with pytest.raises(CallTimeout, match=r"within 0.01 seconds; it had not begun, and is not run") as late:
                await front.call(waits, *call, timeout=0.01)
            with pytest.raises(CallTimeout, match="it runs to its end") as early:
                await first
            assert (late.value.ran, early.value.ran) == (False, True)
            watched.door.set()
            assert (await front.call(waits, "list_loans", LOANS)).ok
            assert begun.digest() != fresh == waits.digest()

            def late_itself() -> None:
                raise TimeoutError("of its own")

            with pytest.raises(TimeoutError, match="of its own"):
                await front.ask(late_itself)

    run(test)


def test_what_raises_raises_alone(env: Environment) -> None:
    async def test() -> None:
        async with AsyncEnvironment(env) as front:
            episode = await front.reset("settle_the_overdue")
            elsewhere = next(task for task in env.tasks.values() if task.world != episode.world)

            def broken() -> None:
                raise StopIteration

            asked: list[Coroutine[Any, Any, Any]] = [
                front.reset("nowhere"),
                front.restore(b"nothing"),
                front.reward(episode, elsewhere),
                front.ask(broken),
                front.reward(episode, env.tasks["settle_the_overdue"]),
                front.call(episode, "list_loans", "{"),
                front.call(episode, "list_loans", {"member_id": lambda: 0}),
                front.call(episode, "list_loans", LOANS),
            ]
            found = await asyncio.gather(*asked, return_exceptions=True)
            kinds = [one.kind if isinstance(one, Result) else type(one).__name__ for one in found]
            assert kinds == [
                "KeyError", "SnapshotError", "ValueError", "RuntimeError", "Reward", "invalid", "invalid", "ok",
            ]  # fmt: skip
            with pytest.raises(ValueError, match="1,001 calls in one message"):
                await front.calls(episode, [("list_loans", LOANS)] * 1001)
            assert await front.calls(episode, []) == []

    run(test)


def test_a_closed_episode_is_told_alone() -> None:
    async def test(workers: Workers) -> None:
        async with AsyncEnvironment(workers) as front:
            episode, closed = await front.reset("main_library"), await front.reset("main_library")
            closed.close()
            calls = [(closed, LOANS), (episode, {"member_id": lambda: 0}), (episode, LOANS)]
            asked = [front.call(one, "list_loans", arguments) for one, arguments in calls]
            found = await asyncio.gather(*asked, return_exceptions=True)
            names = [one.kind if isinstance(one, Result) else type(one).__name__ for one in found]
            assert names == ["ValueError", "invalid", "ok"]

    with Workers(LIBRARY, 1) as workers:
        run(lambda: test(workers))


def test_closing(env: Environment, watched: Watched) -> None:
    async def test() -> None:
        front = AsyncEnvironment(watched)
        episode = await front.reset("main_library")
        fresh = episode.digest()
        watched.door.clear()
        call = payments(1)[0]
        runs = asyncio.create_task(front.call(episode, *call))
        await asyncio.to_thread(watched.entered.wait)
        waits = asyncio.create_task(front.call(episode, *call))
        await asyncio.sleep(0.01)
        closing = asyncio.create_task(front.close())
        await asyncio.sleep(0.01)
        assert not closing.done()
        watched.door.set()
        await closing
        assert (await runs).ok and episode.digest() != fresh
        for late in (waits, front.call(episode, *call), front.reset("main_library")):
            with pytest.raises(RuntimeError, match="the environment is closed"):
                await late
        await front.close()
        assert watched.steps == [1]

    run(test)


def test_another_event_loop_may_follow(watched: Watched) -> None:
    front = AsyncEnvironment(watched)
    episode = asyncio.run(front.reset("main_library"))

    async def leaves() -> None:
        watched.door.clear()
        task = asyncio.create_task(front.call(episode, "list_loans", LOANS))
        await asyncio.to_thread(watched.entered.wait)
        with pytest.raises(RuntimeError, match="another event loop"):
            await asyncio.to_thread(asyncio.run, front.digest(episode))
        task.cancel()

    asyncio.run(leaves())
    watched.door.set()
    assert asyncio.run(front.call(episode, "list_loans", LOANS)).ok
    asyncio.run(front.close())


@pytest.fixture
def shared(watched: Watched) -> Iterator[SharedEnvironment[Episode]]:
    with SharedEnvironment(watched) as shared:
        yield shared


def test_threads_share_steps(env: Environment, watched: Watched, shared: SharedEnvironment[Episode]) -> None:
    def play(i: int) -> tuple[list[str], str]:
        calls = payments(i)
        episode = shared.reset("main_library")
        texts = [shared.call(episode, *call).text for call in calls[:3]]
        texts += [result.text for result in shared.calls(episode, calls[3:])]
        return texts, shared.digest(episode)

    with ThreadPoolExecutor(16) as threads:
        assert list(threads.map(play, range(64))) == [expected(env, i) for i in range(64)]
    assert len(watched.steps) < sum(watched.steps) / 2
    episode = shared.reset("settle_the_overdue")
    assert shared.restore(shared.snapshot(episode)).digest() == shared.ask(episode.digest, episode)
    assert shared.reward(episode, env.tasks["settle_the_overdue"]).value == 0.0
    with pytest.raises(KeyError, match="nowhere"):
        shared.reset("nowhere")


def test_threads_that_wait_are_told_when_it_is_closed(watched: Watched, shared: SharedEnvironment[Episode]) -> None:
    episode = shared.reset("main_library")
    watched.door.clear()
    with ThreadPoolExecutor(8) as threads:
        first = threads.submit(shared.call, episode, "list_loans", LOANS)
        watched.entered.wait()
        others = [threads.submit(shared.call, episode, "list_loans", LOANS) for _ in range(6)]
        while len(shared._front._waiting) < 6:
            pass
        closing = threading.Thread(target=shared.close)
        closing.start()
        watched.door.set()
        assert first.result(20).ok
        for one in others:
            with pytest.raises(RuntimeError, match="closed"):
                one.result(20)
        closing.join()
    with pytest.raises(RuntimeError, match="closed"):
        shared.call(episode, "list_loans", LOANS)
