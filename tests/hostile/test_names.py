"""Names of a spec clash neither with each other, nor with Python, nor with what is generated around them."""

from pathlib import Path

import pytest

from forgec_runtime import AGENTS
from tests.differential.bench import Bench, checked, compiled
from tests.differential.programs import Programs
from tests.hostile.desk import judge

EVERYWHERE = """environment N { }
enum N { N, other }
record Rec { N integer }
table N { id text key, N integer? check (N < 100), kind N default 'N', rec Rec? }
table N_changed { id text key serial 'N{0}', owner -> N }
function N_of(N integer) returns integer = $N + (select count(*) from N where N.N > $N);
function N_of_2(x integer) returns integer = N_of($x) + (select max(N) from N) + (select min(N) from N);
tool N(N integer, other -> N as r) returns integer? {
  let v = N_of($N) + N_of_2($N);
  update N set N = $N, kind = 'other' where id = $other and N is not null;
  insert into N_changed (owner) select id from N where N.N = $N;
  return $v + N['a'].N + (select count(*) from N_changed);
}
view N_view = select N.id as N, N.N as id from N where N.N is not null;
tool N_3(N text) returns { N text, id integer }[] { return select N.N, N.id from N_view N where N.N = $N; }
tool N_2(value N) returns { id text, N integer? }[] { return select id, N from N where kind = $value order by N desc; }
tool N_tool(N -> N as r, other Rec) returns text {
  update N set rec = $other where id = $N;
  reply "{$r.N} {$r.kind} {N[$N].N} {$other.N}";
}
rule N enforced on N "no": $N > 0 and (select count(*) from N) > 0;
rule N_2 audited on N, N_2 "no": (select count(*) from N where N > 1) > 0;
rule N_3 audited on N_2 "no": (select count(*) from N) > 1 and exists (select 1 from N where N > 1);
invariant N: (select count(*) from N where N.N > 50) < 2;
world w { N (id, N) values ('a', 1), ('b', 2); }
task N on w {
  intent "x"
  fact N = 7;
  plan { reason n_2 = $N + 1; s = N(N: $n_2, other: 'a'); reason N_3[] = select id from N where N.N > 2; }
  expect N['a'].N = 8;
  says "x": $N + $n_2 + (select count(*) from $N_3);
}
task N_n on w {
  intent "x"
  plan { reason m = (select max(N) from N); s = N(N: $m + 1, other: 'b'); }
  expect N['b'].N = 3 and N['a'].N = 1;
  says "x": $m + 1;
}
"""
NAMES = [
    "things", "tool", "tasks", "environment", "functions", "result", "changed", "sql", "t", "class", "sum_row", "v0",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_everything_may_have_the_same_name(name: str, tmp_path: Path) -> None:
    spec = checked(EVERYWHERE.replace("N", name))
    env = compiled(spec, tmp_path)
    bench = Bench(spec, env)
    bench.check(Programs(spec, name).program(episodes=2, calls=24))
    for task in env.tasks.values():
        episode = env.reset(task.name)
        AGENTS["gold"]().play(env, episode, task)
        assert env.reward(episode, task).value == 1


BAD = (
    "_x", "x_", "x__y", "X", "xY", "x" * 61, "__init__", "__class__", "1x", "x-y", "x.y", "'x'", '"x"', "x y", "é",
    "\u0430ccounts", "\uff58", "x\u200b", "x\u0301", "$x", "../x", "x/y", "", "x\ny",
)  # fmt: skip
ROLES = {
    "environment": "environment %s { }\ntool t() { }\nworld w { }",
    "table": "environment e { }\ntable %s { id text key }\ntool t() { }\nworld w { }",
    "view": "environment e { }\nview %s = select 1 as x;\ntool t() { }\nworld w { }",
    "column": "environment e { }\ntable a { id text key, %s integer? }\ntool t() { }\nworld w { }",
    "function": "environment e { }\nfunction %s() returns integer = 1;\ntool t() { }\nworld w { }",
    "tool": "environment e { }\ntool %s() { }\nworld w { }",
    "parameter": "environment e { }\ntool t(%s integer) { }\nworld w { }",
    "value": "environment e { }\ntool t() { let %s = 1; }\nworld w { }",
    "field": "environment e { }\nrecord R { %s integer }\ntool t(r R) { }\nworld w { }",
    "rule": 'environment e { }\ntool t() { }\nrule %s audited on t "x": true;\nworld w { }',
    "invariant": "environment e { }\ntool t() { }\ninvariant %s: true;\nworld w { }",
    "world": "environment e { }\ntool t() { }\nworld %s { }",
    "task": 'environment e { }\ntool t() { }\nworld w { }\ntask %s on w { intent "x" plan { s = t(); } }',
    "fact": 'environment e { }\ntool t() { }\nworld w { }\ntask k on w { intent "x" fact %s = 1; plan { s = t(); } }',
    "node": 'environment e { }\ntool t() { }\nworld w { }\ntask k on w { intent "x" plan { %s = t(); } }',
}


@pytest.mark.parametrize("role", ROLES)
def test_names_that_are_none(role: str) -> None:
    assert judge(ROLES[role].replace("%s", "plain")).shown == ""
    for name in BAD:
        assert judge(ROLES[role].replace("%s", name)).failed, name
