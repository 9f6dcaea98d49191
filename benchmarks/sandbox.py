"""What confinement, recovery, the front and telemetry cost.

    .venv/bin/python -m benchmarks.sandbox

Processor time, of this process and of the workers, over the library that is shipped; wall time beside it, which means
something only when nothing else runs. Each pair is measured in turns within one run.
"""

from __future__ import annotations

import asyncio
import os
import signal
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from forgec_runtime import AsyncEnvironment, Environment, Workers, load_environment

LIBRARY = Path(__file__).parent.parent / "generated" / "library"
READ = ("find_member", {"email": "joan.moreno@example.org"})
WRITE = ("pay_fines", {"member_id": "M002", "amount": 0.01, "method": "card"})
ROUNDS = 15


def used(pid: int | str = "self") -> float:
    """Seconds of processor time that a process has used (Linux)."""
    return float(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def total(env: Any) -> float:
    """What this process and the workers of an environment have used."""
    workers = env.processes if isinstance(env, Workers) else []
    return float(time.process_time() + sum(used(worker) for worker in workers))


def timed(env: Any, do: Callable[[], object]) -> tuple[float, float]:
    """Seconds of processor time, and of wall time, of something."""
    before, wall = total(env), time.perf_counter()
    do()
    return total(env) - before, time.perf_counter() - wall


def line(what: str, found: list[tuple[float, float]], each: float = 1, unit: str = "ms") -> float:
    scale = {"ms": 1e3, "us": 1e6}[unit] / each
    processor = scale * statistics.median(one for one, _ in found)
    wall = scale * statistics.median(one for _, one in found)
    print(f"{what:58}{processor:10.2f} {unit}{wall:10.2f} {unit}")
    return processor


def starts() -> None:
    """A worker, when the first process is there; and with a world."""
    for confine in (False, True):
        name = "confined" if confine else "not confined"
        alone, opened = [], []
        with Workers(LIBRARY, 1, confine=confine) as pool:
            crew = pool._crew
            (worker,) = crew.processes
            for _ in range(ROUNDS):
                crew.kill(worker, "was killed")
                nursery = crew._nursery[0].process.pid
                before, wall = used(nursery) + time.process_time(), time.perf_counter()
                crew._begin(worker)
                crew._tell(worker, ["hello"])
                now = used(nursery) + time.process_time() + used(worker.pid)
                alone.append((now - before, time.perf_counter() - wall))
                crew._tell(worker, ["open", "main_library", 0, None])
                now = used(nursery) + time.process_time() + used(worker.pid)
                opened.append((now - before, time.perf_counter() - wall))
        line(f"start of a worker, {name}", alone)
        line(f"the same, with the world main_library opened, {name}", opened)


def repeat(env: Any, batch: list[Any], count: int) -> None:
    for _ in range(count):
        env.step(batch)


def steps() -> None:
    """The same steps in this process, in a worker, and in one that is confined."""
    with Workers(LIBRARY, 1, confine=False) as free, Workers(LIBRARY, 1) as confined:
        places: dict[str, Any] = {"in process": load_environment(LIBRARY), "worker": free, "confined": confined}
        for size, count in ((1, 500), (1000, 5)):
            found: dict[str, list[tuple[float, float]]] = {name: [] for name in places}
            batches = {}
            for name, env in places.items():
                episodes = [env.reset("main_library") for _ in range(size)]
                batches[name] = [(one, *(READ, WRITE)[i % 2]) for i, one in enumerate(episodes)]
                env.step(batches[name])
            for _ in range(ROUNDS):
                for name, env in places.items():
                    found[name].append(timed(env, partial(repeat, env, batches[name], count)))
            costs = {
                name: line(f"step of {size:,}, {name}", [(p / count, w / count) for p, w in some])
                for name, some in found.items()
            }
            added = costs["worker"] - costs["in process"]
            print(f"  a worker adds {added:.3f} ms of processor time to a step of {size:,}")
            print(f"  confined against not: {costs['confined'] / costs['worker']:.3f}")


def recovery() -> None:
    """1,000 live episodes of twenty calls each, their worker killed: until the next step of all is answered."""
    found = []
    for _ in range(3):
        with Workers(LIBRARY, 1) as pool:
            episodes = [pool.reset("main_library") for _ in range(1000)]
            for turn in range(20):
                pool.step([(one, *(READ, WRITE)[turn % 2]) for one in episodes])
            (worker,) = pool.processes
            os.kill(worker, signal.SIGKILL)
            before, wall = time.process_time(), time.perf_counter()
            pool.step([(one, *READ) for one in episodes])
            after = time.process_time() + used(pool.processes[0])
            found.append((after - before, time.perf_counter() - wall))
    line("1,000 episodes of 20 calls after their worker was killed", found)


def front() -> None:
    """A thousand coroutines that make ten calls each, against the same as steps."""

    async def play(env: Environment) -> None:
        async with AsyncEnvironment(env) as front:

            async def one() -> None:
                episode = await front.reset("main_library")
                for _ in range(10):
                    await front.call(episode, *READ)

            await asyncio.gather(*(one() for _ in range(1000)))

    def step(env: Environment) -> None:
        episodes = [env.reset("main_library") for _ in range(1000)]
        for _ in range(10):
            env.step([(one, *READ) for one in episodes])

    env, counting = load_environment(LIBRARY), load_environment(LIBRARY)
    counting.measure()
    for one in (env, counting):
        step(one)
    ways: dict[str, tuple[Environment, Callable[[], object]]] = {
        "call in a step of 1,000": (env, lambda: step(env)),
        "the same with telemetry": (counting, lambda: step(counting)),
        "the same by 1,000 coroutines": (env, lambda: asyncio.run(play(env))),
    }
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, (place, do) in ways.items():
            found[name].append(timed(place, do))
    for name, some in found.items():
        line(name, some, 10_000, "us")


def main() -> None:
    print(f"{'medians':58}{'processor':>13}{'wall':>13}")
    starts()
    steps()
    recovery()
    front()


if __name__ == "__main__":
    main()
