"""Lists and maps in states: decoded, kept, compared and written down."""

import json
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from forgec_runtime import Column, Environment, Query, Table, World
from forgec_runtime import types as t
from forgec_runtime.encoding import decode, encode
from forgec_runtime.equality import differences
from forgec_runtime.types import Mismatch

PAIR = t.Record("Pair", (t.Field("key", t.List(t.Text())), t.Field("value", t.List(t.Decimal(8, 2)), optional=True)))
SHELVES: Table[dict[str, Any]] = Table(
    "shelves",
    columns=(
        Column("shelf", t.Text()),
        Column("labels", t.List(t.Decimal(8, 2)), ordered=False),
        Column("prices", t.Map(t.Text(), t.Decimal(8, 2))),
        Column("pairs", t.List(PAIR), optional=True),
        Column("days", t.Map(t.Enum("Day", ("mon", "tue")), t.List(t.Date())), optional=True),
    ),
    key=("shelf",),
)
ROWS: list[dict[str, Any]] = [
    {"shelf": "a", "labels": ["1.50", "2"], "prices": {"b": "1.10", "a": "0.10"}, "pairs": None, "days": None},
    {
        "shelf": "b",
        "labels": [],
        "prices": {},
        "pairs": [{"key": ["x"], "value": ["1.25"]}, {"key": [], "value": None}],
        "days": {"tue": ["2025-03-01"], "mon": []},
    },
]
ALL = Query(
    "select s.shelf, s.labels, s.prices, s.pairs, s.days, call.pairs as given from {shelves} as s",
    tables=("shelves",),
    values=(("pairs", t.Map(t.Text(), PAIR).sql),),
    columns=("shelf", "labels", "prices", "pairs", "days", "given"),
    order="q.shelf",
)


@pytest.fixture
def env(tmp_path: Path) -> Environment:
    path = tmp_path / "w.json"
    path.write_text(json.dumps({"shelves": ROWS}), encoding="utf-8")
    return Environment("desk", clock=datetime(2025, 1, 1), tables=(SHELVES,), tools=(), worlds=(World("w", path),))


def test_a_world_holds_them_sorted_by_key(env: Environment) -> None:
    a, b = env.reset("w").state()["shelves"]
    assert a["labels"] == [Decimal("1.50"), Decimal("2.00")]
    assert list(a["prices"].items()) == [("a", Decimal("0.10")), ("b", Decimal("1.10"))]
    assert b["pairs"] == [{"key": ["x"], "value": [Decimal("1.25")]}, {"key": [], "value": None}]
    assert list(b["days"].items()) == [("mon", []), ("tue", [date(2025, 3, 1)])]


def test_queries_see_changed_rows_and_values_with_maps(env: Environment) -> None:
    episode = env.reset("w")
    _, b = episode.state()["shelves"]
    changed = {**b, "shelf": "a", "prices": {"z": Decimal("9.99")}}
    episode.overlay = {"shelves": {"a": changed}}
    given = {"it's": {"key": ["k"], "value": [Decimal("12345.67")]}, 'a "b"': {"key": [], "value": None}}
    rows = env.evaluate(episode, ALL, [given], "rows")
    assert [row["given"] for row in rows] == [given, given]
    assert rows == [{**changed, "given": given}, {**b, "given": given}]


def test_the_order_of_an_unordered_list_does_not_count(env: Environment) -> None:
    one, other = env.reset("w"), env.reset("w")
    a, _ = one.state()["shelves"]
    for episode, labels in ((one, ["1", "2.5", "1"]), (other, ["1.00", "1", "2.50"])):
        episode.overlay = {"shelves": {"a": {**a, "labels": [Decimal(label) for label in labels]}}}
    assert one.digest() == other.digest()
    assert differences((SHELVES,), lambda _, __: {"a": a}, one.changes(), other.changes()) == []
    other.overlay = {"shelves": {"a": {**a, "labels": [Decimal("1"), Decimal("2.5"), Decimal("2.5")]}}}
    assert one.digest() != other.digest()
    (found,) = differences((SHELVES,), lambda _, __: {"a": a}, one.changes(), other.changes())
    assert found.text == "shelves a: labels is [1, 2.5, 1], should be [1, 2.5, 2.5]"


def test_a_snapshot_keeps_them(env: Environment) -> None:
    episode = env.reset("w")
    _, b = episode.state()["shelves"]
    episode.overlay = {"shelves": {"a": {**b, "shelf": "a"}}}
    again = env.restore(episode.snapshot())
    assert again.state() == episode.state()
    assert again.snapshot() == episode.snapshot()


@pytest.mark.parametrize(
    ("type_", "written"),
    [
        (t.List(t.Text()), [None]),
        (t.List(t.Text()), "a"),
        (t.Map(t.Text(), t.Integer()), {"b": 1, "a": 2}),
        (t.Map(t.Text(), t.Integer()), {"a": None}),
        (t.Map(t.Text(), t.Integer()), []),
        (t.Map(t.Enum("E", ("a",)), t.Integer()), {"b": 1}),
    ],
)
def test_what_encode_does_not_write_is_not_read(type_: t.Type, written: Any) -> None:
    with pytest.raises(Mismatch):
        decode(type_, written)


def test_a_map_is_written_sorted() -> None:
    type_ = t.Map(t.Text(), t.List(t.Date()))
    value = {"b": [date(2025, 3, 1)], "a": []}
    assert list(encode(type_, value)) == ["a", "b"]
    assert decode(type_, encode(type_, value)) == value
