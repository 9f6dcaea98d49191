"""The differential test bites: of many faults of the compiler and the runtime it sees each, after a few programs.

The programs are drawn as those that every run of the tests plays on the kitchen sink. Where a fault shows in few tools,
they call these alone, to be quick; `FORGEC_FAULTS=all` lets them call any, as those do.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from forgec.model.spec import Spec
from forgec_runtime import load_environment
from tests.differential.bench import Bench, References, checked, compiled
from tests.differential.faults import FAULTS
from tests.differential.programs import Programs
from tests.differential.seeding import Fault

KITCHEN = Path(__file__).with_name("kitchen_sink.afs")
ALL_TOOLS = os.environ.get("FORGEC_FAULTS") == "all"
MOST = 400 if ALL_TOOLS else 80
"""So many programs must do; every run of the tests plays more."""


@pytest.fixture(scope="module")
def spec() -> Spec:
    return checked(KITCHEN.read_text(encoding="utf-8"), KITCHEN.name)


@pytest.fixture(scope="module")
def references(spec: Spec) -> References:
    return References(spec)


@pytest.fixture(scope="module")
def sound(spec: Spec, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a package without fault."""
    folder = tmp_path_factory.mktemp("sound")
    compiled(spec, folder)
    return folder / spec.name


def first_difference(bench: Bench, most: int, tools: Sequence[str] = ()) -> int | None:
    """After how many programs the two sides differ."""
    for number in range(most):
        if bench.difference(Programs(bench.spec, f"usual/{2 * number}").program(tools=tools)) is not None:
            return number + 1
    return None


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.what.replace(" ", "_"))
def test_a_fault_is_seen(fault: Fault, spec: Spec, sound: Path, references: References, tmp_path: Path) -> None:
    with fault.seeded():
        if fault.compiles:
            environment = compiled(spec, tmp_path)
        else:
            environment = load_environment(sound)
        tools = () if ALL_TOOLS else fault.tools.split()
        seen = first_difference(Bench(spec, environment, references=references), MOST, tools)
    assert seen is not None
    print(f"seen after {seen} programs")  # shown by pytest -rP


def test_without_a_fault_nothing_is_seen(spec: Spec, sound: Path, references: References) -> None:
    assert first_difference(Bench(spec, load_environment(sound), references=references), 50) is None
