"""Loops inside loops over many rows: refused, or done in time; what a pass asks for is asked once."""

import time
from pathlib import Path

import pytest

from forgec_runtime import Environment
from forgec_runtime.call import MAX_PASSES, MAX_RUNS
from tests.hostile.desk import HEAD, TAIL, packed

LOOPS = """
tool grow() {
  each a in (select id from accounts) {
    each b in (select id from accounts) {
      insert into accounts (id, owner) values ($a.id || '/' || $b.id, 'Cy');
    }
  }
}
tool cube() {
  let all[] = select * from accounts;
  each a in $all { each b in $all { each c in $all {
    update accounts set balance = balance + 1 where id = $c.id;
  } } }
}
tool ask() returns text {
  let all[] = select * from accounts;
  each a in $all { each b in $all {
    let n = (select count(*) from accounts where length(id) < length($b.id));
    insert into notes (account, body) values ($a.id, $b.id || $n);
  } }
  reply "{(select count(*) from notes)}";
}
tool double(t text) returns integer {
  let x text = $t;
  each a in (select id from accounts) { each b in (select id from accounts) { set x = $x || $x; } }
  return length($x);
}
tool double_in_lets(t text) returns integer {
  let x0 = $t;
"""
LOOPS += "".join(f"  let x{i} = $x{i - 1} || $x{i - 1};\n" for i in range(1, 60)) + "  return length($x59);\n}\n"


WORLD = TAIL.replace("('A2', 'Bo', null)", ", ".join(f"('B{i:02}', 'Bo', null)" for i in range(21)))


@pytest.fixture
def env(tmp_path: Path) -> Environment:
    return packed(HEAD + LOOPS + WORLD, tmp_path)


def test_a_call_makes_so_many_passes_and_no_more(env: Environment) -> None:
    episode = env.reset("w")
    started = time.process_time()
    refused = env.call(episode, "cube")
    assert refused.kind == "refused"
    assert f"more than {MAX_PASSES:,} rows" in refused.text
    assert episode.changes() == {}
    assert time.process_time() - started < 5


def test_what_each_pass_asks_for_is_asked_once(env: Environment) -> None:
    episode = env.reset("w")
    result = env.call(episode, "ask")
    assert result.text == '"484"', result.detail
    assert MAX_RUNS < 484 < env.executions < 484 + 10


def test_what_grows_as_it_is_gone_through_comes_to_an_end(env: Environment) -> None:
    episode = env.reset("w")
    assert env.call(episode, "grow").kind == "refused"
    assert episode.changes() == {}


@pytest.mark.parametrize("tool", ["double", "double_in_lets"])
def test_a_text_that_doubles_comes_to_an_end(env: Environment, tool: str) -> None:
    started = time.process_time()
    assert env.call(env.reset("w"), tool, t="x").kind == "fault"
    assert env.call(env.reset("w"), tool, t="").value == 0
    assert time.process_time() - started < 5
