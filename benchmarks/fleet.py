"""How many cores of environments a fleet of GPUs needs: workers of Ray are measured, larger fleets are simulated.

    make bench-fleet          # or: .venv/bin/python -m benchmarks.fleet [--json FILE]

Measured: actors of Ray play episodes of the library turn by turn, as NeMo-RL's own rollouts have them played; what the
agents write is gold's. Each point gives the turns a second, and the seconds of a processor that a turn takes in a
worker and in the process that drives. Two simulations are made of these. One plays as the points were played, a turn of
all episodes at a time, and is asked for the points that were measured. The other is of a fleet, where no episode waits
for another: for a place on a GPU, for what is generated there, and for a core.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import ray
import simpy

from forgec.cluster.seats import Seats, Turn
from forgec.dialogue import AssistantMessage
from forgec.rollouts.limits import Limits
from forgec.training.episodes import Episode, Stage
from forgec.training.questions import Question
from forgec.users.scripted import ScriptedUser
from forgec_runtime import load_environment

PACKAGE = Path(__file__).parent.parent / "generated" / "library"
LIMITS = Limits(turns=30, calls=60, seconds=None)
TASKS = 12
TURNS = 8
POINTS = [(1, 1_000), (2, 1_000), (4, 1_000), (2, 5_000), (4, 20_000)]
"""Workers, and episodes that are played at a time."""
GPUS = (8, 64, 256)
MEDIANS = (1.0, 6.0)
"""Seconds of a turn's generation: medians; one turn in a hundred takes ten times as long."""
SPREAD = 0.8
"""The deviation of the logarithm of these seconds."""
PLACES = 64
"""Turns that a GPU generates at a time."""
SLICE = 0.005
"""Seconds after which a core turns to the next who waits for one."""


@dataclass(frozen=True)
class Point:
    """What was measured."""

    workers: int
    episodes: int
    turns: int
    seconds: float
    worker: float
    """Seconds of a processor for a turn: in a worker, and in the process that drives."""
    driver: float

    @property
    def rate(self) -> float:
        return self.turns / self.seconds


class Player:
    """A worker: it plays its share of the episodes."""

    def __init__(self) -> None:
        os.environ["OMP_NUM_THREADS"] = "1"
        self.seats = Seats([load_environment(PACKAGE)], ScriptedUser, "scripted", LIMITS)

    def step(self, turns: Sequence[Turn]) -> list[tuple[int, bool, float]]:
        """Of each turn the seat, whether its episode is over, and what it was worth."""
        answers = self.seats.step(turns)
        return [(one.seat, one.over, one.trajectory.reward if one.trajectory else 0.0) for one in answers]

    def processor(self) -> float:
        return time.process_time()


Script = tuple[Question, str, list[AssistantMessage]]
"""A question, what its user begins with, and what gold writes turn by turn."""


def gold() -> list[Script]:
    """Questions, what their users begin with, and what gold writes, where gold's calls end the episode as they did."""
    library = load_environment(PACKAGE)
    asked = [Question("library", name, 1) for name in sorted(library.tasks)]
    played = Stage({"library": library}, ScriptedUser, limits=LIMITS).gold([Episode(one) for one in asked])
    seats, found = Seats([library], ScriptedUser, "scripted", LIMITS), []
    for question, one in zip(asked, played, strict=True):
        opening = one.messages[1].content
        wrote = [AssistantMessage(text=m.content, calls=m.tool_calls) for m in one.messages if m.role == "assistant"]
        answer = None
        for message in wrote:
            if answer is None or not answer.over:
                turn = Turn(question, message, None if answer is None else answer.seat, opening)
                (answer,) = seats.step([turn])
        if answer is not None and answer.trajectory is not None and answer.trajectory.reward == 1:
            found.append((question, opening, wrote))
    seats.close()
    return found[:TASKS]


def worker_of(episode: int, workers: int) -> int:
    """Every worker plays all of the scripts."""
    return episode // TASKS % workers


def measure(workers: int, episodes: int, scripts: Sequence[Script]) -> Point:
    """Play episodes to their end, a turn of each at a time."""
    actor: Any = ray.remote(Player)
    players = [actor.remote() for _ in range(workers)]
    before = sum(ray.get([one.processor.remote() for one in players]))
    seats: list[int | None] = [None] * episodes
    turn, played, rewards = 0, 0, 0.0
    living = list(range(episodes))
    began, driver = time.perf_counter(), time.process_time()
    while living:
        shares = [[one for one in living if worker_of(one, workers) == number] for number in range(workers)]
        asked = []
        for player, share in zip(players, shares, strict=True):
            turns = []
            for episode in share:
                question, opening, wrote = scripts[episode % TASKS]
                turns.append(Turn(question, wrote[turn], seats[episode], opening))
            asked.append(player.step.remote(turns))
        played += len(living)
        still = []
        for share, answers in zip(shares, ray.get(asked), strict=True):
            for episode, (seat, over, reward) in zip(share, answers, strict=True):
                seats[episode] = seat
                rewards += reward
                if not over:
                    still.append(episode)
        living = sorted(still)
        turn += 1
    seconds, driver = time.perf_counter() - began, time.process_time() - driver
    worked = sum(ray.get([one.processor.remote() for one in players])) - before
    for one in players:
        ray.kill(one)
    assert rewards == episodes, "gold is not paid"
    return Point(workers, episodes, played, seconds, worked / played, driver / played)


def together(point: Point, lengths: Sequence[int], cores: int) -> float:
    """Turns a second of a point, from its seconds of processors: a turn of all episodes at a time, a core for each who
    works; `lengths` are the turns of the scripts."""
    world = simpy.Environment()
    core = simpy.Resource(world, cores)

    def work(seconds: float) -> Iterator[Any]:
        while seconds > 0:
            with core.request() as asked:
                yield asked
                yield world.timeout(min(SLICE, seconds))
            seconds -= SLICE

    def play() -> Iterator[Any]:
        living = list(range(point.episodes))
        while living:
            yield world.process(work(len(living) * point.driver))
            shares = Counter(worker_of(one, point.workers) for one in living)
            busy = [world.process(work(count * point.worker)) for count in shares.values()]
            yield world.all_of(busy)
            turns[0] += 1
            living = [one for one in living if lengths[one % len(lengths)] > turns[0]]

    turns = [0]
    world.process(play())
    world.run()
    return point.turns / float(world.now)


def fleet(gpus: int, median: float, cores: int, worker: float, seed: int = 0) -> float:
    """Turns a second of a fleet in which twice as many episodes are played as there are places on its GPUs."""
    world = simpy.Environment()
    core, places = simpy.Resource(world, cores), simpy.Resource(world, gpus * PLACES)
    chance = random.Random(seed)

    def episode() -> Iterator[Any]:
        for _ in range(TURNS):
            with places.request() as place:
                yield place
                slow = 10.0 if chance.random() < 0.01 else 1.0
                yield world.timeout(median * slow * chance.lognormvariate(0.0, SPREAD))
            with core.request() as asked:
                yield asked
                yield world.timeout(worker)
            played.append(world.now)

    played: list[float] = []
    for _ in range(2 * gpus * PLACES):
        world.process(episode())
    world.run()
    # the middle: how it fills and how it empties is of this simulation, which plays each episode once
    low, high = len(played) // 4, 3 * len(played) // 4
    return (high - low) / (played[high] - played[low])


def needed(gpus: int, median: float, worker: float) -> tuple[int, float]:
    """The fewest cores with which a fleet loses less than a hundredth to its environments, and its turns a second."""
    best = fleet(gpus, median, gpus * PLACES, worker)
    cores = math.ceil(best * worker)
    while fleet(gpus, median, cores, worker) < 0.99 * best:
        cores += 1
    return cores, best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="Keep the figures in a file.")
    asked = parser.parse_args()
    here = os.cpu_count() or 1
    os.environ["RAY_AUTH_MODE"] = "disabled"
    ray.init(num_cpus=max(workers for workers, _ in POINTS), include_dashboard=False, log_to_driver=False)
    scripts = gold()
    lengths = [len(wrote) for _, _, wrote in scripts]
    print("| workers | episodes | turns/s | simulated | worker, ms a turn | driver, ms a turn |")
    print("|---|---|---|---|---|---|")
    points = []
    for workers, episodes in POINTS:
        point = measure(workers, episodes, scripts)
        points.append(point)
        said = together(point, lengths, here)
        print(
            f"| {workers} | {episodes:,} | {point.rate:,.0f} | {said:,.0f} | {1e3 * point.worker:.2f} | "
            f"{1e3 * point.driver:.2f} |",
            flush=True,
        )
    ray.shutdown()
    slowest = max(one.worker for one in points)
    print(f"\nA turn takes {1e3 * slowest:.2f} ms of a core in what follows.\n")
    print("| GPUs | generation, median seconds | turns/s | cores of environments |\n|---|---|---|---|", flush=True)
    fleets = []
    for gpus, median in itertools.product(GPUS, MEDIANS):
        cores, rate = needed(gpus, median, slowest)
        fleets.append({"gpus": gpus, "median": median, "cores": cores, "turns a second": rate})
        print(f"| {gpus} | {median:.0f} | {rate:,.0f} | {cores} |", flush=True)
    if asked.json is not None:
        content = {"points": [asdict(one) for one in points], "fleets": fleets, "cores": here}
        asked.json.write_text(json.dumps(content, indent=2) + "\n")


if __name__ == "__main__":
    main()
