"""Whatever an agent sends is answered, fast, with a text that it can act on; nothing else is changed by it."""

import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from forgec_runtime import Environment, Result
from forgec_runtime.arguments import Arguments
from tests.hostile.desk import HEAD, packed

SPEC = (
    HEAD.replace("since date?,", "since date?, rate double?, seen timestamp?, tags text?,")
    + """
tool show(id -> accounts as a) returns text { reply "{$a.owner}: {$a.balance} {$id}"; }
tool find(word text, kind Kind?) returns { id text, owner text }[] {
  return select id, owner from accounts
    where (owner like $word or contains(owner, $word)) and ($kind is null or kind = $kind);
}
tool save(
  id text, owner text, balance decimal(8, 2), kind Kind default 'small', box Box?, since date?, seen timestamp?,
  rate double?, n integer default 0,
) returns accounts {
  let a = insert into accounts (id, owner, balance, kind, box, since, seen, rate)
    values ($id, $owner, $balance + $n, $kind, $box, $since, $seen, $rate) returning *;
  return $a;
}
tool double_all() returns integer {
  update accounts set tags = coalesce(tags, 'x') || coalesce(tags, 'x') where true;
  return (select max(length(tags)) from accounts);
}
tool copy_all(prefix text) returns integer {
  insert into accounts (id, owner) select $prefix || id, owner from accounts;
  return (select count(*) from accounts);
}
tool power(n integer) returns integer { return $n * $n * $n; }
tool total(n integer) returns integer { return (select sum($n * 1000) * 1000 from accounts); }
tool infinite(x double) returns double { return $x * 1e300 * 1e300; }
tool double_list(xs integer[]) returns integer {
  let x0 = $xs;
"""
    + "".join(f"  let x{i} = list_concat($x{i - 1}, $x{i - 1}) || $x{i - 1};\n" for i in range(1, 60))
    + """  return len($x59);
}
world w { accounts (id, owner, balance, box) values ('A1', 'Ann', 5, {'wide': 1, 'high': 2}), ('A2', 'Bo', 0.5, null); }
"""
)
GOOD: dict[str, Any] = {"id": "A3", "owner": "Cy", "balance": 1.5}

TEXTS = {
    "10 MB": "x" * 10_000_000,
    "one too long": "x" * 65_537,
    "NUL": "a\0b",
    "lone surrogate": "a\ud800",
}
SQL = (
    "'; drop table accounts; --",
    "' or '1' = '1",
    "') union select id, owner from accounts --",
    "%' or true or owner like '%",
    "{accounts}",
    "{{0}} {x} %s $v0 ? :a",
    "\ue000accounts\ue001",
    "\x1b[31m\u202eabc\r\n",
    "call.word",
    "",
)


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return packed(SPEC, tmp_path_factory.mktemp("calls"))


def kind_of(value: object) -> str:
    return type(value).__name__


def ask(env: Environment, tool: Any, arguments: Arguments) -> Result:
    """The answer to one call in a fresh episode: in time, short, and without effect when it is an error."""
    episode = env.reset("w")
    started = time.process_time()
    result = env.step([(episode, tool, arguments)])[0]
    assert time.process_time() - started < 2
    assert type(result.text) is str
    if not result.ok:
        assert len(result.text) < 2_000
        assert "Traceback" not in result.text
        assert "Error" not in result.text
        assert episode.changes() == {}
    return result


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_texts_that_no_column_holds(env: Environment, text: str) -> None:
    assert ask(env, "find", {"word": text}).kind == "invalid"
    assert ask(env, "show", {"id": text}).kind == "invalid"
    assert ask(env, "save", {**GOOD, "owner": text}).kind == "invalid"
    assert ask(env, "save", {**GOOD, "kind": text}).kind == "invalid"
    assert ask(env, "save", {**GOOD, "since": text}).kind == "invalid"
    assert ask(env, "save", {**GOOD, "balance": text}).kind == "invalid"
    assert ask(env, "save", {**GOOD, text: 1}).kind == "invalid"
    assert ask(env, text, {}).kind == "invalid"
    assert ask(env, "find", text).kind == "invalid"


@pytest.mark.parametrize("text", SQL, ids=ascii)
def test_sql_in_arguments_is_text(env: Environment, text: str) -> None:
    assert ask(env, "find", {"word": text}).value == ([] if text else ask(env, "find", {"word": ""}).value)
    assert ask(env, "show", {"id": text}).text == f"Unknown id: {text}"
    saved = ask(env, "save", {**GOOD, "id": text, "owner": text})
    assert (saved.value["id"], saved.value["owner"]) == (text, text)
    assert ask(env, "save", {**GOOD, "kind": text}).text == "kind must be one of small, big"


WRONG: dict[str, tuple[Any, ...]] = {
    "id": (None, 1, 1.5, True, [], {}, ["A1"], b"A1", ("A1",), math.nan),
    "balance": (
        None, "x", "1e5", "\u0661", " 1", "1.", "--1", [], {}, True, math.nan, math.inf, 1e308, 10**400, -(10**400),
        1.555, "1.001", "9" * 5_000, 1_000_000, 1e-300,
    ),
    "kind": (None, "Small", "small ", 1, [], {}, ["small"], True),
    "n": (None, "1", 1.5, 2**53, -(2**53), 10**5_000, math.nan, -math.inf, True, [], 1e300),
    "since": (1, "2025-02-30", "2025-2-3", "today", "20250203", "0000-01-01", "10000-01-01", []),
    "seen": ("2025-01-01", "2025-01-01T25:00", "2025-01-01T10:00:00Z", "now", 0, {}, "x" * 99),
    "rate": ("1", math.nan, math.inf, 10**400, True, [], {}),
    "box": (
        1, "x", [], {}, {"wide": None}, {"wide": 1, "deep": 2}, {"wide": "1"}, {"wide": {}}, {"wide": 1, 2: 3},
        {"wide": 1, "high": [[[[[]]]]]}, [["wide", 1]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_values_of_a_wrong_kind(env: Environment, name: str) -> None:
    for value in WRONG[name]:
        result = ask(env, "save", {**GOOD, name: value})
        assert result.kind == "invalid", kind_of(value)
        assert result.text.startswith((f"{name} must ", f"{name}.", f"{name} has no field "))


@pytest.mark.parametrize("name", ["extra", "Id", "id ", "", 1, None, (), "__class__"], ids=ascii)
def test_names_that_are_none(env: Environment, name: Any) -> None:
    result = ask(env, "save", {**GOOD, name: 1})
    assert result.kind == "invalid"
    assert result.text.startswith("there is no argument ")


@pytest.mark.parametrize(
    ("name", "value", "held"),
    [
        ("balance", 1, "1.00"),
        ("balance", "1.50", "1.50"),
        ("balance", 0.1, "0.10"),
        ("balance", "0", "0.00"),
        ("balance", 999_999.99, "999999.99"),
        ("n", 2.0, "3.50"),
        ("n", 0.0, "1.50"),
    ],
)
def test_numbers_are_taken_as_they_are_meant(env: Environment, name: str, value: Any, held: str) -> None:
    assert str(ask(env, "save", {**GOOD, name: value}).value["balance"]) == held


@pytest.mark.parametrize(
    "arguments",
    [
        "", " ", "{", "[]", "null", "1", '"x"', "{'id': 'A1'}", '{"id": NaN}', '{"id": "A1",}', '{"id": "A1"} x',
        "\ufeff{}",
        '{"id": "\ud800"}', "[" * 100_000, '{"id":' * 100_000, b"\xff\xfe", b"\x00", b"", "x" * 1_000_000,
        '{"id": ' + "9" * 100_000 + "}",
    ],
    ids=lambda value: ascii(value)[:20],
)  # fmt: skip
def test_arguments_that_are_no_json_object(env: Environment, arguments: str | bytes) -> None:
    assert ask(env, "show", arguments).kind == "invalid"


@pytest.mark.parametrize("arguments", [None, 1, [], ["id"], {1, 2}, object(), 1.5, True], ids=kind_of)
def test_arguments_that_are_nothing_like_an_object(env: Environment, arguments: Any) -> None:
    assert ask(env, "show", arguments).text == "The arguments must be a JSON object"


@pytest.mark.parametrize(
    "name", [None, 1, 1.5, True, (), [], {}, b"show", object(), "Show", "show ", "", "__class__", "a\nb"], ids=kind_of
)
def test_tools_that_do_not_exist(env: Environment, name: Any) -> None:
    result = ask(env, name, {"id": "A1"})
    assert result.kind == "invalid"
    assert result.text.startswith("There is no tool ")
    assert "show" in result.text


def test_json_and_mappings_are_alike(env: Environment) -> None:
    for arguments in ({"id": "A1"}, '{"id": "A1"}', b'{"id": "A1"}', ' {"id":"\\u00411"} '):
        assert ask(env, "show", arguments).value == "Ann: 5.00 A1"


def test_an_object_with_a_thousand_names_is_refused_in_a_few_words(env: Environment) -> None:
    assert ask(env, "show", {"id": "A1", **{f"x{i}": i for i in range(1_000)}}).kind == "invalid"


def test_numbers_beyond_those_of_json_are_faults_of_one_call(env: Environment) -> None:
    huge = 2**52
    calls: list[tuple[str, Mapping[str, Any]]] = [
        ("power", {"n": huge}),
        ("total", {"n": huge}),
        ("power", {"n": 2}),
        ("infinite", {"x": 1e300}),
        ("show", {"id": "A1"}),
    ]
    results = env.step([(env.reset("w"), tool, arguments) for tool, arguments in calls])
    assert [result.kind for result in results] == ["fault", "fault", "ok", "fault", "ok"]


def test_what_doubles_at_each_call_comes_to_an_end(env: Environment) -> None:
    episode = env.reset("w")
    kinds = [env.call(episode, "double_all").kind for _ in range(30)]
    assert kinds[:15] == ["ok"] * 15
    assert set(kinds[17:]) == {"refused"}
    assert max(len(row["tags"]) for row in episode.state()["accounts"]) <= 65_536


def test_a_list_that_doubles_comes_to_an_end(env: Environment) -> None:
    started = time.process_time()
    assert env.call(env.reset("w"), "double_list", xs=[1]).kind == "fault"
    assert env.call(env.reset("w"), "double_list", xs=[]).value == 0
    assert time.process_time() - started < 5


def test_a_thousand_calls_in_one_step(env: Environment) -> None:
    episodes = [env.reset("w") for _ in range(100)]
    calls: list[tuple[Any, Any, Any]] = []
    for i in range(1_000):
        name = ("save", "show", "find", "nothing", None)[i % 5]
        arguments = {**GOOD, "id": f"N{i}"} if name == "save" else {"id": "A1"} if name == "show" else {"word": "A%"}
        calls.append((episodes[i % 100], name, arguments))
    before, started = env.executions, time.process_time()
    results = env.step(calls)
    assert time.process_time() - started < 5
    assert env.executions - before < 25
    assert {result.kind for result in results[0::5]} == {"ok"}
    assert {result.value for result in results[1::5]} == {"Ann: 5.00 A1"}
    assert {result.text for result in results[2::5]} == {'[{"id":"A1","owner":"Ann"}]'}
    assert {result.kind for result in results[3::5] + results[4::5]} == {"invalid"}
    assert sum(len(episode.state()["accounts"]) for episode in episodes) == 2 * 100 + 200


def test_a_step_of_nothing(env: Environment) -> None:
    assert env.step([]) == []


def test_rows_multiply_no_faster_than_a_call_may_run(env: Environment, tmp_path: Path) -> None:
    episode = env.reset("w")
    started = time.process_time()
    for i in range(12):
        env.call(episode, "copy_all", prefix=f"{i}.")
    assert time.process_time() - started < 10
    assert len(episode.state()["accounts"]) == 2 * 2**12
