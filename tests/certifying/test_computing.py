"""Queries that are computed in Python answer as DuckDB does, or are left to it."""

from __future__ import annotations

import datetime
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from forgec.certifying import certify
from forgec.certifying.computing import twin_of
from forgec_runtime import Environment, Query, load_environment
from forgec_runtime.base import Base
from forgec_runtime.query import execute

GENERATED = Path(__file__).parents[2] / "generated"
SHIPPED = ("library", "phone", "retail", "tickets", "mock")
ROWS = 'STRUCT("id" VARCHAR, "title" VARCHAR, "price" DECIMAL(6, 2), "due" DATE, "copies" BIGINT, "late" BOOLEAN)[]'
LIST = "(SELECT _row.id AS id, _row.title AS title, _row.price AS price, _row.due AS due, _row.copies AS copies, "
LIST += "_row.late AS late FROM (SELECT UNNEST(call.have) AS _row) AS _rows) AS h"


def queries(env: Environment) -> Iterator[Query]:
    """Those of tools, functions and invariants."""
    package = type(env).__module__ and next(iter(env.tools.values())).function.__module__.partition(".tools")[0]
    modules = [module for name, module in sys.modules.items() if name.startswith(package)]
    found = [one for module in modules for one in vars(module).values() if isinstance(one, Query)]
    yield from {id(one): one for one in found}.values()


def asked(base: Base, query: Query, values: Sequence[Any], seen: Mapping[str, Any]) -> list[dict[str, Any]]:
    return execute(base.connection, query, base.tables, [(values, seen)])[0]


def changed(base: Base, names: Sequence[str], chance: random.Random) -> dict[str, dict[Any, Any]]:
    """Rows that are taken away, that have of others what is no key, and new ones like others."""
    seen: dict[str, dict[Any, Any]] = {}
    for name in names:
        table, rows = base.tables[name], base.rows_of[name].by_key
        changes = seen[name] = {}
        for key in chance.sample(sorted(rows), min(len(rows), chance.randrange(4))):
            others = {one: chance.choice(list(rows.values()))[one] for one in table.names if one not in table.key}
            kept = {one: others[one] if chance.random() < 0.4 else rows[key][one] for one in others}
            changes[key] = chance.choice((None, {**rows[key], **kept}))
        if table.key and isinstance(next(iter(rows), None), str) and chance.random() < 0.5:
            changes["new"] = {**chance.choice(list(rows.values())), table.key[0]: "new"}
    return {name: changes for name, changes in seen.items() if changes}


@pytest.mark.parametrize("name", SHIPPED)
def test_queries_of_specs_are_answered_alike_whatever_was_changed(name: str) -> None:
    env = load_environment(GENERATED / name)
    chance, compared = random.Random(name), 0
    for query in queries(env):
        twin = twin_of(query, {table.name: table for table in env.tables})
        if twin is None:
            assert name in ("retail", "mock")  # which read maps, and lists in rows
            continue
        for world in (world for world in env.worlds if not env.denied(world)):
            base = env.base(world)
            for _ in range(20):
                words = [None, "the", "Le Guin ", *(chance.choice(_texts(base)) for _ in range(4))]
                values = [chance.choice(words) for _ in query.values]
                seen = changed(base, query.tables, chance)
                assert twin(base, values, seen) == asked(base, query, values, seen), (query.text, values, seen)
                compared += 1
    assert compared or name in ("retail", "mock")


@pytest.mark.parametrize(
    ("text", "tables"),
    [
        ("EXISTS(SELECT 1 AS x FROM {loans} AS l GROUP BY l.member_id HAVING COUNT(*) > 5)", "loans"),
        ("EXISTS(SELECT 1 AS x FROM {loans} AS l GROUP BY l.member_id HAVING COUNT(*) > 4)", "loans"),
        ("EXISTS(SELECT 1 AS x FROM {loans} AS l WHERE l.member_id IN ('M003', 'M010') GROUP BY l.member_id "
         "HAVING COUNT(*) = 4)", "loans"),
        ("EXISTS(SELECT 1 AS x FROM {books} AS b JOIN {loans} AS l ON l.book_id = b.book_id WHERE l.status = 'lent' "
         "GROUP BY b.book_id, b.copies HAVING COUNT(*) > b.copies)", "books loans"),
        ("EXISTS(SELECT 1 AS x FROM {members} AS m JOIN {loans} AS l ON m.member_id = l.member_id "
         "WHERE m.status = 'suspended' AND l.renewals > 1)", "loans members"),
        ("EXISTS(SELECT 1 AS x FROM {loans} AS l GROUP BY l.closed_on HAVING COUNT(*) > 14)", "loans"),
        ("EXISTS(SELECT COUNT(*) AS x FROM {loans} AS l HAVING COUNT(*) > 20)", "loans"),
        ("EXISTS(SELECT 1 AS x FROM {loans} AS l WHERE l.due > (SELECT MAX(o.due) FROM {loans} AS o "
         "WHERE o.status = 'returned') AND l.status = 'lost')", "loans"),
    ],
)  # fmt: skip
def test_what_there_must_not_be_is_found_where_rows_were_changed(text: str, tables: str) -> None:
    base = load_environment(GENERATED / "library").base("main_library")
    query = Query(f"SELECT {text} AS value", tuple(tables.split()), (), ("value",), "")
    twin, chance = twin_of(query, base.tables), random.Random(text)
    assert twin is not None
    found = []
    for _ in range(150):
        seen = changed(base, query.tables, chance)
        found.append(twin(base, [], seen))
        assert found[-1] == asked(base, query, [], seen)
    assert [{"value": True}] in found and [{"value": False}] in found


def _texts(base: Base) -> list[str]:
    rows = [row for known in base.rows_of.values() for row in known.by_key.values()]
    return sorted({value for row in rows for value in row.values() if isinstance(value, str)})


def book(id: str, title: str | None, price: str | None, due: str | None, copies: int | None, late: bool | None) -> Any:
    return {
        "id": id,
        "title": title,
        "price": price and Decimal(price),
        "due": due and datetime.date.fromisoformat(due),
        "copies": copies,
        "late": late,
    }


HAVE = [
    book("a", "Emma", "8.50", "2025-03-01", 2, True),
    book("b", "Dune", "12.00", "2025-04-01", 1, False),
    book("c", "Ämma", "12.00", None, None, None),
    book("d", None, None, "2025-03-01", 0, False),
    book("e", "emma", "0.25", "2024-12-31", 2, True),
]

OVER_LISTS = [
    "SELECT h.id AS v FROM LIST WHERE h.title = call.word",
    "SELECT h.id AS v FROM LIST WHERE h.title <> call.word OR h.late",
    "SELECT h.id AS v FROM LIST WHERE NOT (h.late AND h.copies > 1)",
    "SELECT h.id AS v FROM LIST WHERE h.title IN ('Emma', call.word) AND h.price IS NOT NULL",
    "SELECT h.id AS v FROM LIST WHERE h.due = CAST('2025-03-01' AS DATE) ORDER BY h.copies DESC, id LIMIT 1",
    "SELECT h.id AS v, h.due AS _1 FROM LIST ORDER BY h.due DESC, h.title, id LIMIT 3",
    "SELECT h.id AS v FROM LIST ORDER BY h.title, id",
    "SELECT h.id AS v FROM LIST WHERE h.price BETWEEN 1 AND 12.00 ORDER BY h.price, id LIMIT 2",
    "SELECT DISTINCT h.copies AS v FROM LIST ORDER BY v LIMIT 2",
    "SELECT h.copies AS v FROM LIST WHERE h.copies IS NOT NULL GROUP BY h.copies HAVING COUNT(*) > 1",
    "SELECT COUNT(*) AS v FROM LIST WHERE CONTAINS(LOWER(h.title), LOWER(TRIM(call.word)))",
    "SELECT COUNT(h.title) AS v FROM LIST",
    "SELECT COUNT(DISTINCT h.copies) AS v FROM LIST",
    "SELECT SUM(h.price) AS v FROM LIST",
    "SELECT SUM(h.copies) AS v FROM LIST WHERE h.title = 'none'",
    "SELECT MAX(h.price) - MIN(h.price) AS v FROM LIST",
    "SELECT MIN(h.due) AS v FROM LIST",
    "SELECT COALESCE(SUM(h.price), 0) + call.sum AS v FROM LIST WHERE h.late",
    "SELECT CAST(LEAST(GREATEST(DATE_DIFF('DAY', h.due, CAST('2025-03-14' AS DATE)), 0) * 0.25, 2) AS DECIMAL(8, 2)) "
    "AS v FROM LIST WHERE h.copies = 2",
    "SELECT CASE WHEN h.late THEN 'late' WHEN h.title IS NULL THEN NULL ELSE LOWER(h.title) || '!' END AS v FROM LIST",
    "SELECT (SELECT h.price FROM LIST WHERE h.id = 'a') > (SELECT h.price FROM LIST WHERE h.id = 'b') AS v",
    "SELECT EXISTS(SELECT 1 AS one FROM LIST WHERE h.copies > 1) AS v",
    "SELECT call.sum * 2 AS v",
    "SELECT call.sum - 0.5 AS v",
    "SELECT [call.word, 'x'] AS v",
    "SELECT {{'word': call.word, 'sum': call.sum}} AS v",
    "SELECT LENGTH(call.word) AS v",
    "SELECT REPLACE(LOWER(call.word), ' ', '.') AS v",
    "SELECT STARTS_WITH(call.word, 'E') AS v",
]


@pytest.mark.parametrize("text", OVER_LISTS)
def test_what_reasons_ask_is_answered_alike(text: str) -> None:
    env = load_environment(GENERATED / "library")
    base = env.base("main_library")
    columns = ("v", "_1") if " AS _1" in text else ("v",)
    values = (("have", ROWS), ("word", "VARCHAR"), ("sum", "DECIMAL(8, 2)"))
    query = Query(text.replace("LIST", LIST), (), values, columns, ", ".join(f"q.{name}" for name in columns))
    if "{{" in text or "[" in text:
        query = Query(query.text, (), values, columns, "")
    twin = twin_of(query, {})
    assert twin is not None
    for have in (HAVE, HAVE[:1], HAVE[2:], []):
        for word, total in (("Emma", "3.00"), (" mm", "0.00"), (None, None)):
            given = [have, word, total and Decimal(total)]
            found, wanted = twin(base, given, {}), asked(base, query, given, {})
            assert repr(found) == repr(wanted)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT AVG(h.price) AS v FROM LIST",
        "SELECT h.price / 2 AS v FROM LIST",
        "SELECT h.due = '2025-03-01' AS v FROM LIST",
        "SELECT h.id AS v FROM LIST ORDER BY h.title NULLS FIRST, id",
        "SELECT h.id AS v FROM LIST LEFT JOIN LIST2 ON h2.id = h.id",
        "SELECT h.id AS v FROM LIST OFFSET 1",
        "SELECT ROW_NUMBER() OVER () AS v FROM LIST",
        # of which DuckDB keeps no more digits after the point than there is room for
        "SELECT COALESCE(SUM(h.price), 0.125) AS v FROM LIST",
        "SELECT SUM(h.price) > 0.125 AS v FROM LIST",
        "SELECT h.title COLLATE NOCASE = 'emma' AS v FROM LIST",
        "SELECT RANDOM() AS v",
    ],
)
def test_what_is_not_known_to_be_alike_is_left_to_duckdb(text: str) -> None:
    text = text.replace("LIST2", LIST[: -len("h")] + "h2").replace("LIST", LIST)
    assert twin_of(Query(text, (), (("have", ROWS),), ("v",), ""), {}) is None


def test_values_that_are_not_what_they_should_be_are_left_to_duckdb() -> None:
    base = load_environment(GENERATED / "library").base("main_library")
    sums = twin_of(Query("SELECT call.a * call.b AS v", (), (("a", "BIGINT"), ("b", "BIGINT")), ("v",), ""), {})
    assert sums is not None
    assert sums(base, [6, 7], {}) == [{"v": 42}]
    assert sums(base, [2**20, 2**20], {}) is sums(base, [2**20, -(2**20)], {}) is None  # is there room for it?
    assert sums(base, [True, 7], {}) is None
    day = twin_of(Query("SELECT CAST(call.a AS DATE) AS v", (), (("a", "VARCHAR"),), ("v",), ""), {})
    assert day is not None
    assert day(base, ["2025-03-14"], {}) == [{"v": datetime.date(2025, 3, 14)}]
    assert day(base, ["14.3.2025"], {}) is day(base, ["2025-02-30"], {}) is None


@pytest.mark.parametrize("name", ["library", "phone", "tickets"])
def test_verdicts_are_the_same(name: str) -> None:
    plain, computing = load_environment(GENERATED / name), load_environment(GENERATED / name)
    computing.keep_answers(twin_of)
    names = [task for task in plain.tasks if not plain.denied(plain.tasks[task].world)][:40]
    found = certify(computing, [computing.tasks[task] for task in names])
    assert found == certify(plain, [plain.tasks[task] for task in names])
    assert computing.executions < plain.executions / 10


def test_a_value_that_is_one_of_several_rows_is_left_to_duckdb() -> None:
    base = load_environment(GENERATED / "library").base("main_library")
    text = "SELECT (SELECT l.due AS x FROM {loans} AS l WHERE l.loan_id = call.a OR l.loan_id = call.b) AS v"
    due = twin_of(Query(text, ("loans",), (("a", "VARCHAR"), ("b", "VARCHAR")), ("v",), ""), base.tables)
    one, other = list(base.rows_of["loans"].by_key)[:2]
    assert due is not None
    assert due(base, [one, one], {}) == [{"v": base.rows_of["loans"].by_key[one]["due"]}]
    assert due(base, [one, other], {}) is None


def test_tables_that_are_not_in_memory_are_left_to_duckdb() -> None:
    base = load_environment(GENERATED / "library").base("main_library")
    count = twin_of(Query("SELECT COUNT(*) AS v FROM {loans} AS l", ("loans",), (), ("v",), ""), base.tables)
    assert count is not None
    assert count(base, [], {}) == [{"v": len(base.rows_of["loans"].by_key)}]
    base.rows_of["loans"].whole = False
    assert count(base, [], {}) is None


def test_decimals_have_the_places_of_their_type() -> None:
    base = load_environment(GENERATED / "library").base("main_library")
    query = Query("SELECT call.a AS v", (), (("a", "DECIMAL(8, 2)"),), ("v",), "")
    twin = twin_of(query, {})
    assert twin is not None
    assert repr(twin(base, [Decimal(3)], {})) == repr(asked(base, query, [Decimal(3)], {}))
