"""What changes the hashes of an environment: exactly what changes what they stand for."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest

from forgec.codegen.hashes import hashes_of
from forgec.diagnostics import Report
from forgec.formatting import format_source
from forgec.pipeline import check, check_source, generate_package
from forgec.plans.package import plan_tasks
from forgec.source import Source
from forgec_runtime import LoadError, load_environment
from forgec_runtime.hashes import Hashes
from tests.differential.bench import compiled
from tests.fmt.rewriting import rewritten
from tests.markdown import declarations
from tests.shipped import ENVIRONMENTS

ROOT = Path(__file__).parent.parent.parent
SPECS = [*ENVIRONMENTS, ROOT / "tests" / "differential" / "kitchen_sink.afs"]

SHOP = """environment shop "A shop for lamps" {
  clock timestamp '2025-03-01 09:00:00';
}

policy "Be brief."

enum Kind { desk, floor }

record Size { width integer, height integer }

type Money = decimal(8, 2) check (value >= 0);

table lamps "What is sold" {
  lamp_id  text     key serial 'L{000}',
  kind     Kind     default 'desk',
  price    Money,
  size     Size?,
  note     text?    unscored,
  tags     text[]   unordered,
}

table people {
  person_id  text  key,
  name       text  unique,
}

invariant few_lamps "There are few": (select count(*) from lamps) < 100;

view cheap = select lamp_id, price from lamps where price < 10;

function with_tax(net Money) returns Money = $net * 1.19;

action mark(lamp_id -> lamps) {
  update lamps set note = 'seen' where lamp_id = $lamp_id;
}

tool price_of(lamp_id -> lamps as l, times integer default 1 "How many") returns Money "What lamps cost." {
  require $times > 0 else "none";
  do mark($lamp_id);
  return with_tax($l.price) * $times;
}

tool all_cheap() returns { lamp_id text, price Money }[] {
  return select * from cheap order by price, lamp_id;
}

rule not_too_many enforced on price_of "At most nine": $times < 10;

rule asked_once audited on price_of "Ask once": $times = 1;

world monday "A quiet day" {
  lamps (lamp_id, price, tags) values ('L001', 10.00, ['a']), ('L002', 5.00, []);
  people (person_id, name) values ('P1', 'Ada'), ('P2', 'Bo');
}

world tuesday {
  people (person_id, name) values ('P1', 'Ada');
}

test "tax" on monday {
  price_of(lamp_id: 'L001') returns 11.90;
}

task cheapest on monday "Find it" {
  intent "You want to know what the cheapest lamp costs.";
  fact lamp "the lamp" = 'L002';
  plan {
    found = all_cheap();
    reason first = select lamp_id from $found order by price, lamp_id limit 1;
    cost = price_of(lamp_id: $first, times: 1);
  }
  expect with_tax(lamps[$first].price) = 5.95;
  says "the price": $cost;
}

task nothing on tuesday {
  intent "You look around.";
  plan {
    found = all_cheap();
  }
}
"""


def hashes(text: str, name: str = "shop.afs") -> dict[str, Any]:
    report = Report()
    spec = check_source(Path(name), Source(name, text), report).spec
    assert spec is not None, list(report)
    return hashes_of(spec, plan_tasks(spec))


WHOLE = hashes(SHOP)


def changed(after: dict[str, Any]) -> set[str]:
    """Which hashes are others, by short names."""
    found = {name for name in ("environment", "grading") if after[name] != WHOLE[name]}
    for kind in ("worlds", "tasks"):
        names = {*after[kind], *WHOLE[kind]}
        found |= {name for name in names if after[kind].get(name) != WHOLE[kind].get(name)}
    return found


BOTH = {"environment", "grading"}
EDITS: list[tuple[str, str, set[str]]] = [
    # what an agent sees, and what tools do
    ("A shop for lamps", "A shop for lights", {"environment"}),
    ("2025-03-01 09:00:00", "2025-03-02 09:00:00", {"environment"}),
    ("Be brief.", "Be kind.", {"environment"}),
    ("{ desk, floor }", "{ floor, desk }", {"environment"}),
    ("record Size { width integer,", "record Size { width integer?,", {"environment"}),
    ("check (value >= 0)", "check (value > 0)", {"environment"}),
    ('table lamps "What is sold"', 'table lamps "What is there"', {"environment"}),
    ("default 'desk'", "default 'floor'", {"environment", "monday", "cheapest"}),
    ("text  unique,", "text,", {"environment"}),
    ("< 100", "< 101", {"environment"}),
    ('"There are few"', '"There are not many"', {"environment"}),
    ("price < 10;", "price <= 10;", {"environment"}),
    ("1.19", "1.20", {"environment", "cheapest"}),
    ("'seen'", "'noticed'", {"environment"}),
    ("default 1 ", "default 2 ", {"environment"}),
    ('"How many"', '"How often"', {"environment"}),
    ("require $times > 0", "require $times >= 0", {"environment"}),
    ('else "none"', 'else "not any"', {"environment"}),
    ('"What lamps cost."', '"The price of lamps."', {"environment"}),
    ("order by price, lamp_id;", "order by lamp_id;", {"environment"}),
    ('enforced on price_of "At most nine"', 'enforced on price_of "Nine at most"', {"environment"}),
    ("$times < 10", "$times < 9", {"environment"}),
    ('"Ask once"', '"Ask but once"', {"environment"}),
    ("enforced on price_of", "audited on price_of", BOTH),
    # what decides on rewards
    ("audited on price_of", "enforced on price_of", BOTH),
    ("$times = 1", "$times <= 1", {"grading"}),
    ("asked_once", "asked_one_time", {"grading"}),
    ("text?    unscored", "text?", {"grading"}),
    ("text[]   unordered", "text[]", {"grading"}),
    ("text?    unscored,", "text?    unscored,\n  more     text?,", {*BOTH, "monday", "cheapest"}),
    ("key serial 'L{000}'", "key", BOTH),
    # worlds
    ("('P2', 'Bo')", "('P2', 'Cy')", {"monday", "cheapest"}),
    ("10.00", "11.00", {"monday", "cheapest"}),
    (", ('P2', 'Bo')", "", {"monday", "cheapest"}),
    ('world monday "A quiet day"', 'world monday "A loud day"', set()),
    # tasks
    ("You want to know", "You would like to know", {"cheapest"}),
    ("'L002';", "'L001';", {"cheapest"}),
    ('"the lamp"', '"a lamp"', {"cheapest"}),
    ("order by price, lamp_id limit 1", "order by lamp_id limit 1", {"cheapest"}),
    ("lamp_id: $first, times: 1", "lamp_id: $first, times: 2", {"cheapest"}),
    ("lamp_id: $first, times: 1", "lamp_id: $first", {"cheapest"}),
    ("= 5.95", "= 5.96", {"cheapest"}),
    ('says "the price"', 'says "the cost"', {"cheapest"}),
    ("on tuesday {\n  intent", "on monday {\n  intent", {"nothing"}),
    ("You look around.", "You look about.", {"nothing"}),
    # tests, and nothing at all
    ("returns 11.90", "returns 12.00", set()),
    ('test "tax"', 'test "taxes"', set()),
    ("price_of(lamp_id: 'L001')", "price_of(times: 1, lamp_id: 'L001')", set()),
    ("('P1', 'Ada'), ('P2', 'Bo')", "('P2', 'Bo'), ('P1', 'Ada')", set()),
    ("(person_id, name) values ('P1', 'Ada');", "(name, person_id) values ('Ada', 'P1');", set()),
    ("where lamp_id = $lamp_id", "WHERE  lamp_id=$lamp_id -- that one\n ", set()),
    ("select * from cheap", "SELECT * FROM cheap", set()),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "expected"), EDITS, ids=[str(i) for i in range(len(EDITS))])
def test_an_edit_changes_the_hashes_of_what_it_changes(before: str, after: str, expected: set[str]) -> None:
    assert before in SHOP
    assert changed(hashes(SHOP.replace(before, after, 1))) == expected


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.name)
def test_layout_and_comments_change_no_hash(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    other = rewritten(format_source(Source(path.name, text), Report()) or "", Random(1), comments=0.0, breaks=0.2)
    other = re.sub("^(?=table|tool|task)", "-- a comment\n", other, flags=re.MULTILINE)
    assert hashes(other, path.as_posix()) == hashes(text, path.as_posix())


FREE = ("enum", "record", "type", "view", "function", "action", "world", "test", "task")


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_declarations_changes_no_hash_where_it_says_nothing(seed: int) -> None:
    random = Random(seed)
    parts = declarations(SHOP)
    places = [i for i, ((kind, _), _) in enumerate(parts) if kind in FREE]
    shuffled = list(places)
    random.shuffle(shuffled)
    moved = [text for _, text in parts]
    for place, other in zip(places, shuffled, strict=True):
        moved[place] = parts[other][1]
    assert changed(hashes("".join(moved))) == set()


def test_the_order_of_tools_is_that_in_which_an_agent_is_told_of_them() -> None:
    parts = dict(declarations(SHOP))
    tools = [text for (kind, _), text in parts.items() if kind == "tool"]
    text = SHOP.replace(tools[0], "").replace(tools[1], tools[1] + tools[0])
    assert changed(hashes(text)) == {"environment"}


@pytest.mark.parametrize("seed", range(5))
def test_the_files_that_a_spec_lies_in_change_no_hash(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    head, *rest = (text for _, text in declarations(SHOP))
    first, last = sorted(random.sample(range(1, len(rest)), 2))
    (tmp_path / "shop.afs").write_text(f'{head}\nuse "used.afs";\n\n{"".join(rest[first:last])}', encoding="utf-8")
    (tmp_path / "used.afs").write_text("".join(rest[:first]), encoding="utf-8")
    (tmp_path / "shop_more.afs").write_text("extend shop;\n\n" + "".join(rest[last:]), encoding="utf-8")
    checked = check(tmp_path / "shop.afs")
    assert checked.spec is not None, list(checked.report)
    assert len(checked.spec.sources) == 3
    assert hashes_of(checked.spec, plan_tasks(checked.spec)) == WHOLE


def test_the_package_knows_its_hashes(tmp_path: Path) -> None:
    spec = check_source(Path("shop.afs"), Source("shop.afs", SHOP), Report()).spec
    assert spec is not None
    known = compiled(spec, tmp_path).hashes
    assert known is not None
    assert {"environment": known.environment, "grading": known.grading} == {name: WHOLE[name] for name in BOTH}
    assert (known.worlds, known.tasks) == (WHOLE["worlds"], WHOLE["tasks"])
    assert json.loads(generate_package(spec)["hashes.json"]) == WHOLE
    (tmp_path / "shop" / "hashes.json").write_text("[]", encoding="utf-8")
    assert load_environment(tmp_path / "shop").name == "shop"
    with pytest.raises(LoadError, match="cannot be read"):
        _ = Hashes(tmp_path / "shop" / "hashes.json").environment
