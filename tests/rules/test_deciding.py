"""What a condition is found to come to is all that DuckDB makes of it, whatever the values are."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forgec.checks.deciding import Fact, Undecided, outcomes
from forgec.diagnostics import Report
from forgec.model import spec as m
from forgec.pipeline import check_source
from forgec.source import Source
from forgec.sql.oracle import Oracle
from forgec.sql.tree import exp

VALUES = {
    "a": ("integer?", ["null", "-1", "0", "1", "2", "7"]),
    "b": ("integer", ["0", "1", "2", "3"]),
    "c": ("decimal(4, 1)", ["0.0", "0.5", "1.0", "1.5"]),
    "k": ("Kind", ["'x'", "'y'"]),
    "o": ("Kind?", ["null", "'x'", "'y'"]),
    "f": ("boolean?", ["null", "true", "false"]),
    "s": ("text?", ["null", "'x'", "'q'", "''"]),
    "d": ("date", ["date '2025-01-01'", "date '2025-02-02'"]),
}
NUMBERS = st.sampled_from(["$a", "$b", "$c", "0", "1", "1.5", "-1", "$b + 1"])
TEXTS = st.sampled_from(["$s", "'x'", "'z'"])
COMPARED = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])
ATOMS = st.one_of(
    st.tuples(NUMBERS, COMPARED, NUMBERS).map(" ".join),
    st.tuples(TEXTS, st.sampled_from(["=", "<>"]), TEXTS).map(" ".join),
    st.sampled_from([
        "$k = 'x'", "$o = 'y'", "$k = $o", "$k in ('x', 'y')", "$o in ('x', 'y')", "$a in (0, 1, null)", "$f", "true",
        "$a between 0 and 2", "$a is null", "$o is not null", "$f is null", "null", "$d < date '2025-01-15'",
        "$d = date '2025-01-01'", "$s like 'x%'", "$o is distinct from 'x'", "$f = ($a = 1)", "$b in ($a, 1)",
    ]),
)  # fmt: skip
CONDITIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda parts: f"({' '.join(parts)})"),
        inner.map(lambda one: f"not ({one})"),
        inner.map(lambda one: f"({one}) is null"),
    ),
    max_leaves=5,
)


def trees(*conditions: str) -> list[exp.Expr]:
    """Conditions over the parameters of a tool, resolved."""
    parameters = ", ".join(f"{name} {type_}" for name, (type_, _) in VALUES.items())
    guards = " ".join(f'require {condition} else "no";' for condition in conditions)
    text = f"environment e {{}}\nenum Kind {{ x, y }}\ntool t({parameters}) {{ {guards} }}\nworld w {{}}\n"
    spec = check_source(Path("e.afs"), Source("e.afs", text), Report()).spec
    assert spec is not None, conditions
    return [one.sql.expression for one in spec.tools["t"].body if isinstance(one, m.Require)]


def computed(condition: str, given: str) -> set[bool | None]:
    """What DuckDB makes of a condition, for all values for which another one holds."""
    sources = ", ".join(
        f"(values {', '.join(f'({v})' for v in values)}) as t_{n}({n})" for n, (_, values) in VALUES.items()
    )
    query = f"select distinct {condition} from {sources} where {given}".replace("$", "")
    return {value for (value,) in Oracle().compute(query)}


@settings(max_examples=120, deadline=None)
@given(CONDITIONS, CONDITIONS)
def test_nothing_that_happens_is_ruled_out(condition: str, known: str) -> None:
    first, second = trees(condition, known)
    for facts, where in (([], "true"), ([Fact(second, frozenset({True}))], known)):
        try:
            found = outcomes(first, facts)
        except Undecided:
            continue
        assert {True, False} <= found or computed(condition, where) <= found


@pytest.mark.parametrize(
    ("condition", "known", "found"),
    [
        ("$a = $a", "true", {True, None}),
        ("$k in ('x', 'y')", "true", {True}),
        ("$k = 'x' or $k = 'y'", "true", {True}),
        ("$b > 2 and $b < 3", "true", {False}),
        ("$c > 2 and $c < 3", "true", {True, False}),
        ("$a is null", "$a > 1", {False}),
        ("$b > 1", "$b >= 2", {True}),
        ("$b > $a", "$a < $b", {True}),
        ("$b <= $a", "$a < $b", {False}),
        ("$s = 'x'", "$s <> 'x'", {False}),
        ("$d < date '2025-01-01'", "$d = date '2025-01-01'", {False}),
        ("$f", "not $f", {False}),
        ("$b > 0", "$b < 0 and $b > 0", set()),
    ],
)
def test_what_follows(condition: str, known: str, found: set[bool | None]) -> None:
    first, second = trees(condition, known)
    assert outcomes(first, [Fact(second, frozenset({True}))]) == found


def test_too_many_cases_are_not_tried() -> None:
    many = " and ".join(f"$b + {i} > $a + {j}" for i, j in product(range(4), range(4)))
    with pytest.raises(Undecided):
        outcomes(trees(many)[0], [])
