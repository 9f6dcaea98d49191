"""The differential test bites: of many faults of the compiler and the runtime it sees each, after a few programs.

The programs are drawn as those that every run of the tests plays on the kitchen sink. Where a fault shows in few tools,
they call these alone, to be quick; `FORGEC_FAULTS=all` lets them call any, as those do.
"""

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from forgec.model.spec import Spec
from forgec_runtime import load_environment
from tests.differential.bench import Bench, References, checked, compiled
from tests.differential.faults import FAULTS
from tests.differential.programs import Programs
from tests.differential.seeding import Fault

TESTS = Path(__file__).parents[1]
KITCHEN = "differential/kitchen_sink.afs"
ALL_TOOLS = os.environ.get("FORGEC_FAULTS") == "all"
MOST = 400 if ALL_TOOLS else 80
"""So many programs must do; every run of the tests plays more."""


@cache
def spec_of(path: str) -> Spec:
    return checked((TESTS / path).read_text(encoding="utf-8"), path)


@cache
def references_of(path: str) -> References:
    return References(spec_of(path))


@cache
def sound(path: str, folder: Path) -> Path:
    """The folder of a package without fault."""
    compiled(spec_of(path), folder)
    return folder / spec_of(path).name


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sound")


def first_difference(bench: Bench, most: int, tools: Sequence[str] = ()) -> int | None:
    """After how many programs the two sides differ."""
    for number in range(most):
        if bench.difference(Programs(bench.spec, f"usual/{2 * number}").program(tools=tools)) is not None:
            return number + 1
    return None


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.what.replace(" ", "_"))
def test_a_fault_is_seen(fault: Fault, folder: Path, tmp_path: Path) -> None:
    spec, references, package = spec_of(fault.spec), references_of(fault.spec), sound(fault.spec, folder)
    with fault.seeded():
        environment = compiled(spec, tmp_path) if fault.compiles else load_environment(package)
        tools = () if ALL_TOOLS else fault.tools.split()
        seen = first_difference(Bench(spec, environment, references=references), MOST, tools)
    assert seen is not None
    print(f"seen after {seen} programs")  # shown by pytest -rP


@pytest.mark.parametrize("path", sorted({KITCHEN, *(fault.spec for fault in FAULTS)}))
def test_without_a_fault_nothing_is_seen(path: str, folder: Path) -> None:
    environment = load_environment(sound(path, folder))
    assert first_difference(Bench(spec_of(path), environment, references=references_of(path)), 50) is None
