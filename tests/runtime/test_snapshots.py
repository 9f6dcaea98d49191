"""Snapshots: an episode as bytes, exact and canonical, and refused where it does not fit."""

import datetime
import hashlib
import json
import os
import subprocess
import sys
from decimal import Context, Decimal
from pathlib import Path
from pprint import pformat
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgec_runtime import Column, Environment, Episode, SnapshotError, Table, World, encoding
from forgec_runtime import base as bases
from forgec_runtime import types as t
from tests.runtime.desk import make_desk
from tests.runtime.library_fixture import make_library
from tests.runtime.library_schema import NOW


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return make_library(tmp_path_factory.mktemp("library"))


def used(env: Environment) -> Episode:
    episode = env.reset("front_desk")
    for tool, arguments in (
        ("lend_book", {"member_id": "M2", "isbn": "B3"}),
        ("pay_fines", {"member_id": "M2", "amount": 1.25}),
        ("remove_loan", {"loan_id": "L0001"}),
        ("add_member", {"member_id": "M4", "email": "zoë@example.org"}),
        ("hold", {"member_id": "M1", "isbn": "B2"}),
    ):
        assert env.call(episode, tool, **arguments).ok
    episode.messages.append("Done.\nAll \u201cof\u201d it.")
    return episode


def test_an_episode_comes_back_as_it_was(env: Environment) -> None:
    episode = used(env)
    other = env.restore(episode.snapshot())
    assert other is not episode
    assert (other.world, other.task, other.base) == (episode.world, episode.task, episode.base)
    assert other.state() == episode.state()
    assert other.changes() == episode.changes()
    assert other.messages == episode.messages
    assert other.broken_rules == episode.broken_rules == ["no_lending_with_fines"]
    assert other.snapshot() == episode.snapshot()
    assert env.call(other, "lend_book", member_id="M1", isbn="B5").value["loan_id"] == "L0009"
    assert env.call(episode, "lend_book", member_id="M1", isbn="B5").value["loan_id"] == "L0009"


def test_what_cannot_be_written_is_told(env: Environment) -> None:
    episode = env.reset("front_desk")
    episode.messages.append("half a \ud83d")
    with pytest.raises(SnapshotError, match="a message holds what is no text"):
        episode.snapshot()


def test_a_fresh_episode_holds_nothing(env: Environment) -> None:
    episode = env.restore(env.reset("front_desk").snapshot())
    assert (episode.overlay, episode.counters, episode.messages, episode.broken_rules) == (None, None, [], [])


def test_the_task_is_kept(tmp_path: Path) -> None:
    env = make_desk(tmp_path)
    episode = env.restore(env.reset("bring_back").snapshot())
    task = env.tasks["bring_back"]
    assert episode.task is not None and episode.task.name == task.name
    assert env.call(episode, "return_book", loan_id="L0001").ok
    assert env.reward(env.restore(episode.snapshot()), task).value == 1


def test_the_same_state_gives_the_same_bytes(env: Environment) -> None:
    one, other = env.reset("front_desk"), env.reset("front_desk")
    env.call(one, "hold", member_id="M1", isbn="B2")
    env.call(one, "pay_fines", member_id="M2", amount=4)
    env.call(other, "pay_fines", member_id="M3", amount=1)
    env.call(other, "pay_fines", member_id="M3", amount=-1)
    env.call(other, "pay_fines", member_id="M2", amount=2.5)
    env.call(other, "add_member", member_id="M9", email="nine@example.org")
    env.call(other, "remove_member", member_id="M9")
    env.call(other, "hold", member_id="M1", isbn="B2")
    env.call(other, "pay_fines", member_id="M2", amount=1.5)
    assert one.overlay != other.overlay
    assert one.snapshot() == other.snapshot()
    env.call(other, "pay_fines", member_id="M2", amount=0.01)
    assert one.snapshot() != other.snapshot()


def test_rows_of_a_large_table_come_back(tmp_path: Path) -> None:
    env = make_library(tmp_path, books=12_000)
    episode = env.reset("front_desk")
    assert env.call(episode, "lend_book", member_id="M1", isbn="B11000").ok
    fresh = make_library(tmp_path, books=12_000)
    other = fresh.restore(episode.snapshot())
    assert other.changes() == episode.changes()
    assert other.snapshot() == episode.snapshot()


# -- what does not fit -----------------------------------------------------------------------------------------------


def refused(env: Environment, data: bytes, text: str) -> None:
    with pytest.raises(SnapshotError, match=text) as caught:
        env.restore(data)
    assert caught.value.__cause__ is None


def test_what_is_no_snapshot_is_refused(env: Environment) -> None:
    for data in (b"", b"{}", b"\x80\x04]", os.urandom(100)):
        refused(env, data, "no snapshot")


def test_another_format_is_refused(env: Environment) -> None:
    data = used(env).snapshot()
    refused(env, data.replace(b"episode 1", b"episode 2", 1), "is of format 2; this runtime reads format 1")


def test_truncated_and_changed_bytes_are_refused(env: Environment) -> None:
    data = used(env).snapshot()
    for end in range(len(data)):
        refused(env, data[:end], "damaged|no snapshot|is of format")
    for place in range(0, len(data), 3):
        changed = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
        refused(env, changed, "damaged|no snapshot|is of format")
    refused(env, data + b" ", "damaged")


def signed(body: Any) -> bytes:
    text = body if isinstance(body, bytes) else json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()
    return b"forgec episode 1\n" + hashlib.sha256(text).hexdigest().encode() + b"\n" + text


LOAN = ["L0008", "M1", "B1", "2025-03-22", False, None]
FORGED: list[dict[str, Any]] = [
    {"messages": [3]},
    {"messages": "hello"},
    {"messages": None},
    {"broken_rules": {}},
    {"counters": {"nothing": 3}},
    {"counters": {"members": 3}},
    {"counters": {"loans": "x"}},
    {"counters": {"loans": 2}},
    {"counters": {"loans": True}},
    {"counters": 7},
    {"changes": []},
    {"changes": {"nothing": {"rows": []}}},
    {"changes": {"loans": {"rows": []}}},
    {"changes": {"loans": {"rows": {}}}},
    {"changes": {"loans": {"rows": [LOAN[:-1]]}}},
    {"changes": {"loans": {"rows": [[*LOAN[:3], "2025-02-30", False, None]]}}},
    {"changes": {"loans": {"rows": [[*LOAN[:3], None, False, None]]}}},
    {"changes": {"loans": {"rows": [[*LOAN[:4], 0, None]]}}},
    {"changes": {"loans": {"rows": [["L0009", *LOAN[1:]], LOAN]}}},
    {"changes": {"loans": {"rows": [LOAN, LOAN]}}},
    {"changes": {"loans": {"rows": [[["L0008"], *LOAN[1:]]]}}},
    {"changes": {"loans": {"rows": [LOAN], "more": 1}}},
    {"changes": {"loans": {"gone": [["L9999"]]}}},
    {"changes": {"loans": {"gone": ["L0001"]}}},
    {"changes": {"loans": {"gone": [[{}]]}}},
    {"changes": {"books": {"rows": [["B3", "Book 3", 3]]}}},
    {"world": 3},
    {"environment": None},
    {"task": ["x"]},
    {"more": 1},
]


@pytest.mark.parametrize("change", FORGED, ids=lambda change: json.dumps(change))
def test_forged_bytes_are_refused(env: Environment, change: dict[str, Any]) -> None:
    body = json.loads(env.reset("front_desk").snapshot().split(b"\n")[2])
    assert env.restore(signed(body)).changes() == {}
    assert env.restore(signed({**body, "changes": {"loans": {"rows": [LOAN]}}})).changes()
    refused(env, signed({**body, **change}), "damaged")


@pytest.mark.parametrize("body", [b"", b"[]", b"3", b"{", b"[" * 100_000, b"\xff"])
def test_a_body_that_is_none_is_refused(env: Environment, body: bytes) -> None:
    refused(env, signed(body), "damaged")


def test_another_environment_world_or_task_is_refused(env: Environment, tmp_path: Path) -> None:
    folder = tmp_path / "desk"
    folder.mkdir()
    desk = make_desk(folder)
    refused(desk, used(env).snapshot(), "is of the environment library, not of desk")
    body = json.loads(env.reset("front_desk").snapshot().split(b"\n")[2])
    refused(env, signed({**body, "world": "nowhere"}), "library has no world 'nowhere'")
    refused(env, signed({**body, "task": "nothing"}), "library has no task 'nothing' in the world front_desk")


def test_other_rows_and_another_schema_are_refused(env: Environment, tmp_path: Path) -> None:
    data = used(env).snapshot()
    folder = tmp_path / "other"
    folder.mkdir()
    refused(make_library(folder, books=11), data, "the rows of the world front_desk are not those")
    assert make_library(folder, books=10).restore(data).snapshot() == data
    path = folder / "front_desk.json"
    members, *rest = env.tables
    wider: Table[Any] = Table(
        "members", columns=(*members.columns[:-1], Column("fines", t.Decimal(9, 2))), key=("member_id",)
    )
    worlds_ = (World("front_desk", path),)
    other = Environment("library", clock=NOW, tables=(wider, *rest), tools=env.tools.values(), worlds=worlds_)
    refused(other, data, "the tables of library are not those")


# -- values ----------------------------------------------------------------------------------------------------------

PARTS = t.Record(
    "Parts",
    (
        t.Field("price", t.Decimal(38, 9)),
        t.Field("at", t.Timestamp(), optional=True),
        t.Field("days", t.List(t.Date())),
        t.Field("rate", t.Double(), optional=True),
    ),
)
KINDS: dict[str, t.Type] = {
    "k": t.Integer(),
    "words": t.Text(),
    "money": t.Decimal(8, 2),
    "rate": t.Double(),
    "flag": t.Boolean(),
    "day": t.Date(),
    "at": t.Timestamp(),
    "colour": t.Enum("Colour", ("red", "blue")),
    "parts": PARTS,
    "many": t.List(PARTS),
}
ODD: Table[Any] = Table(
    "odd", columns=tuple(Column(name, type_, optional=name != "k") for name, type_ in KINDS.items()), key=("k",)
)


MOMENTS = st.datetimes(datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31)).map(lambda m: m.replace(fold=0))
DOUBLES = st.floats(allow_nan=False, allow_infinity=False)
RECORDS = st.fixed_dictionaries(
    {
        "price": st.integers(1 - 10**38, 10**38 - 1).map(lambda n: Decimal(n).scaleb(-9, Context(prec=40))),
        "at": st.none() | MOMENTS,
        "days": st.lists(st.dates(), max_size=3),
        "rate": st.none() | DOUBLES,
    }
)
WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "k": st.integers(-(2**53) + 1, 2**53 - 1),
    "words": WORDS,
    "money": st.integers(-(10**8) + 1, 10**8 - 1).map(lambda n: Decimal(n).scaleb(-2)),
    "rate": DOUBLES,
    "flag": st.booleans(),
    "day": st.dates(),
    "at": MOMENTS,
    "colour": st.sampled_from(["red", "blue"]),
    "parts": RECORDS,
    "many": st.lists(RECORDS, max_size=3),
}
ROWS = st.fixed_dictionaries({name: one if name == "k" else st.none() | one for name, one in VALUES.items()})


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    path = tmp_path_factory.mktemp("odd") / "w.json"
    rates = [{**dict.fromkeys(KINDS), "k": 0, "rate": 0.0}, {**dict.fromkeys(KINDS), "k": 1, "rate": -0.0}]
    path.write_text(json.dumps({"odd": rates}), encoding="utf-8")
    return Environment("odd", clock=NOW, tables=(ODD,), tools=(), worlds=(World("w", path),))


@given(rows=st.lists(ROWS, max_size=3), said=st.lists(WORDS, max_size=2))
def test_every_value_is_exact(odd: Environment, rows: list[dict[str, Any]], said: list[str]) -> None:
    episode = odd.reset("w")
    episode.overlay = {"odd": {row["k"]: row for row in rows}}
    episode.messages.extend(said)
    other = odd.restore(episode.snapshot())
    assert pformat(other.changes()) == pformat(episode.changes())  # also the digits of equal numbers
    assert other.messages == said
    assert odd.restore(other.snapshot()).snapshot() == episode.snapshot()


@pytest.mark.parametrize(("key", "rate"), [(0, -0.0), (1, 0.0)])
def test_a_zero_keeps_its_sign(odd: Environment, key: int, rate: float) -> None:
    episode = odd.reset("w")
    episode.overlay = {"odd": {key: {**dict.fromkeys(KINDS), "k": key, "rate": rate}}}
    assert episode.changes() == {}
    other = odd.restore(episode.snapshot())
    assert other.overlay is not None
    assert repr(other.overlay["odd"][key]["rate"]) == repr(rate)


def test_values_are_written_alike() -> None:
    money = t.Decimal(8, 2)
    assert {encoding.encode(money, one) for one in (Decimal("4.5"), Decimal("4.500"), Decimal("45e-1"))} == {"4.50"}
    assert {encoding.encode(money, one) for one in (0, Decimal("-0"), Decimal("0.00"))} == {"0.00"}
    shuffled: dict[str, Any] = {"rate": None, "days": [], "price": Decimal(1), "at": None}
    assert list(encoding.encode(PARTS, shuffled)) == ["price", "at", "days", "rate"]


# -- other processes -------------------------------------------------------------------------------------------------

PLAY = """
import sys
from pathlib import Path
from tests.runtime.library_fixture import make_library
from tests.runtime.test_snapshots import used
sys.stdout.buffer.write(used(make_library(Path(sys.argv[1]))).snapshot())
"""


def test_snapshots_travel_between_processes(env: Environment, tmp_path: Path) -> None:
    path = os.pathsep.join([*sys.path, str(Path(__file__).parents[2])])
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for seed in ("1", "4711"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
        command = [sys.executable, "-c", PLAY, str(folder)]
        run = subprocess.run(command, env=environment, capture_output=True, check=True)
        assert run.stdout == used(env).snapshot()
        assert env.restore(run.stdout).state() == used(env).state()


def test_the_cache_is_not_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bases, "WHOLE_TABLE", 0)
    env = make_library(tmp_path)
    data = used(env).snapshot()
    assert env.restore(data).snapshot() == data
    monkeypatch.undo()
    assert used(make_library(tmp_path)).snapshot() == data
