"""What the differential test reports is small, can be played again, and depends on nothing that was played before."""

from pathlib import Path

import pytest

from forgec_runtime import load_environment
from tests.differential.bench import Bench, checked, compiled
from tests.differential.programs import Call, Fork, Program, Programs
from tests.differential.seeding import Fault
from tests.differential.shrink import shrunk

SPEC = """
environment counters { clock timestamp '2025-01-01 00:00:00'; }
table counters { name text key, count integer default 0 }
tool add(name text, by integer) returns integer {
  require $by <> 7 else "not seven";
  update counters set count = count + $by where name = $name;
  return counters[$name].count;
}
tool drop(name text) { delete from counters where name = $name; }
world two { counters (name) values ('a'), ('b'); }
"""
FORGETFUL = Fault(
    "deleted rows come back",
    "forgec_runtime.call",
    "overlay.setdefault(name, {}).update(rows)",
    "overlay.setdefault(name, {}).update({k: r for k, r in rows.items() if r})",
)
NOISE = Call(1, "add", {"name": "b", "by": 2})
LONG = Program(
    ("two", "two", "two"),
    (
        (NOISE, Call(0, "add", {"name": "a", "by": 5}), Call(2, "drop", {"name": "b"})),
        Fork(2, 1),
        (NOISE, Call(0, "drop", {"name": "a"}), NOISE),
        (Call(0, "add", {"name": "b", "by": 30}), NOISE),
    ),
    fetched=True,
)


def test_a_difference_is_reported_with_the_smallest_program(tmp_path: Path) -> None:
    spec = checked(SPEC, "counters.afs")
    compiled(spec, tmp_path)
    with FORGETFUL.seeded():
        bench = Bench(spec, load_environment(tmp_path / spec.name))
        with pytest.raises(AssertionError) as raised:
            bench.check(LONG)
        report = str(raised.value)
        small = eval(report[report.index("Program(") : report.index("forgec play")], globals().copy())
        assert len(small.worlds) == 1
        assert [call.tool for call in small.calls] == ["add", "drop"]
        assert not small.fetched
        assert bench.difference(small) is not None
    assert "> drop " in report
    assert Bench(spec, load_environment(tmp_path / spec.name)).difference(LONG) is None


def test_a_program_that_cannot_be_smaller_stays() -> None:
    program = Program(("two",), ((Call(0, "drop", {}),),))
    assert shrunk(program, lambda candidate: candidate == program)[0] == program


def test_the_same_seed_draws_the_same_program() -> None:
    spec = checked(SPEC)
    assert str(Programs(spec, 5).program()) == str(Programs(spec, 5).program())
    assert str(Programs(spec, 5).program()) != str(Programs(spec, 6).program())
