"""specs/retail.afs against tau2-bench's own retail environment, in one run: the same data, the same gold plans.

    make bench-retail

Both check their arguments' names and write their results as JSON. Of the gold actions, those that fail in both are
played, too. Prints the table, and puts it into docs/speed.md.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from benchmarks.table import publish_between
from forgec.garbage import collect_seldom
from forgec_runtime import Environment, Episode
from forgec_runtime.reward import state_differences
from tests.conformance.referee import Tau2, find_tau2, gold

ROOT = Path(__file__).parent.parent
STEP = 1024
Plan = list[tuple[str, dict[str, Any]]]


@dataclass(frozen=True)
class Measure:
    """One line of the table: seconds or bytes of both for the same work."""

    what: str
    theirs: float
    ours: float
    unit: str
    goal: float

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours


class Both:
    """The two environments, and the gold plans of the tasks."""

    def __init__(self, tau2: Tau2) -> None:
        self.retail = tau2.domain("retail")
        self.ours: Environment = tau2.ours("retail")
        self.plans: list[Plan] = [list(gold(task)) for task in tau2.tasks("retail")]
        self.message: Any = sys.modules["tau2.data_model.message"]

    def theirs(self) -> Any:
        return self.retail.get_environment()

    def fresh(self) -> Episode:
        return self.ours.reset("tau2")

    def play_theirs(self, environment: Any, plan: Plan) -> None:
        for tool, arguments in plan:
            environment.get_response(self.message.ToolCall(id="1", name=tool, arguments=arguments))

    def play_ours(self, plans: list[Plan]) -> list[Episode]:
        """All plans beside each other: a step for the first actions of all, then one for the second."""
        episodes = [self.fresh() for _ in plans]
        for actions in zip_longest(*plans):
            calls = [(e, *action) for e, action in zip(episodes, actions, strict=True) if action is not None]
            self.ours.step(calls)
        return episodes


def seconds(run: Callable[[], object], rounds: int, times: int = 1) -> float:
    """What one run takes: the median of so many rounds, each of so many runs."""
    taken = []
    for _ in range(rounds):
        gc.collect()
        start = time.perf_counter()
        for _ in range(times):
            run()
        taken.append((time.perf_counter() - start) / times)
    return statistics.median(taken)


def held(make: Callable[[], object], count: int) -> float:
    """Bytes that each of so many takes."""
    gc.collect()
    tracemalloc.start()
    kept = [make() for _ in range(count)]
    gc.collect()
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return size / len(kept)


def measures(both: Both) -> Iterator[Measure]:
    plans = both.plans
    actions = sum(map(len, plans))
    both.play_ours(plans)  # decodes what the plans touch, as a training run does once
    yield Measure("start of an environment", seconds(both.theirs, 10), seconds(both.fresh, 5, 1_000), "s", 1_000)

    every = list(chain.from_iterable(plans))
    environments = [both.theirs() for _ in range(3)]
    calls = seconds(lambda: both.play_theirs(environments.pop(), every), 3) / actions
    crowd = (plans * (STEP // len(plans) + 1))[:STEP]
    many = seconds(lambda: both.play_ours(crowd), 5) / sum(map(len, crowd))
    yield Measure("a call, 1,024 episodes beside each other", calls, many, "s", 10)

    def alone() -> None:
        for plan in plans:
            episode = both.fresh()
            for tool, arguments in plan:
                both.ours.call(episode, tool, **arguments)

    yield Measure("a call alone", calls, seconds(alone, 5) / actions, "s", 2)

    longest = max(plans, key=len)
    environment = both.theirs()
    both.play_theirs(environment, longest)
    pair = both.play_ours([longest, longest])
    compared = seconds(lambda: state_differences(*pair), 5, 200)
    yield Measure("comparison of two final states", 2 * seconds(environment.get_db_hash, 5), compared, "s", 1_000)

    def their_replay() -> None:
        for plan in plans:
            hashes = []
            for environment in (both.theirs(), both.theirs()):
                both.play_theirs(environment, plan)
                hashes.append(environment.get_db_hash())
            assert hashes[0] == hashes[1]

    def our_replay() -> None:
        for one, other in zip(both.play_ours(plans), both.play_ours(plans), strict=True):
            assert not state_differences(one, other)

    yield Measure("all gold plans with their rewards", seconds(their_replay, 1), seconds(our_replay, 5), "s", 200)
    theirs = held(both.theirs, 5)
    yield Measure("memory of an environment", theirs, held(both.fresh, 2_000), "B", 1_000)
    ours = held(lambda: both.play_ours(plans), 5) / len(plans)
    yield Measure("memory of one that played a gold plan", theirs, ours, "B", 1_000)


def shown(value: float, unit: str) -> str:
    """A size for people."""
    for factor, prefix in ((1e6, "M"), (1e3, "k"), (1, ""), (1e-3, "m"), (1e-6, "u"), (1e-9, "n")):
        if value >= factor:
            return f"{value / factor:.3g} {prefix}{unit}"
    return f"{value} {unit}"


def main() -> None:
    tau2 = find_tau2()
    if tau2 is None:
        sys.exit("tau2-bench is not installed; `make bench-retail` puts it beside this project")
    collect_seldom()  # as the commands of forgec do; tau2-bench has the good of it, too
    rows = ["| what | tau2-bench | forgec | times | goal | |", "| --- | ---: | ---: | ---: | ---: | --- |"]
    print("\n".join(rows))
    for one in measures(Both(tau2)):
        verdict = "met" if one.ratio >= one.goal else "not met"
        figures = f"{shown(one.theirs, one.unit)} | {shown(one.ours, one.unit)} | {one.ratio:,.1f}"
        rows.append(f"| {one.what} | {figures} | {one.goal:,.0f} | {verdict} |")
        print(rows[-1], flush=True)
    publish_between(rows, "retail", ROOT / "docs" / "speed.md")


if __name__ == "__main__":
    main()
