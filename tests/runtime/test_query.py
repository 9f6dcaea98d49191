"""Queries see what their call sees, whoever else waits for the same query."""

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forgec_runtime import Call, Column, Environment, Episode, Fault, Query, Table, World
from forgec_runtime import types as t
from tests.runtime.library_fixture import make_library, tool
from tests.runtime.library_schema import HOLDS, NOW, OPEN_LOANS

PAIRS: Table[Any] = Table("pairs", columns=(Column("k", t.Integer()), Column("v", t.Integer())), key=("k",))
SUM_BY_V = Query(
    "select p.k, (select count(*) from {pairs} as o where o.v = p.v) as same from {pairs} as p where p.v >= call.least",
    tables=("pairs",),
    values=(("least", "BIGINT"),),
    columns=("k", "same"),
    order="q.k",
)
LARGEST = Query(
    "select p.k from {pairs} as p where p.v >= call.least order by p.v desc, p.k limit 2",
    tables=("pairs",),
    values=(("least", "BIGINT"),),
    columns=("k",),
    order="q.k",
)


def put(call: Call, k: int, v: int) -> Any:
    row = call.find(PAIRS, k)
    return call.insert(PAIRS, {"k": k, "v": v}) if row is None else call.update(PAIRS, row, {"v": v})


def drop(call: Call, k: int) -> bool:
    row = call.find(PAIRS, k)
    if row is not None:
        call.delete(PAIRS, row)
    return row is not None


def put_then_look(call: Call, k: int, v: int) -> Any:
    put(call, k, v)
    return call.rows(SUM_BY_V, 0)


def look(call: Call, least: int) -> Any:
    return call.rows(SUM_BY_V, least)


def make_pairs(folder: Path) -> Environment:
    path = folder / "w.json"
    path.write_text(json.dumps({"pairs": [{"k": k, "v": k % 3} for k in range(6)]}), encoding="utf-8")
    tools = (
        tool(put, k=t.Integer(), v=t.Integer()),
        tool(drop, k=t.Integer()),
        tool(put_then_look, k=t.Integer(), v=t.Integer()),
        tool(look, least=t.Integer()),
    )
    return Environment(name="pairs", clock=NOW, tables=(PAIRS,), tools=tools, worlds=(World("w", path),))


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return make_pairs(tmp_path_factory.mktemp("pairs"))


def expected(model: dict[int, int], least: int) -> list[dict[str, int]]:
    counts = list(model.values())
    return [{"k": k, "same": counts.count(v)} for k, v in sorted(model.items()) if v >= least]


number = st.integers(0, 8)
action = st.one_of(
    st.tuples(st.just("put"), number, number),
    st.tuples(st.just("drop"), number),
    st.tuples(st.just("put_then_look"), number, number),
    st.tuples(st.just("look"), number),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(scripts=st.lists(st.lists(action, max_size=6), min_size=1, max_size=4))
def test_batched_episodes_equal_plain_dictionaries(pairs: Environment, scripts: list[list[tuple[Any, ...]]]) -> None:
    episodes = [pairs.reset("w") for _ in scripts]
    models = [{k: k % 3 for k in range(6)} for _ in scripts]
    names = {"put": ("k", "v"), "drop": ("k",), "put_then_look": ("k", "v"), "look": ("least",)}
    calls: list[Any] = []
    wanted: list[Any] = []
    for turn in range(max(map(len, scripts))):
        for episode, model, script in zip(episodes, models, scripts, strict=True):
            if turn >= len(script):
                continue
            name, *given = script[turn]
            calls.append((episode, name, dict(zip(names[name], given, strict=True))))
            if name == "look":
                wanted.append(expected(model, given[0]))
            elif name == "drop":
                wanted.append(model.pop(given[0], None) is not None)
            else:
                model[given[0]] = given[1]
                wanted.append(expected(model, 0) if name == "put_then_look" else {"k": given[0], "v": given[1]})
    assert [result.value for result in pairs.step(calls)] == wanted
    for episode, model in zip(episodes, models, strict=True):
        assert episode.state() == {"pairs": [{"k": k, "v": v} for k, v in sorted(model.items())]}


def test_a_limit_is_each_calls_own(pairs: Environment) -> None:
    def largest(call: Call, least: int) -> Any:
        return call.rows(LARGEST, least)

    pairs.tools["largest"] = tool(largest, least=t.Integer())
    one, other = pairs.reset("w"), pairs.reset("w")
    pairs.call(one, "put", k=0, v=9)
    results = pairs.step(
        [(one, "largest", {"least": 1}), (other, "largest", {"least": 1}), (one, "largest", {"least": 9})]
    )
    assert [[row["k"] for row in result.value] for result in results] == [[0, 2], [2, 5], [0]]


def test_the_order_may_use_columns_that_are_not_shown(tmp_path: Path) -> None:
    env = make_library(tmp_path)
    episode = env.reset("front_desk")
    assert env.call(episode, "lend_book", member_id="M1", isbn="B9").ok
    found = env.call(episode, "list_loans", member_id="M1")
    # by the date they are due, latest first
    assert found.text == (
        '[{"loan_id":"L0008","isbn":"B9"},{"loan_id":"L0007","isbn":"B2"},{"loan_id":"L0001","isbn":"B1"}]'
    )


def test_rows_with_a_composite_key_hide_their_former_selves(tmp_path: Path) -> None:
    env = make_library(tmp_path)
    episode = env.reset("front_desk")
    places = Query(
        "select h.member_id, h.isbn, h.place from {holds} as h",
        tables=("holds",),
        values=(),
        columns=("member_id", "isbn", "place"),
        order="q.member_id, q.isbn",
    )

    def advance(call: Call, place: int) -> Any:
        row = call.find(HOLDS, ("M2", "B1"))
        assert row is not None
        call.update(HOLDS, row, {"place": place})
        return call.rows(places)

    env.tools["advance"] = tool(advance, place=t.Integer())
    assert env.call(episode, "advance", place=5).value == [{"member_id": "M2", "isbn": "B1", "place": 5}]
    assert env.call(episode, "hold", member_id="M1", isbn="B1").ok
    assert [row["place"] for row in env.call(episode, "advance", place=6).value] == [1, 6]


# -- values ----------------------------------------------------------------------------------------------------------

ITEM = (
    "STRUCT(isbn VARCHAR, copies BIGINT, price DECIMAL(8, 2), due DATE, tags VARCHAR[], place STRUCT(city VARCHAR))[]"
)
UNNESTED = Query(
    "select s.isbn, s.copies, s.price, s.due, s.tags, s.place from (select unnest(call.items) as s)",
    tables=(),
    values=(("items", ITEM),),
    columns=("isbn", "copies", "price", "due", "tags", "place"),
    order="q.isbn",
)
FULL: dict[str, Any] = {
    "isbn": "1",
    "copies": 3,
    "price": Decimal("4.50"),
    "due": date(2025, 3, 22),
    "tags": ["a"],
    "place": {"city": "X"},
}
EMPTY: dict[str, Any] = {"isbn": "2", "copies": None, "price": None, "due": None, "tags": [], "place": None}
PARTLY: dict[str, Any] = {
    "isbn": "3",
    "copies": 2**53,
    "price": Decimal("0.05"),
    "due": None,
    "tags": None,
    "place": {"city": None},
}


@pytest.mark.parametrize("rows", [[], [EMPTY], [FULL], [FULL, EMPTY, PARTLY], [EMPTY, PARTLY]])
def test_rows_go_into_a_query_and_come_out_as_they_were(pairs: Environment, rows: list[dict[str, Any]]) -> None:
    assert pairs.evaluate(pairs.reset("w"), UNNESTED, [rows], "rows") == rows


def test_calls_with_and_without_rows_share_a_query(pairs: Environment) -> None:
    choices: list[Any] = [[], [FULL], None, [EMPTY, PARTLY]]

    def unnested(call: Call, i: int) -> Any:
        return call.rows(UNNESTED, choices[i])

    pairs.tools["unnested"] = tool(unnested, i=t.Integer())
    before = pairs.executions
    results = pairs.step([(pairs.reset("w"), "unnested", {"i": i}) for i in range(4)])
    assert [result.value for result in results] == [rows or [] for rows in choices]
    assert pairs.executions == before + 1


def test_nothing_but_nulls_has_a_type(pairs: Environment) -> None:
    query = Query("select call.a is null as n", tables=(), values=(("a", "DATE"),), columns=("n",), order="")
    assert pairs.evaluate(pairs.reset("w"), query, [None]) is True


@pytest.mark.parametrize("name", ["cid", "gone", "value", "order", "o", "b"])
def test_a_value_may_have_any_name(pairs: Environment, name: str) -> None:
    query = Query(f'select call."{name}" as n', tables=(), values=((name, "VARCHAR"),), columns=("n",), order="")
    assert pairs.evaluate(pairs.reset("w"), query, ["given"]) == "given"


def test_tables_and_columns_may_have_any_name(tmp_path: Path) -> None:
    """The names that the runtime adds to a statement never hide those of a spec."""
    columns = tuple(Column(name, t.Text()) for name in ("id", "cid", "gone", "k1", "o"))
    table: Table[Any] = Table("order", columns=columns, key=("id",))
    rows = [{"id": id_, "cid": "c", "gone": "g", "k1": "1", "o": "o"} for id_ in ("a", "b")]
    path = tmp_path / "w.json"
    path.write_text(json.dumps({"order": rows}), encoding="utf-8")
    shown = Query(
        "select x.id, x.cid, x.gone from {order} as x where x.o = call.cid",
        tables=("order",),
        values=(("cid", "VARCHAR"),),
        columns=("id", "cid", "gone"),
        order="q.id",
    )

    def change(call: Call) -> Any:
        a, b = call.find(table, "a"), call.find(table, "b")
        call.delete(table, b)
        call.update(table, a, {"gone": "changed"})
        return call.rows(shown, "o")

    env = Environment(name="names", clock=NOW, tables=(table,), tools=(tool(change),), worlds=(World("w", path),))
    assert env.call(env.reset("w"), "change").value == [{"id": "a", "cid": "c", "gone": "changed"}]


# -- outside calls ---------------------------------------------------------------------------------------------------


def test_evaluate_sees_the_episode(tmp_path: Path) -> None:
    env = make_library(tmp_path)
    episode: Episode = env.reset("front_desk")
    assert env.evaluate(episode, OPEN_LOANS, ["M1"]) == 2
    assert env.call(episode, "return_book", loan_id="L0001").ok
    assert env.evaluate(episode, OPEN_LOANS, ["M1"], "value") == 1
    assert env.evaluate(episode, OPEN_LOANS, ["M1"], "row") == {"n": 1}
    assert env.evaluate(episode, OPEN_LOANS, ["M1"], "rows") == [{"n": 1}]


def test_evaluate_has_no_room_for_a_second_row(pairs: Environment) -> None:
    with pytest.raises(Fault, match="more than one row"):
        pairs.evaluate(pairs.reset("w"), SUM_BY_V, [0])
    assert pairs.evaluate(pairs.reset("w"), SUM_BY_V, [7]) is None


def test_evaluate_tells_of_an_error_of_the_engine(pairs: Environment) -> None:
    query = Query("select error(call.a) as n", tables=(), values=(("a", "VARCHAR"),), columns=("n",), order="")
    with pytest.raises(Fault, match="it broke"):
        pairs.evaluate(pairs.reset("w"), query, ["it broke"])
