"""How many cores of environments a fleet of GPUs needs: workers of Ray are measured, larger fleets are simulated.

    make bench-fleet          # or: .venv/bin/python -m benchmarks.fleet [--json FILE]

Measured: actors of Ray play episodes of the library turn by turn, as NeMo-RL's own rollouts have them played; what the
agents write is gold's. Each point gives the turns a second, and the seconds of a processor that a turn takes in a
worker and in the process that drives. The simulation is of these alone: every episode waits for a place on a GPU, for
what is generated there, for the driver, and for a core. It is first asked for the points that were measured.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
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
POINTS = [(1, 1_000), (2, 1_000), (4, 1_000), (2, 5_000), (4, 20_000)]
"""Workers, and episodes that are played at a time."""
SECONDS, SPREAD = 6.0, 0.8
"""A turn's generation: its median, and the deviation of its logarithm; one in a hundred takes ten times as long."""
PLACES = 64
"""Turns that a GPU generates at a time."""


@dataclass(frozen=True)
class Point:
    """What was measured."""

    workers: int
    episodes: int
    turns: int
    seconds: float
    worker: float
    """Seconds of a processor for a turn, in a worker."""
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


def gold() -> list[tuple[Question, str, list[AssistantMessage]]]:
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


def measure(workers: int, episodes: int) -> Point:
    """Play episodes to their end, a turn of each at a time."""
    actor: Any = ray.remote(Player)
    players = [actor.remote() for _ in range(workers)]
    scripts = gold()
    before = sum(ray.get([one.processor.remote() for one in players]))
    seats: list[int | None] = [None] * episodes
    turn, played, rewards = 0, 0, 0.0
    living = list(range(episodes))
    began, driver = time.perf_counter(), time.process_time()
    while living:
        shares = [[one for one in living if one % workers == number] for number in range(workers)]
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


def simulate(
    episodes: int, turns: int, cores: int, worker: float, driver: float, gpus: int = 0, seed: int = 0
) -> float:
    """Turns a second of a fleet; without GPUs nothing waits for what is generated."""
    world = simpy.Environment()
    core, drives = simpy.Resource(world, cores), simpy.Resource(world, 1)
    places = simpy.Resource(world, gpus * PLACES) if gpus else None
    chance = random.Random(seed)

    def episode() -> Iterator[Any]:
        for _ in range(turns):
            if places is not None:
                with places.request() as place:
                    yield place
                    slow = 10.0 if chance.random() < 0.01 else 1.0
                    yield world.timeout(SECONDS * slow * chance.lognormvariate(0.0, SPREAD))
            for resource, takes in ((drives, driver), (core, worker)):
                with resource.request() as asked:
                    yield asked
                    yield world.timeout(takes)

    for _ in range(episodes):
        world.process(episode())
    world.run()
    return episodes * turns / float(world.now)


def needed(gpus: int, worker: float, driver: float) -> tuple[int, float]:
    """The fewest cores with which a fleet loses less than a hundredth to its environments, and its turns a second."""
    episodes, turns = gpus * PLACES * 2, 8
    best = simulate(episodes, turns, 4096, worker, 0.0, gpus)
    cores = 1
    while simulate(episodes, turns, cores, worker, 0.0, gpus) < 0.99 * best:
        cores += 1
    return cores, best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="Keep the figures in a file.")
    asked = parser.parse_args()
    here = os.cpu_count() or 1
    os.environ["RAY_AUTH_MODE"] = "disabled"
    ray.init(num_cpus=max(workers for workers, _ in POINTS), include_dashboard=False, log_to_driver=False)
    points = [measure(workers, episodes) for workers, episodes in POINTS]
    ray.shutdown()
    print("| workers | episodes | turns/s | worker, ms a turn | driver, ms a turn | simulated turns/s |")
    print("|---|---|---|---|---|---|")
    for one in points:
        # the driver shares the cores with the workers
        said = simulate(min(one.episodes, 2_000), 8, min(one.workers, here), one.worker + one.driver, 0.0)
        print(
            f"| {one.workers} | {one.episodes:,} | {one.rate:,.0f} | {1e3 * one.worker:.2f} | {1e3 * one.driver:.2f} | "
            f"{said:,.0f} |"
        )
    worker = max(one.worker for one in points)
    fleets = [(gpus, *needed(gpus, worker, 0.0)) for gpus in (8, 32)]
    print("\n| GPUs | turns/s that they generate | cores of environments |\n|---|---|---|")
    for gpus, cores, rate in fleets:
        print(f"| {gpus} | {rate:,.0f} | {cores} |")
    if asked.json is not None:
        content = {"points": [asdict(one) for one in points], "fleets": fleets, "cores": here}
        asked.json.write_text(json.dumps(content, indent=2) + "\n")


if __name__ == "__main__":
    main()
