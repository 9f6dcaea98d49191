"""What each construct of the language costs: query steps and microseconds a call, in steps of 1,024 episodes.

    make bench-constructs        # or: .venv/bin/python -m benchmarks.constructs

The tools and their calls are those of the cases in tests/cases: each test of a case is played once to learn what it
calls with, then by 1,024 episodes in step. Prints the table and puts it into docs/speed.md.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.table import ROOT, publish_between
from forgec.pipeline import check
from forgec.testing import run_test
from forgec_runtime import Environment, load_environment
from forgec_runtime.scheduler import StepCall
from tests.test_cases import CASES, CONSTRUCTS

EPISODES = 1_024
ROUNDS = 7


@dataclass(frozen=True)
class Cost:
    """What the calls of one tool cost that succeed: query steps, and microseconds a call."""

    tool: str
    queries: float
    microseconds: float


Script = list[tuple[str, Any]]


def scripts(case: str, environment: Environment) -> Iterator[tuple[str, Script]]:
    """The calls of each test with their arguments, and the world they are made in."""
    spec = check(CASES / case / "spec.afs").spec
    assert spec is not None
    step = environment.step
    for test in spec.tests:
        made: Script = []

        def noted(calls: Sequence[StepCall], by: Any = None, made: Script = made) -> Any:
            made.extend((tool, given) for _, tool, given in calls)
            return step(calls, by)

        environment.step = noted  # type: ignore[method-assign]
        run_test(spec, environment, test)
        environment.step = step  # type: ignore[method-assign]
        yield test.world, made


def costs(case: str) -> list[Cost]:
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
                    results = environment.step(calls, None)
                    seconds = time.perf_counter() - start
                    if round_ and results[0].ok:  # the first round warms
                        asked[tool].append(environment.executions - before)
                        taken[tool].append(1e6 * seconds / EPISODES)
        return [Cost(tool, statistics.mean(asked[tool]), statistics.median(taken[tool])) for tool in taken]


def main() -> None:
    rows = ["| case | tool | query steps | us a call |", "| --- | --- | ---: | ---: |"]
    for case in sorted(CONSTRUCTS):
        for i, cost in enumerate(costs(case)):
            link = f"[{case}](../tests/cases/{case}/spec.afs)" if i == 0 else ""
            rows.append(f"| {link} | `{cost.tool}` | {cost.queries:.3g} | {cost.microseconds:.1f} |")
            print(
                f"{case if i == 0 else '':28}{cost.tool:34}{cost.queries:>8.3g}{cost.microseconds:>10.1f}", flush=True
            )
    publish_between(rows, "constructs", ROOT.parent / "docs" / "speed.md")


if __name__ == "__main__":
    main()
