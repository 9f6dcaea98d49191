"""Worlds that are made at random keep what their tables and invariants demand, or are said not to."""

from __future__ import annotations

import datetime
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forgec.diagnostics import Report
from forgec.model.spec import World
from forgec.pipeline import check_source
from forgec.source import Source

CLOCK = datetime.date(2025, 3, 1)
HEAD = """environment shop "A shop" { clock timestamp '2025-03-01 09:00:00'; }

enum Level { basic, gold, 'very high' }

table members {
  member_id  text           key,
  name       text?          unique,
  level      Level,
  age        integer        check (age between 3 and 90),
  credit     decimal(6, 2)  default 1  check (credit >= 0 or level = 'gold'),
  joined     date           check (joined <= today()),
}

table orders {
  order_id   integer  key serial,
  member_id  -> members,
  again      -> members?,
  paid       boolean,
  at         timestamp,
  parts list { text text, pieces integer check (pieces > 0) },
  stamps map { code text key, level Level },
}

invariant two_each "At most two": not exists (select 1 from orders where paid group by member_id having count(*) > 2);

tool t() returns integer { return (select count(*) from members); }
"""
KEYS = st.sampled_from(["'M' || n()", "'M' || uniform(1, 30)", "left(fake('word'), 3)", "'M' || age"])
MEMBERS: dict[str, st.SearchStrategy[str]] = {
    "age": st.sampled_from(["uniform(0, 99)", "gauss(20, 30)", "10 + n()", "choice(3, 90, 91)", "uniform(3, 90)"]),
    "name": st.sampled_from(["fake('first_name')", "nullif(fake('word'), 'a')", "null", "weighted('Ada', 1, null, 5)"]),
    "level": st.sampled_from(["'gold'", "weighted('basic', 9, 'very high', 0.1)", "choice('gold', 'basic')"]),
    "credit": st.sampled_from(
        ["uniform(-5, 50)", "gauss(0, 9.99)", "n() * 1.25", "case when chance(0.1) then 0.5 end"]
    ),
}
JOINED = ["uniform('2024-01-01', today() + 3)", "today() - n()", "date '2024-02-29'"]
OTHER = "pick(select m.member_id from members m where m.member_id <> row.member_id)"
ORDERS: dict[str, st.SearchStrategy[str]] = {
    "member_id": st.sampled_from(["pick(members)", "pick_skewed(members)", "pick(select member_id from members)"]),
    "again": st.sampled_from(["pick(members)", "null", OTHER]),
    "paid": st.sampled_from(["chance(0.3)", "true", "again is null"]),
}  # fmt: skip
bounded = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def specs(draw: st.DrawFn) -> str:
    """A spec with one world that is made."""
    said = [("member_id", draw(KEYS))] if draw(st.booleans()) else []
    columns = draw(st.lists(st.sampled_from(sorted(MEMBERS)), unique=True))
    age = [("age", draw(MEMBERS["age"]))]
    said = [*age, *(said or [("member_id", "'M' || n()")]), ("joined", draw(st.sampled_from(JOINED)))]
    said += [(name, draw(MEMBERS[name])) for name in columns if name != "age"]
    ordered = [(name, draw(ORDERS[name])) for name in draw(st.lists(st.sampled_from(sorted(ORDERS)), unique=True))]
    if ("paid", "again is null") in ordered or "paid" not in dict(ordered):
        ordered = [part for part in ordered if part[0] != "paid"] + [("paid", draw(st.sampled_from(["false", "true"])))]
    if "again" in dict(ordered) and "row." in dict(ordered)["again"]:  # it looks at the member
        ordered.sort(key=lambda part: part[0] != "member_id")
    seed, members, orders = (draw(st.integers(0, 99)), draw(st.integers(1, 25)), draw(st.integers(0, 20)))
    return f"""{HEAD}
world made seed {seed} {{
  members generate {members} {{ {_said(said)} }}
  orders generate {orders} {{
    {_said(ordered)}
    at = uniform(now(), timestamp '2025-03-01 10:00:00');
    parts generate 0 to 3 {{ text = 'part ' || n(); pieces = gauss(2, 3); }}
    stamps generate 1 to 2 {{ code = choice('a', 'b', 'c'); }}
  }}
}}
"""


def _said(columns: list[tuple[str, str]]) -> str:
    return " ".join(f"{name} = {text};" for name, text in columns)


def _world(text: str) -> World | list[str]:
    """The world, or the codes of what is said about the spec."""
    checked = check_source(Path("spec.afs"), Source("spec.afs", text), Report())
    if checked.spec is None:
        return [found.code for found in checked.report]
    return checked.spec.worlds["made"]


@bounded
@given(specs())
def test_what_is_demanded_holds(text: str) -> None:
    world = _world(text)
    if isinstance(world, list):
        assert set(world) <= {"AFS621", "AFS606"}
        return
    members = {row["member_id"]: row for row in world.rows["members"]}
    orders = {row["order_id"]: row for row in world.rows["orders"]}
    assert len(members) == len(world.rows["members"])
    assert list(orders) == list(range(1, len(orders) + 1))
    assert _once(row["name"] for row in members.values() if row["name"] is not None)
    for row in members.values():
        assert 3 <= row["age"] <= 90
        assert row["credit"] >= 0 or row["level"] == "gold"
        assert row["credit"] == row["credit"].quantize(Decimal("0.01"))
        assert row["joined"] <= CLOCK
        assert row["level"] in ("basic", "gold", "very high")
    for row in orders.values():
        assert row["member_id"] in members
        assert row["again"] is None or row["again"] in members
    assert max(Counter(row["member_id"] for row in orders.values() if row["paid"]).values(), default=0) <= 2
    parts, stamps = world.rows["orders_parts"], world.rows["orders_stamps"]
    assert all(row["order_id"] in orders and row["pieces"] > 0 for row in parts)
    assert _once((row["order_id"], row["pos"]) for row in parts)
    assert _once((row["order_id"], row["code"]) for row in stamps)
    assert {row["order_id"] for row in stamps} == orders.keys()
    assert _world(text) == world


def _once(values: Any) -> bool:
    return max(Counter(values).values(), default=0) <= 1


def test_a_row_or_column_more_leaves_the_others_as_they_are() -> None:
    text = (
        HEAD + "world made { members generate 9 { member_id = 'M' || n(); age = uniform(3, 90); joined = today(); } }"
    )
    more = text.replace("generate 9", "generate 12").replace("age =", "name = 'x' || uniform(1, 9999); age =")
    first, second = _world(text), _world(more)
    assert isinstance(first, World)
    assert isinstance(second, World)
    assert len(second.rows["members"]) == 12
    for before, after in zip(first.rows["members"], second.rows["members"][:9], strict=True):
        assert before == {**after, "name": None}


def test_another_seed_gives_other_rows() -> None:
    rows = "members generate 9 { member_id = 'M' || n(); age = uniform(3, 90); joined = today(); }"
    worlds = [_world(HEAD + f"world made {seed} {{ {rows} }}") for seed in ("seed 1", "seed 01", "seed 2", "")]
    first, same, second, none = [world.rows for world in worlds if isinstance(world, World)]
    assert first == same
    assert first != second != none != first
