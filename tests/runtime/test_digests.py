"""Digests: one for all states that count as equal, others for others."""

import os
import random
import subprocess
import sys
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forgec_runtime import Environment, World
from forgec_runtime.equality import differences
from forgec_runtime.matching import _plain, _rounds
from forgec_runtime.results import to_json
from forgec_runtime.states import State as Side
from forgec_runtime.states import layouts_of
from tests.runtime.library_fixture import make_library
from tests.runtime.library_schema import NOW
from tests.runtime.test_equality import TABLES, WORLD, State, base, children, order, parents, renamed, ring, states


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    path = tmp_path_factory.mktemp("world") / "w.json"
    rows = {table: list(rows.values()) for table, rows in WORLD.items()}
    path.write_text(to_json(rows), encoding="utf-8")
    return Environment("orders", clock=NOW, tables=TABLES, tools=(), worlds=(World("w", path),))


def digest(env: Environment, state: State) -> str:
    episode = env.reset("w")
    episode.overlay = state
    return episode.digest()


def told_apart_by_refinement(one: State, other: State) -> bool:
    """Whether colours alone, of both states at once, tell them apart."""
    layouts = layouts_of(TABLES)
    known = {table.name: base(table.name, [*one.get(table.name, {}), *other.get(table.name, {})]) for table in TABLES}
    shapes: dict[object, int] = {}
    left, right = (Side(layouts, known, *pair).nodes(shapes) for pair in ((one, other), (other, one)))
    colours = list(_rounds(left, right, _plain(left, right)))[-1]
    rows = [
        Counter((node.shape, tuple(side[name] for name in node.names)) for node in nodes)
        for nodes, side in zip((left, right), colours, strict=True)
    ]
    return rows[0] != rows[1]


@given(states(), st.integers(0, 2**32))
def test_names_and_order_do_not_matter(env: Environment, state: State, seed: int) -> None:
    assert digest(env, state) == digest(env, renamed(state, seed))


@settings(max_examples=300)
@given(states(), states())
def test_digests_are_equal_where_refinement_sees_no_difference(env: Environment, one: State, other: State) -> None:
    equal = digest(env, one) == digest(env, other)
    assert equal == (not told_apart_by_refinement(one, other))
    assert equal or differences(TABLES, base, one, other)


@given(states(), st.integers(0, 2**32), st.data())
def test_another_value_gives_another_digest(env: Environment, state: State, seed: int, data: st.DataObject) -> None:
    columns = {"parents": "colour", "children": "size", "lines": "what"}
    cells = [(table, key, column) for table, column in columns.items() for key in state[table]]
    if cells:
        table, key, column = data.draw(st.sampled_from(cells))
        row = state[table][key]
        assert row is not None
        other = {**state, table: {**state[table], key: {**row, column: "neither"}}}
        assert digest(env, other) != digest(env, renamed(state, seed))


def test_what_counts_as_equal_has_one_digest(env: Environment) -> None:
    plain = digest(env, {})
    assert digest(env, order(noted="new")) == plain
    assert digest(env, order()) == plain
    assert digest(env, {"orders": {"#W7": None}}) == plain
    assert digest(env, order(total=Decimal("4.5"))) == plain
    assert digest(env, order(total=4.5)) == plain
    assert digest(env, order(status="x", noted="a")) == digest(env, order(status="x", noted="b"))
    assert digest(env, order(total=Decimal("100"))) == digest(env, order(total=Decimal("1E+2")))
    assert digest(env, order(total=Decimal("-0.00"))) == digest(env, order(total=0))


def test_what_differs_has_its_own_digest(env: Environment) -> None:
    totals: list[Any] = [None, "", "1", 1, True, Decimal("1.5"), 10**30, 10**30 + 1]
    totals += [[1], [True], ["1"], [], {"a": 1}, NOW, NOW.date()]
    some: list[State] = [
        {},
        {"orders": {"#W1": None}},
        {"orders": {"#W2": None}},
        {"orders": {"#W1": None, "#W2": None}},
        order("#W9"),
        order(status="x"),
        order(status="X"),
        *(order(total=one) for one in totals),
        {"parents": {"P001": None}},
        {"parents": parents(("P001", "blue", None))},
        {"parents": parents(("P002", "blue", None))},
        {"parents": parents(("P002", "blue", None), ("P003", "blue", None))},
        {"parents": parents(("P002", "blue", "P002"))},
        {"parents": parents(("P002", "blue", "P001"))},
        {"children": children(("C001", "P001", 1))},
        {"parents": parents(*ring(2, 3, 4))},
        {"parents": parents(*ring(2, 3, 4, 5))},
    ]
    assert len({digest(env, state) for state in some}) == len(some)


def test_parents_told_apart_by_their_children_only(env: Environment) -> None:
    twins = parents(("P002", "blue", None), ("P003", "blue", None))
    straight: State = {"parents": twins, "children": children(("C001", "P002", 1), ("C002", "P003", 2))}
    crossed: State = {"parents": twins, "children": children(("C001", "P003", 1), ("C002", "P002", 2))}
    both: State = {"parents": twins, "children": children(("C001", "P002", 1), ("C002", "P002", 2))}
    assert digest(env, straight) == digest(env, crossed) != digest(env, both)


def test_what_refinement_cannot_tell_apart_has_one_digest(env: Environment) -> None:
    six: State = {"parents": parents(*ring(2, 3, 4, 5, 6, 7))}
    threes: State = {"parents": parents(*ring(2, 3, 4), *ring(5, 6, 7))}
    assert differences(TABLES, base, six, threes) != []
    assert digest(env, six) == digest(env, threes)  # the exception that its docstring names


def test_a_long_chain_is_seen_to_its_end(env: Environment) -> None:
    def chain(colours: str) -> State:
        keys = [f"P{n:03}" for n in range(2, 2 + len(colours))]
        rows = list(zip(keys, colours, [*keys[1:], None], strict=True))
        random.Random(len(colours)).shuffle(rows)
        return {"parents": parents(*rows)}

    assert digest(env, chain("x" * 30)) != digest(env, chain("x" * 31))
    assert digest(env, chain("x" * 30 + "yx")) != digest(env, chain("x" * 29 + "yxx"))


def test_other_worlds_give_other_digests(tmp_path: Path) -> None:
    digests = set()
    for books in (10, 11):
        folder = tmp_path / str(books)
        folder.mkdir()
        digests.add(make_library(folder, books=books).reset("front_desk").digest())
    assert len(digests) == 2


def test_the_order_of_calls_does_not_matter(tmp_path: Path) -> None:
    env = make_library(tmp_path)
    one, other = env.reset("front_desk"), env.reset("front_desk")
    env.call(one, "lend_book", member_id="M1", isbn="B3")
    env.call(one, "lend_book", member_id="M2", isbn="B4")
    env.call(other, "lend_book", member_id="M2", isbn="B4")
    env.call(other, "lend_book", member_id="M1", isbn="B3")
    assert one.changes() != other.changes()
    assert one.digest() == other.digest() == env.restore(other.snapshot()).digest()
    env.call(other, "pay_fines", member_id="M2", amount=1)
    assert one.digest() != other.digest()


PLAY = """
import sys
from pathlib import Path
from tests.runtime.library_fixture import make_library
from tests.runtime.test_snapshots import used
print(used(make_library(Path(sys.argv[1]))).digest())
"""


def test_every_process_gives_the_same_digest(tmp_path: Path) -> None:
    path = os.pathsep.join([*sys.path, str(Path(__file__).parents[2])])
    told = set()
    for seed in ("0", "4711"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
        command = [sys.executable, "-c", PLAY, str(tmp_path)]
        told.add(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(told) == 1
