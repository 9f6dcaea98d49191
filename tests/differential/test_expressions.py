"""Random expressions of every type mean the same in generated Python and in DuckDB, wherever they stand.

`FORGEC_SPECS=100` tries the tools of a hundred specs.
"""

import os
from pathlib import Path

import pytest

from tests.differential.bench import Bench, checked, compiled
from tests.differential.expressions import PARAMETERS, kitchen_without_tools, random_spec
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


ONCE_DIFFERENT = {
    "an aggregate whose only columns are those of a select inside it": """
        returns { n integer, v Heat? }[] {
          return select count(*) as n, max(case (select max(n.place.box.high) from sinks n where not exists (
            select 1 from plates where seen > $place.box.wide)) when 7 then $heat else sinks[$t].backup end) as v
          from sinks n where sinks[$u].note not between lower('a') and substring(n.place.box.label, n.size);
        }""",
}


@pytest.mark.parametrize("tool", ONCE_DIFFERENT.values(), ids=ONCE_DIFFERENT)
def test_tools_that_were_once_different(tool: str, tmp_path: Path) -> None:
    spec = checked(f"{kitchen_without_tools()}tool t({PARAMETERS}) {tool}")
    bench = Bench(spec, compiled(spec, tmp_path), arithmetic_may_fail=True)
    bench.check(Programs(spec, "once").program(episodes=3, calls=40))
