"""What each construct of the language costs: query steps and microseconds a call, in steps of 1,024 episodes.

    .venv/bin/python -m benchmarks.constructs

The tools and their calls are those of tests/cases: each test of a case is played once to learn what it calls with,
then by 1,024 episodes in step. Prints the table and puts it into docs/speed.md.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forgec.model import load_spec
from forgec.testing import run_test
from forgec_runtime import Environment, load_environment

ROOT = Path(__file__).parent.parent
CASES = ROOT / "tests" / "cases"
EPISODES = 1_024
ROUNDS = 9


@dataclass(frozen=True)
class Cost:
    """What a tool's calls cost, over all of its calls in the tests of a case."""

    case: str
    tool: str
    queries: float
    microseconds: float


Script = list[tuple[str, dict[str, Any]]]


def scripts(case: str, environment: Environment) -> Iterator[tuple[str, Script]]:
    """The calls of each test with their arguments, and the world they are made in."""
    spec = load_spec(CASES / case / "spec.afs")
    step = environment.step
    for test in spec.tests:
        made: Script = []

        def noted(calls: Any, made: Script = made) -> Any:
            made.extend((tool, given) for _, tool, given in calls)
            return step(calls)

        environment.step = noted  # type: ignore[method-assign]
        run_test(spec, environment, test)
        environment.step = step  # type: ignore[method-assign]
        yield test.world, made


def costs(case: str) -> Iterator[Cost]:
    """The tools of a case, in the order in which its tests call them."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "forgec", "compile", str(CASES / case / "spec.afs"), "--out", folder]
        subprocess.run(command, check=True, capture_output=True)
        (package,) = Path(folder).iterdir()
        environment = load_environment(package)
        asked: dict[str, list[int]] = defaultdict(list)
        taken: dict[str, list[float]] = defaultdict(list)
        for world, made in scripts(case, environment):
            for round_ in range(ROUNDS):
                episodes = [environment.reset(world) for _ in range(EPISODES)]
                for tool, given in made:
                    calls = [(episode, tool, given) for episode in episodes]
                    before, start = environment.executions, time.perf_counter()
                    results = environment.step(calls)
                    seconds = time.perf_counter() - start
                    if round_ and results[0].ok:  # the first round warms
                        asked[tool].append(environment.executions - before)
                        taken[tool].append(1e6 * seconds / EPISODES)
        for tool in taken:
            yield Cost(case, tool, statistics.mean(asked[tool]), statistics.median(taken[tool]))
