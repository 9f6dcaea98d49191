"""Worlds are loaded once, fetched from on demand when they are large, and cannot be reached around."""

import json
from collections.abc import Iterator
from decimal import Decimal
from operator import itemgetter
from pathlib import Path
from pprint import pformat
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forgec_runtime import Call, Column, Environment, Index, LoadError, Query, Table, World, encoding
from forgec_runtime import base as bases
from forgec_runtime import types as t
from forgec_runtime.base import Base
from forgec_runtime.engine import EngineError
from tests.runtime.library_fixture import make_library, tool
from tests.runtime.library_schema import BOOKS, NOW
from tests.runtime.test_snapshots import KINDS, ODD, ROWS

LARGE = 12_000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    extra = (
        tool(titles, isbns=t.List(t.Text())),
        tool(buy_more, least=t.Integer()),
        tool(named, title=t.Text(), copies=t.Integer()),
    )
    return make_library(tmp_path_factory.mktemp("large"), books=LARGE, extra=extra)


def titles(call: Call, isbns: list[str]) -> list[str]:
    return [row["title"] if row else "none" for row in (call.find(BOOKS, isbn) for isbn in isbns)]


MANY = Query(
    "select isbn, copies + 1 as new_copies from {books} as books where copies >= call.least",
    tables=("books",),
    values=(("least", "BIGINT"),),
    columns=("isbn", "new_copies"),
    order="q.isbn",
)


def buy_more(call: Call, least: int) -> None:
    for changed, row in call.matches(BOOKS, MANY, least):
        call.update(BOOKS, row, {"copies": changed["new_copies"]})


BY_TITLE_AND_COPIES = Index(
    ("lower(title)", "copies"), (t.Text(), t.Integer()), lambda row: (row["title"].lower(), row["copies"])
)


def named(call: Call, title: str, copies: int) -> list[str]:
    return [row["isbn"] for row in call.where(BOOKS, BY_TITLE_AND_COPIES, (title.lower(), copies))]


def test_an_environment_knows_its_worlds(tmp_path: Path) -> None:
    env = make_library(tmp_path)
    with pytest.raises(KeyError, match="library has no world or task 'nowhere'; it has front_desk"):
        env.reset("nowhere")


def test_a_small_table_is_in_memory(tmp_path: Path) -> None:
    env = make_library(tmp_path)
    assert env.call(env.reset("front_desk"), "book", isbn="B3").value == {"isbn": "B3", "title": "Book 3", "copies": 3}
    assert env.call(env.reset("front_desk"), "book", isbn="nothing").value is None
    assert env.executions == 0


def test_rows_of_a_large_table_are_fetched_together_and_once(large: Environment) -> None:
    before = large.executions
    calls = [(large.reset("front_desk"), "book", {"isbn": f"B{i}"}) for i in (11_000, 11_001, 11_000, 99_999)]
    results = large.step(calls)
    assert [result.value and result.value["copies"] for result in results] == [11_000, 11_001, 11_000, None]
    assert large.executions == before + 1
    large.step(calls)
    # that there is no such row is remembered, too
    assert large.executions == before + 1


def test_rows_of_a_large_table_are_found_by_several_values_at_once(large: Environment) -> None:
    before = large.executions
    asked = [("BOOK 7", 7), ("book 7", 8), ("Book 11000", 11_000), ("book 7", 7)]
    results = large.step([(large.reset("front_desk"), "named", {"title": a, "copies": b}) for a, b in asked])
    assert [result.value for result in results] == [["B7"], [], ["B11000"], ["B7"]]
    assert large.executions == before + 1
    episode = large.reset("front_desk")
    assert large.call(episode, "buy_more", least=LARGE - 1).ok
    assert large.call(episode, "named", title="book 11999", copies=LARGE - 1).value == []
    assert large.call(episode, "named", title="book 11999", copies=LARGE).value == ["B11999"]


def test_a_call_may_need_row_after_row(large: Environment) -> None:
    result = large.call(large.reset("front_desk"), "titles", isbns=["B5000", "X", "B5001", "B5000"])
    assert result.value == ["Book 5000", "none", "Book 5001", "Book 5000"]


def test_a_changed_row_of_a_large_table_is_the_episodes_own(large: Environment) -> None:
    one, other = large.reset("front_desk"), large.reset("front_desk")
    assert large.call(one, "lend_book", member_id="M1", isbn="B6000").ok
    results = large.step([(episode, "book", {"isbn": "B6000"}) for episode in (one, other)])
    assert [result.value["copies"] for result in results] == [5_999, 6_000]
    assert one.changes()["books"] == {"B6000": {"isbn": "B6000", "title": "Book 6000", "copies": 5_999}}
    assert len(one.state()["books"]) == LARGE


def test_rows_that_a_search_found_are_fetched_together(large: Environment) -> None:
    episodes = [large.reset("front_desk") for _ in range(3)]
    before = large.executions
    large.step([(episode, "buy_more", {"least": LARGE - 1 - 100 * i}) for i, episode in enumerate(episodes)])
    assert large.executions <= before + 2  # the search, and its rows
    assert [len(episode.changes().get("books", ())) for episode in episodes] == [1, 101, 201]
    large.call(episodes[2], "buy_more", least=LARGE)  # it is its own row now that has so many
    copies = {isbn: row["copies"] for isbn, row in episodes[2].changes()["books"].items()}
    assert (copies[f"B{LARGE - 1}"], copies[f"B{LARGE - 2}"]) == (LARGE + 1, LARGE - 1)


def test_the_cache_of_a_large_table_is_bounded(large: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bases, "MAX_CACHED", 10)
    for start in range(0, 50, 5):
        isbns = [f"B{7000 + start + i}" for i in range(5)]
        assert large.call(large.reset("front_desk"), "titles", isbns=isbns).value == [f"Book {x[1:]}" for x in isbns]
    assert len(large.base("front_desk").rows_of["books"].by_key) <= 10


def test_a_full_cache_loses_no_row_of_an_answer(large: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    base = large.base("front_desk")
    assert list(base.rows(BOOKS, ["B8000"])) == ["B8000"]
    monkeypatch.setattr(bases, "MAX_CACHED", 1)
    # making room for the second must not take the first away
    assert list(base.rows(BOOKS, ["B8000", "B8001", "nothing"])) == ["B8000", "B8001"]


def test_a_call_may_need_more_rows_than_are_cached(large: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bases, "MAX_CACHED", 3)
    isbns = [f"B{9000 + i}" for i in range(5)]
    assert large.call(large.reset("front_desk"), "titles", isbns=isbns).value == [f"Book {9000 + i}" for i in range(5)]


# -- files -----------------------------------------------------------------------------------------------------------

ITEM = t.Record("Item", (t.Field("sku", t.Text()), t.Field("price", t.Decimal(8, 2))))
ORDERS: Table[Any] = Table(
    "orders",
    columns=(Column("id", t.Integer()), Column("items", t.List(ITEM)), Column("at", t.Timestamp(), optional=True)),
    key=("id",),
)


def _env(path: Path) -> Environment:
    return Environment(name="orders", clock=NOW, tables=(ORDERS,), tools=(), worlds=(World("w", path),))


def test_nested_values_come_from_json(tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    orders = [
        {"id": 1, "items": [{"sku": "a", "price": "4.50"}], "at": "2025-03-01T09:00:00"},
        {"id": 2, "items": [], "at": None},
    ]
    path.write_text(json.dumps({"orders": orders}), encoding="utf-8")
    state = _env(path).reset("w").state()
    assert state == {
        "orders": [
            {"id": 1, "items": [{"sku": "a", "price": Decimal("4.50")}], "at": NOW},
            {"id": 2, "items": [], "at": None},
        ]
    }


@pytest.mark.parametrize("nested", [False, True])
def test_what_is_decoded_and_what_is_fetched_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nested: bool
) -> None:
    """A large table gives rows as DuckDB holds them, a small one as they were decoded: nobody can tell."""
    path = tmp_path / "w.json"
    items = [{"sku": "a", "price": "4.5"}, {"sku": "b", "price": 0}] if nested else []
    path.write_text(json.dumps({"orders": [{"id": 1, "items": items, "at": None}]}), encoding="utf-8")
    decoded = _env(path).reset("w").state()
    monkeypatch.setattr(bases, "WHOLE_TABLE", 0)
    env = _env(path)
    assert env.reset("w").state() == decoded
    assert env.base("w").rows(ORDERS, [1, 2]) == {1: decoded["orders"][0]}


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        '{"orders": [{"id": "x", "items": [], "at": null}]}',
        '{"orders": [{"id": null, "items": [], "at": null}]}',
        '{"orders": [{"id": 1}]}',
        '{"orders": [3]}',
    ],
)
def test_a_world_that_does_not_fit_is_told(tmp_path: Path, content: str) -> None:
    path = tmp_path / "w.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(LoadError, match="the world w cannot be read"):
        _env(path).reset("w")


def test_a_world_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="the world w cannot be read"):
        _env(tmp_path / "none.json").reset("w")


# -- the database ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "select * from read_csv('/etc/passwd')",
        "copy members to 'out.csv'",
        "attach 'other.db'",
        "install httpfs",
        "load httpfs",
        "set enable_external_access = true",
        "set memory_limit = '64GB'",
        "set threads = 4",
    ],
)
def test_sql_reaches_nothing_but_the_tables(large: Environment, shared: Base, statement: str) -> None:
    for connection in (large.base("front_desk").connection, shared.connection):
        with pytest.raises(EngineError):
            connection.execute(statement)


def test_sql_cannot_see_python_variables(large: Environment) -> None:
    secret = [{"a": 1}]
    with pytest.raises(EngineError):
        large.base("front_desk").connection.execute("select * from secret")
    assert secret


# -- worlds in a file, for several processes --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shared(large: Environment, tmp_path_factory: pytest.TempPathFactory) -> Base:
    folder = tmp_path_factory.mktemp("shared")
    return large.store("front_desk", folder).open(large.base("front_desk").tables)


def test_a_stored_world_is_the_world(large: Environment, shared: Base) -> None:
    base = large.base("front_desk")
    assert (shared.origin, shared.serials) == (base.origin, base.serials)
    assert all(shared.rows_of[name].whole is known.whole for name, known in base.rows_of.items())
    assert [shared.all_rows(table) for table in large.tables] == [base.all_rows(table) for table in large.tables]
    assert shared.rows(BOOKS, ["B5", "nothing"]) == base.rows(BOOKS, ["B5", "nothing"])


def test_an_adopted_world_is_played_in(large: Environment, tmp_path: Path) -> None:
    other = make_library(tmp_path)
    other.adopt(large.store("front_desk", tmp_path))
    (tmp_path / "world.duckdb").unlink()
    episode = other.reset("front_desk")
    assert other.call(episode, "lend_book", member_id="M1", isbn="B11000").value["loan_id"] == "L0008"
    assert len(other.call(episode, "list_loans", member_id="M1").value) == 3
    assert large.restore(episode.snapshot()).state() == episode.state()


@pytest.mark.parametrize(
    "statement",
    [
        "create table x (a integer)",
        "delete from books",
        "update books set copies = 0",
        "drop table books",
        "detach world",
    ],
)
def test_a_stored_world_cannot_be_written(shared: Base, statement: str) -> None:
    with pytest.raises(EngineError):
        shared.connection.execute(statement)


# -- every type -------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=30)
@given(rows=st.lists(ROWS, max_size=5, unique_by=itemgetter("k")))
def test_every_value_is_loaded_exactly(rows: list[dict[str, Any]]) -> None:
    rows = [{name: row[name] for name in KINDS} for row in rows]
    if any(abs(rate or 0) > 1e300 for rate in _doubles(rows)):
        return  # a world holds no such number
    content = [{name: encoding.encode(type_, row[name]) for name, type_ in KINDS.items()} for row in rows]
    with TemporaryDirectory() as folder:
        path = Path(folder, "w.json")
        path.write_text(json.dumps({"odd": content}), encoding="utf-8")
        world = World("w", path)
        base = world.load("odd", {"odd": ODD})
        shared = world.store("odd", {"odd": ODD}, Path(folder, "w.duckdb")).open({"odd": ODD})
        for one in (base, shared):
            assert pformat(one.all_rows(ODD)) == pformat({row["k"]: row for row in rows})
            one.connection.close()


def _doubles(value: Any) -> Iterator[float]:
    if isinstance(value, float):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _doubles(part)


@pytest.mark.parametrize(
    ("type_", "given", "value"),
    [
        (t.Decimal(8, 2), 4.55, "4.55"),
        (t.Decimal(8, 2), 3, "3.00"),
        (t.Decimal(38, 0), 10**37 + 1, str(10**37 + 1)),
        (t.Decimal(8, 2), "-0", "0.00"),
        (t.Integer(), 5.0, "5"),
        (t.Double(), 3, "3.0"),
        (t.Text(), "a\u2028\"'{}\\n", "a\u2028\"'{}\\n"),
        (t.Timestamp(), "2025-03-01 09:00", "2025-03-01 09:00:00"),
    ],
)
def test_what_is_written_otherwise_is_the_same(tmp_path: Path, type_: t.Type, given: Any, value: str) -> None:
    path = tmp_path / "w.json"
    path.write_text(json.dumps({"x": [{"k": 1, "v": given}, {"k": 2, "v": None}]}), encoding="utf-8")
    table: Table[Any] = Table("x", (Column("k", t.Integer()), Column("v", type_, optional=True)), key=("k",))
    env = Environment("x", clock=NOW, tables=(table,), tools=(), worlds=(World("w", path),))
    assert [str(row["v"]) for row in env.reset("w").state()["x"]] == [value, "None"]
