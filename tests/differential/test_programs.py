"""Random programs of calls mean the same to the compiled executor and to the reference executor, call for call.

`FORGEC_PROGRAMS=1000` runs a thousand programs for each spec, `FORGEC_SEED=abc` others than the usual ones.
"""

import os
from pathlib import Path

import pytest

from forgec_runtime import world
from tests.differential.bench import Bench, Programs, compiled

ROOT = Path(__file__).parents[2]
SPECS = [Path(__file__).with_name("kitchen_sink.afs"), *sorted((ROOT / "specs").glob("*.afs"))]
COUNT = int(os.environ.get("FORGEC_PROGRAMS", "4"))
SEED = os.environ.get("FORGEC_SEED", "usual")


@pytest.fixture(scope="module", params=SPECS, ids=lambda path: path.stem)
def bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    path: Path = request.param
    return Bench(*compiled(path.read_text(encoding="utf-8"), tmp_path_factory.mktemp(path.stem), path.name))


@pytest.mark.parametrize("number", range(COUNT))
def test_random_programs(bench: Bench, number: int) -> None:
    bench.check(Programs(bench.spec, f"{SEED}/{number}").program(episodes=4, steps=30))


def test_rows_that_are_fetched_when_needed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """As above, with no table small enough to be decoded when its world is opened."""
    monkeypatch.setattr(world, "WHOLE_TABLE", -1)
    monkeypatch.setattr(bench.environment, "_bases", {})
    for number in range(1 + COUNT // 3):
        bench.check(Programs(bench.spec, f"{SEED}/fetched/{number}").program(episodes=3, steps=25))


def test_programs_reach_every_tool_beyond_its_guards(bench: Bench) -> None:
    silent = set(bench.spec.tools)
    for number in range(40):
        program = Programs(bench.spec, number).program(episodes=4, steps=20, tools=sorted(silent))
        episodes = [bench.environment.reset(world) for world in program.worlds]
        for step in program.steps:
            results = bench.environment.step([(episodes[call.episode], call.tool, call.arguments) for call in step])
            silent -= {call.tool for call, result in zip(step, results, strict=True) if result.ok}
        if not silent:
            break
    assert silent == set()
