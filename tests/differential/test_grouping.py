"""Same calls, same bytes: however they are grouped into steps and interleaved, in fresh processes of any hash seed."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.differential.bench import checked, compiled
from tests.differential.programs import Call, Programs
from tests.shipped import ENVIRONMENTS

ROOT = Path(__file__).parents[2]
SPECS = [Path(__file__).with_name("kitchen_sink.afs"), *ENVIRONMENTS]
EPISODES = 6

PLAY = """
import json, sys
from forgec_runtime import load_environment
env = load_environment(sys.argv[1])
for starts, seed, steps in json.load(sys.stdin):
    episodes = [env.reset(start, seed) for start in starts]
    told = [[] for _ in starts]
    for step in steps:
        results = env.step([(episodes[i], tool, arguments) for i, tool, arguments in step], by=None)
        for (i, tool, _), result in zip(step, results):
            told[i].append(f"{tool}: {result.kind} {result.text}")
    for lines, episode in zip(told, episodes):
        print(*lines, episode.state(), episode.changes(), episode.broken_rules, sep="\\n")
"""

Steps = list[list[Call]]
GROUPINGS: dict[str, tuple[str, Callable[[Steps], Steps]]] = {
    "as drawn": ("0", lambda steps: steps),
    "each call alone": ("1", lambda steps: [[call] for step in steps for call in step]),
    "all at once": ("2", lambda steps: [[call for step in steps for call in step]]),
    "episode after episode": ("3", lambda steps: [_of(steps, episode) for episode in range(EPISODES)]),
    "in reverse": ("4711", lambda steps: [[call for e in reversed(range(EPISODES)) for call in _of(steps, e)]]),
    "the nth calls of all": ("random", lambda steps: _nth([_of(steps, episode) for episode in range(EPISODES)])),
}
"""Ways to group the same calls, and a hash seed for each; calls of one episode stay in their order."""


def _of(steps: Steps, episode: int) -> list[Call]:
    return [call for step in steps for call in step if call.episode == episode]


def _nth(calls: list[list[Call]]) -> Steps:
    return [[own[i] for own in calls if i < len(own)] for i in range(max(map(len, calls)))]


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_groups_and_hash_seeds_change_nothing(path: Path, tmp_path: Path) -> None:
    spec = checked(path.read_text(encoding="utf-8"), path.name)
    compiled(spec, tmp_path)
    drawn = [Programs(spec, f"grouping/{number}").program(episodes=EPISODES, calls=60) for number in range(3)]
    told = {}
    for name, (seed, grouped) in GROUPINGS.items():
        programs = []
        for program in drawn:
            steps = grouped([list(step) for step in program.steps if isinstance(step, tuple)])
            programs.append([program.worlds, program.seed, [[_sent(call) for call in step] for step in steps if step]])
        told[name] = subprocess.run(
            [sys.executable, "-c", PLAY, str(tmp_path / spec.name)],
            input=json.dumps(programs).encode(),
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
    assert len(told["as drawn"]) > 10_000
    assert [name for name, output in told.items() if output != told["as drawn"]] == []


def _sent(call: Call) -> list[Any]:
    return [call.episode, call.tool, call.arguments]
