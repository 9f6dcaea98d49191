"""Random programs of calls mean the same to the compiled executor and to the reference executor, call for call.

Every second program is played by the kitchen sink, the others by the shipped specs in turn. `make differential` plays
100,000. `FORGEC_PROGRAMS=500` plays so many, `FORGEC_PROGRAMS=500-900` those from number 500 on, and `FORGEC_SEED=abc`
others than the usual ones.
"""

import os
from functools import cache
from pathlib import Path

import pytest

from forgec.pipeline import check
from tests.differential.bench import Bench, compiled
from tests.differential.programs import Programs
from tests.shipped import ENVIRONMENTS

ROOT = Path(__file__).parents[2]
KITCHEN = Path(__file__).with_name("kitchen_sink.afs")
FIRST, _, LAST = os.environ.get("FORGEC_PROGRAMS", "0-2000").rpartition("-")
SEED = os.environ.get("FORGEC_SEED", "usual")
TOGETHER = 50
"""How many programs are one test."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("packages")


@cache
def bench_of(path: Path, folder: Path) -> Bench:
    spec = check(path).spec
    assert spec is not None
    return Bench(spec, compiled(spec, folder))


def spec_of(number: int) -> Path:
    return KITCHEN if number % 2 == 0 else ENVIRONMENTS[number // 2 % len(ENVIRONMENTS)]


@pytest.mark.parametrize("first", range(int(FIRST or 0), int(LAST), TOGETHER))
def test_random_programs(first: int, folder: Path) -> None:
    for number in range(first, min(first + TOGETHER, int(LAST))):
        bench = bench_of(spec_of(number), folder)
        try:
            bench.check(Programs(bench.spec, f"{SEED}/{number}").program())
        except AssertionError as error:
            error.add_note(f"FORGEC_SEED={SEED} FORGEC_PROGRAMS={number}-{number + 1} plays this program alone.")
            raise


OUT_OF_REACH = {
    "cancel_pending_order",  # of the shop: a reason that is one of two sentences
    "find_user_id_by_name_zip",  # three texts that must fit together
}
"""Tools whose arguments nobody hits upon by drawing them."""


@pytest.mark.parametrize("path", [KITCHEN, *ENVIRONMENTS], ids=lambda path: path.stem)
def test_programs_reach_every_tool_beyond_its_guards(path: Path, folder: Path) -> None:
    bench = bench_of(path, folder)
    silent = set(bench.spec.tools) - OUT_OF_REACH
    for number in range(1000):
        program = Programs(bench.spec, number).program()
        episodes = [bench.environment.reset(start, program.seed) for start in program.worlds]
        for call in program.calls:
            if bench.environment.step([(episodes[call.episode], call.tool, call.arguments)], by=None)[0].ok:
                silent.discard(call.tool)
        if not silent:
            break
    assert silent == set()
