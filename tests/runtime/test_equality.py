"""State equality: by value, without unscored columns, and up to renaming of the keys that the engine made."""

import random
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forgec_runtime import types as t
from forgec_runtime.equality import Difference, differences, equal
from forgec_runtime.schema import Column, Table

TEXT = t.Text()
ORDERS: Table[Any] = Table(
    "orders",
    columns=(
        Column("order_id", TEXT),
        Column("status", TEXT),
        Column("total", t.Decimal(8, 2)),
        Column("noted", TEXT, scored=False),
    ),
    key=("order_id",),
)
PARENTS: Table[Any] = Table(
    "parents",
    columns=(
        Column("id", TEXT),
        Column("colour", TEXT),
        Column("next", TEXT, references="parents", optional=True),
        Column("noted", TEXT, scored=False),
    ),
    key=("id",),
    serial="P{000}",
)
CHILDREN: Table[Any] = Table(
    "children",
    columns=(Column("id", TEXT), Column("parent", TEXT, references="parents"), Column("size", t.Integer())),
    key=("id",),
    serial="C{000}",
)
LINES: Table[Any] = Table(
    "lines",
    columns=(Column("parent", TEXT, references="parents"), Column("pos", t.Integer()), Column("what", TEXT)),
    key=("parent", "pos"),
)
CARDS: Table[Any] = Table(
    "cards",
    columns=(Column("parent", TEXT, references="parents"), Column("pin", TEXT)),
    key=("parent",),
)
USES: Table[Any] = Table(
    "uses",
    columns=(Column("n", t.Integer()), Column("card", TEXT, references="cards")),
    key=("n",),
)
TABLES = (ORDERS, PARENTS, CHILDREN, LINES, CARDS, USES)
WORLD: dict[str, dict[Any, dict[str, Any]]] = {
    "orders": {
        key: {"order_id": key, "status": "pending", "total": Decimal("4.50"), "noted": "old"} for key in ("#W1", "#W2")
    },
    "parents": {"P001": {"id": "P001", "colour": "red", "next": None, "noted": ""}},
}
State = dict[str, dict[Any, dict[str, Any] | None]]


def base(table: str, keys: Sequence[Any]) -> dict[Any, dict[str, Any]]:
    rows = WORLD.get(table, {})
    return {key: rows[key] for key in keys if key in rows}


def compared(actual: State, wanted: State) -> list[Difference]:
    """The differences; whether there are any is told without them, too."""
    told = differences(TABLES, base, actual, wanted)
    assert equal(TABLES, base, actual, wanted) is equal(TABLES, base, wanted, actual) is (not told)
    return told


def found(actual: State, wanted: State) -> list[str]:
    return [one.text for one in compared(actual, wanted)]


def order(key: str = "#W1", **changes: Any) -> State:
    return {"orders": {key: {**WORLD["orders"]["#W1"], "order_id": key, **changes}}}


def parents(*rows: tuple[str, str, str | None]) -> dict[Any, dict[str, Any] | None]:
    return {key: {"id": key, "colour": colour, "next": after, "noted": key} for key, colour, after in rows}


def children(*rows: tuple[str, str, int]) -> dict[Any, dict[str, Any] | None]:
    return {key: {"id": key, "parent": parent, "size": size} for key, parent, size in rows}


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ([1], [True], False),
        ({"a": [1]}, {"a": [True]}, False),
        ({"a": [1]}, {"a": [Decimal("1.0")]}, True),
        ([float("nan")], [float("nan")], True),
        ((1, 2), [1, 2], True),
        (float("nan"), float("nan"), True),
        (None, None, True),
        (None, 0, False),
    ],
)
def test_what_is_plainly_equal_is_so_by_the_same_rules(one: Any, other: Any, equal: bool) -> None:
    assert (found(order(total=one), order(total=other)) == []) == equal


def test_nothing_changed_on_both_sides() -> None:
    assert found({}, {}) == []


def test_a_column_with_another_value() -> None:
    assert found({}, order(status="cancelled")) == ["orders #W1: status is pending, should be cancelled"]
    assert found(order(status="cancelled"), {}) == ["orders #W1: status is cancelled, should be pending"]


def test_each_unequal_column_is_named() -> None:
    (difference,) = compared(order(status="", total=Decimal("1")), order(status="cancelled"))
    assert difference.columns == (("status", "", "cancelled"), ("total", Decimal("1"), Decimal("4.50")))
    assert difference.text == "orders #W1: status is '', should be cancelled; total is 1, should be 4.50"


def test_rows_too_many_and_missing() -> None:
    row = "{order_id: #W9, status: pending, total: 4.50}"
    assert found(order("#W9"), {}) == [f"orders: one row too many: {row}"]
    assert found({}, order("#W9")) == [f"orders: a row is missing: {row}"]


def test_deleted_rows() -> None:
    gone: State = {"orders": {"#W1": None}}
    assert found(gone, gone) == []
    assert found(gone, {}) == ["orders: a row is missing: {order_id: #W1, status: pending, total: 4.50}"]
    assert found({}, gone) == ["orders: one row too many: {order_id: #W1, status: pending, total: 4.50}"]


def test_a_missing_row_of_the_world_keeps_its_key() -> None:
    (text,) = found({"parents": {"P001": None}}, {})
    assert text == "parents: a row is missing: {id: P001, colour: red, next: null}"


def test_unscored_columns_do_not_count() -> None:
    assert found(order(noted="new"), {}) == []
    assert found(order(noted="a", status="x"), order(noted="b", status="x")) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Decimal("4.5"), Decimal("4.50")),
        (25, 25.0),
        (Decimal("0.1"), 0.1),
        (Decimal("-0"), 0),
        (float("nan"), float("nan")),
        ({"a": 1, "b": [25]}, {"b": [25.0], "a": Decimal("1.0")}),
    ],
)
def test_values_that_count_as_equal(one: Any, other: Any) -> None:
    assert found(order(total=one), order(total=other)) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [("a", "A"), ("a", "a "), (1, True), (None, ""), ([1, 2], [2, 1]), (date(2025, 3, 1), "2025-03-01")],
)
def test_values_that_differ(one: Any, other: Any) -> None:
    assert len(found(order(total=one), order(total=other))) == 1


def test_new_rows_in_another_order() -> None:
    actual = {"parents": parents(("P002", "blue", None), ("P003", "green", "P002"))}
    wanted = {"parents": parents(("P003", "blue", None), ("P002", "green", "P003"))}
    assert found(actual, wanted) == []


def test_rows_of_the_world_keep_their_names() -> None:
    actual = {"parents": parents(("P001", "blue", None), ("P002", "red", None))}
    wanted = {"parents": parents(("P001", "red", None), ("P002", "blue", None))}
    assert found(actual, wanted) == [
        "parents P001: colour is blue, should be red",
        "parents P002: colour is red, should be blue",
    ]


def test_identical_new_rows_count() -> None:
    two = {"parents": parents(("P002", "blue", None), ("P003", "blue", None))}
    three = {"parents": parents(*((f"P{n:03}", "blue", None) for n in (7, 8, 9)))}
    assert found(two, {"parents": parents(("P008", "blue", None), ("P004", "blue", None))}) == []
    assert found(three, two) == ["parents: one row too many: {id: P009, colour: blue, next: null}"]


def test_parents_told_apart_by_their_children_only() -> None:
    twins = parents(("P002", "blue", None), ("P003", "blue", None))
    actual = {"parents": twins, "children": children(("C001", "P002", 1), ("C002", "P003", 2))}
    crossed = {"parents": twins, "children": children(("C001", "P003", 1), ("C002", "P002", 2))}
    both = {"parents": twins, "children": children(("C001", "P002", 1), ("C002", "P002", 2))}
    assert found(actual, crossed) == []
    assert found(actual, both) != []


def test_chains_and_cycles() -> None:
    ring = {"parents": parents(("P002", "x", "P003"), ("P003", "x", "P004"), ("P004", "x", "P002"))}
    turned = {"parents": parents(("P002", "x", "P004"), ("P004", "x", "P003"), ("P003", "x", "P002"))}
    line = {"parents": parents(("P002", "x", "P003"), ("P003", "x", "P004"), ("P004", "x", None))}
    loops = {"parents": parents(("P002", "x", "P002"), ("P003", "x", "P004"), ("P004", "x", "P003"))}
    assert found(ring, turned) == []
    assert found(ring, line) != []
    assert found(ring, loops) != []


def ring(*keys: int) -> list[tuple[str, str, str]]:
    return [(f"P{a:03}", "x", f"P{b:03}") for a, b in zip(keys, (*keys[1:], keys[0]), strict=True)]


def test_what_refinement_alone_cannot_tell_apart() -> None:
    six = {"parents": parents(*ring(2, 3, 4, 5, 6, 7))}
    other = {"parents": parents(*ring(2, 5, 3, 7, 4, 6))}
    threes = {"parents": parents(*ring(2, 3, 4), *ring(5, 6, 7))}
    mixed = {"parents": parents(*ring(2, 7, 4), *ring(5, 6, 3))}
    assert found(six, other) == []
    assert found(threes, mixed) == []
    assert found(six, threes) != []


def test_keys_made_of_names_are_renamed_too() -> None:
    def state(key: str) -> State:
        line = {"parent": key, "pos": 1, "what": "ink"}
        return {
            "parents": parents((key, "blue", None)),
            "lines": {(key, 1): line},
            "cards": {key: {"parent": key, "pin": "1"}},
            "uses": {1: {"n": 1, "card": key}},
        }

    assert found(state("P002"), state("P009")) == []
    other = state("P009")
    other["uses"] = {1: {"n": 1, "card": "P001"}}
    assert found(state("P002"), other) == ["uses 1: card is P002, should be P001"]
    other["lines"] = {("P009", 2): {"parent": "P009", "pos": 2, "what": "ink"}}
    assert found(state("P002"), other) == [
        "lines: one row too many: {parent: P002, pos: 1, what: ink}",
        "lines: a row is missing: {parent: P002, pos: 2, what: ink}",
        "uses 1: card is P002, should be P001",
    ]


def test_the_nearest_new_row_is_compared() -> None:
    actual = {"children": children(("C001", "P001", 1), ("C002", "P001", 7))}
    wanted = {"children": children(("C001", "P001", 2), ("C002", "P001", 1))}
    assert found(actual, wanted) == ["children C002: size is 7, should be 2"]


def test_reasons_speak_of_the_agents_keys() -> None:
    actual = {"parents": parents(("P005", "blue", None)), "children": children(("C001", "P001", 1))}
    wanted = {"parents": parents(("P002", "blue", None)), "children": children(("C001", "P002", 1))}
    assert found(actual, wanted) == ["children C001: parent is P001, should be P005"]
    assert found({"children": actual["children"]}, wanted) == [
        "parents: a row is missing: {colour: blue, next: null}",
        "children C001: parent is P001, should be the key of a missing row of parents",
    ]


# -- properties -----------------------------------------------------------------------------------------------------

COLOURS = st.sampled_from(["x", "y"])


@st.composite
def states(draw: st.DrawFn) -> State:
    """New parents that point anywhere, children and lines of theirs; few colours, hence many ties."""
    keys = [f"P{n:03}" for n in range(2, 2 + draw(st.integers(0, 6)))]
    targets = st.sampled_from([None, "P001", *keys])
    state: State = {"parents": parents(*((key, draw(COLOURS), draw(targets)) for key in keys))}
    owners = st.sampled_from(["P001", *keys])
    count = draw(st.integers(0, 5))
    state["children"] = children(*((f"C{n:03}", draw(owners), draw(st.integers(1, 2))) for n in range(count)))
    lines = draw(st.sets(st.tuples(owners, st.integers(1, 2)), max_size=3))
    state["lines"] = {key: {"parent": key[0], "pos": key[1], "what": draw(COLOURS)} for key in sorted(lines)}
    return state


def renamed(state: State, seed: int) -> State:
    """The same state with other keys for all new parents and children, and the rows in another order."""
    chance = random.Random(seed)
    fresh = {"parents": [f"P{n:03}" for n in range(2, 40)], "children": [f"C{n:03}" for n in range(40)]}
    names = {
        table: dict(zip(sorted(state[table]), chance.sample(keys, len(state[table])), strict=True))
        for table, keys in fresh.items()
    }
    parent = {None: None, "P001": "P001", **names["parents"]}
    rows: dict[str, list[tuple[Any, dict[str, Any]]]] = {
        "parents": [
            (parent[k], {**r, "id": parent[k], "next": parent[r["next"]], "noted": "z"})
            for k, r in state["parents"].items()
            if r
        ],
        "children": [
            (names["children"][k], {**r, "id": names["children"][k], "parent": parent[r["parent"]]})
            for k, r in state["children"].items()
            if r
        ],
        "lines": [((parent[k[0]], k[1]), {**r, "parent": parent[k[0]]}) for k, r in state["lines"].items() if r],
    }
    for shuffled in rows.values():
        chance.shuffle(shuffled)
    return {table: dict(shuffled) for table, shuffled in rows.items()}


@given(states(), st.integers(0, 2**32))
def test_renaming_never_changes_equality(state: State, seed: int) -> None:
    assert compared(state, renamed(state, seed)) == []
    assert compared(renamed(state, seed), state) == []


@given(states(), st.integers(0, 2**32), st.data())
def test_another_value_always_does(state: State, seed: int, data: st.DataObject) -> None:
    columns = {"parents": "colour", "children": "size", "lines": "what"}
    cells = [(table, key, column) for table, column in columns.items() for key in state[table]]
    if not cells:
        return
    table, key, column = data.draw(st.sampled_from(cells))
    row = state[table][key]
    assert row is not None
    other = {**state, table: {**state[table], key: {**row, column: "neither"}}}
    reasons = compared(other, renamed(state, seed))
    assert reasons and compared(renamed(state, seed), other)
    assert reasons == compared(other, renamed(state, seed))


@settings(max_examples=200)
@given(states(), states())
def test_the_verdict_is_that_of_trying_all_renamings(one: State, other: State) -> None:
    one["lines"], other["lines"] = {}, {}
    same = any(_same(under(one, names), other) for names in _namings(one, other))
    assert (compared(one, other) == []) == same


def _namings(one: State, other: State) -> list[dict[str, str]]:
    mine, theirs = sorted(one["parents"]), sorted(other["parents"])
    if len(mine) != len(theirs) or len(one["children"]) != len(other["children"]):
        return []
    return [dict(zip(mine, keys, strict=True)) for keys in permutations(theirs)]


def under(state: State, names: dict[str, str]) -> tuple[Any, Any]:
    rows = [r for r in state["parents"].values() if r]
    kids = [r for r in state["children"].values() if r]

    def name(key: str | None) -> str:
        return names.get(key, key) if key else ""

    return (
        sorted((name(r["id"]), r["colour"], name(r["next"])) for r in rows),
        sorted((name(r["parent"]), r["size"]) for r in kids),
    )


def _same(mine: tuple[Any, Any], other: State) -> bool:
    return mine == under(other, {key: key for key in other["parents"]})


def test_differences_are_values() -> None:
    one, other = compared({}, order(status="x")), compared({}, order(status="x"))
    assert one == other and isinstance(one[0], Difference)
