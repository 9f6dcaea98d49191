"""Random queries, most of them ill-typed: each is refused at its place, or answered when it is called."""

import random
from pathlib import Path

import pytest

from forgec.pipeline import check, generate_package
from forgec_runtime import load_environment

COLUMNS = ("n", "m", "x", "d", "at", "f", "s", "k")
LITERALS = ("'abc'", "'5'", "'2025-01-01'", "'true'", "''", "'2025-13-01'", "5", "1.5", "date '2025-01-01'", "true")
BINARY = (
    "coalesce({}, {})",
    "({} + {})",
    "({} - {})",
    "({} || {})",
    "greatest({}, {})",
    "nullif({}, {})",
    "[{}, {}][1]",
)
COMPARISONS = ("{} = {}", "{} < {}", "{} <> {}", "{} is distinct from {}", "{} in ({}, 3)", "list_contains([{}], {})")
HEAD = """
environment readings { clock timestamp '2025-01-01 00:00:00'; }
enum Kind { a, b }
table ts {
  t text key, n integer, m integer?, x decimal(6, 2), d date, at timestamp?, f boolean, s text, k Kind
}
world w {
  ts (t, n, m, x, d, at, f, s, k) values
    ('x', 1, null, 1.0, '2025-01-01', '2025-01-01 00:00:00', true, 's', 'a'),
    ('y', 2, 3, 2.0, '2025-01-02', null, false, '', 'b');
}
"""


def value(lot: random.Random, columns: tuple[str, ...], depth: int = 2) -> str:
    """A random expression; texts are not cast, as whether one can be is seen when it is there."""
    way = lot.random()
    if depth == 0 or way < 0.4:
        return lot.choice(columns)
    if way < 0.6:
        return lot.choice(LITERALS)
    if way < 0.7:
        return f"(select max({lot.choice(COLUMNS)}) from ts z)"
    form = lot.choice(BINARY)
    return form.format(value(lot, columns, depth - 1), value(lot, columns, depth - 1))


def query(lot: random.Random) -> str:
    """A select over the table, or over a select of three columns that are computed."""
    comparison = lot.choice(COMPARISONS)
    if lot.random() < 0.5:
        return f"select 1 as one from ts where {comparison.format(value(lot, COLUMNS), value(lot, COLUMNS))}"
    columns = ("c0", "c1", "c2")
    computed = ", ".join(f"{value(lot, COLUMNS)} as {name}" for name in columns)
    condition = comparison.format(value(lot, columns, 1), value(lot, columns, 1))
    return f"select 1 as one from (select {computed} from ts) v where {condition}"


@pytest.mark.parametrize("seed", range(2))
def test_random_queries_are_refused_or_answered(seed: int, tmp_path: Path) -> None:
    lot = random.Random(seed)
    tools = [f"tool q{i}() returns {{ one integer }}[] {{ return {query(lot)}; }}" for i in range(150)]
    path = tmp_path / "readings.afs"

    path.write_text(HEAD + "\n".join(tools), encoding="utf-8")
    found = [one for one in check(path).report.diagnostics if one.code.startswith("AFS")]
    before = HEAD.count("\n")
    places = [one.primary.span for one in found if one.primary is not None]
    refused = {place.source.text.count("\n", 0, place.start) - before for place in places}
    assert len(places) == len(found)
    assert all(0 <= line < len(tools) for line in refused)
    sound = [tool for line, tool in enumerate(tools) if line not in refused]
    assert 10 < len(sound) < len(tools)

    path.write_text(HEAD + "\n".join(sound), encoding="utf-8")
    checked = check(path)
    assert checked.spec is not None
    assert not [one for one in checked.report.diagnostics if one.code.startswith("AFS")]
    for name, text in generate_package(checked.spec).items():
        file = tmp_path / "generated/readings" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    env = load_environment(tmp_path / "generated/readings")
    for tool in sound:
        result = env.call(env.reset("w"), tool.partition("(")[0].removeprefix("tool "))
        assert result.ok, f"{tool}: {result.text}"
