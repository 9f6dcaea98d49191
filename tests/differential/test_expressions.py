"""Random expressions of every type mean the same in generated Python and in DuckDB, wherever they stand.

`FORGEC_SPECS=100` tries the tools of a hundred specs.
"""

import os
from pathlib import Path

import pytest

from tests.differential.bench import Bench, checked, compiled
from tests.differential.expressions import random_spec
from tests.differential.programs import Programs

COUNT = int(os.environ.get("FORGEC_SPECS", "2"))
SEED = os.environ.get("FORGEC_SEED", "usual")


@pytest.mark.parametrize("number", range(COUNT))
def test_random_tools(number: int, tmp_path: Path) -> None:
    spec = checked(random_spec(f"{SEED}/{number}", 30))
    assert len(spec.tools) > 20
    bench = Bench(spec, compiled(spec, tmp_path), arithmetic_may_fail=True)
    for round_ in range(3):
        bench.check(Programs(spec, f"{SEED}/{number}/{round_}").program(episodes=3, calls=80))
