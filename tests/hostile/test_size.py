"""Specs that nest, repeat or multiply without end are refused, or compiled, in time: never a crash, never a hang."""

import time

import pytest

from forgec.pipeline import generate_package
from tests.hostile.desk import HEAD, TAIL, judge


def told(text: str) -> set[str]:
    """The codes of what is said to a spec; a sound one is compiled as well. In five seconds."""
    started = time.process_time()
    verdict = judge(text)
    if verdict.checked.spec is not None:
        generate_package(verdict.checked.spec)
    assert time.process_time() - started < 5
    return {diagnostic.code for diagnostic in verdict.report}


def guard(condition: str) -> str:
    return HEAD + TAIL + f'tool t(a integer, flag boolean) {{ require {condition} else "no"; }}\n'


SOUND = {
    "39 brackets": "(" * 38 + "true" + ")" * 38,
    "a chain of 90": " and ".join(["$a > 1"] * 90),
    "a sum of 90": " + ".join(["$a"] * 90) + " > 0",
    "a case in a case": "case when $flag then " * 20 + "1" + " end" * 20 + " = 1",
    "900 values": f"$a in ({', '.join(map(str, range(900)))})",
    "100 branches": "case " + " ".join(f"when $a = {i} then {i}" for i in range(100)) + " end = 3",
    "lookups in lookups": "accounts[" * 18 + "'A1'" + "].owner" * 18 + " = 'x'",
    "60 joins": "exists (select 1 from accounts a0 "
    + " ".join(f"join accounts a{i} on a{i}.id = a{i - 1}.id" for i in range(1, 60))
    + ")",
    "60 tables with names": "exists (with "
    + ", ".join(f"c{i} as (select id from {'accounts' if i == 0 else f'c{i - 1}'})" for i in range(60))
    + " select 1 from c59)",
    "a text of 100 KB": f"'{'x' * 100_000}' <> '{'y' * 100_000}'",
    "a thousand comments": "/* a */ -- b\n" * 1_000 + "true",
    "900 elements": f"[{', '.join(map(str, range(900)))}][$a] = 3",
    "300 entries": "map {" + ", ".join(f"'{i}': {i}" for i in range(300)) + "}['7'] = 7",
    "8 lists in maps": "map {'a': [" * 8 + "$a" + "]}" * 8 + "['a'][1]" * 8 + " = 1",
    "20 lists as rows": "exists (select 1 from unnest([1, 2]) as p0(x) "
    + " ".join(f"join unnest([p{i - 1}.x, 3]) as p{i}(x) on true" for i in range(1, 20))
    + " where p19.x = $a)",
    "40 digits": "$a < 1" + "0" * 37,
}
TOO_LARGE = {
    "41 brackets": ("(" * 41 + "1" + ")" * 41, "AFS105"),
    "5,000 brackets": ("(" * 5_000 + "1" + ")" * 5_000, "AFS105"),
    "5,000 brackets never closed": ("(" * 5_000 + "1", "AFS105"),
    "5,000 lists": ("[" * 5_000 + "]" * 5_000, "AFS105"),
    "and 2,000 times": (" and ".join(["$flag"] * 2_000), "AFS403"),
    "or 500 times": (" or ".join(["$a = 1"] * 500), "AFS403"),
    "plus 1,400 times": ("+".join(["1"] * 1_400) + " > 0", "AFS403"),
    "|| 900 times": ("||".join(["'a'"] * 900) + " = 'x'", "AFS403"),
    "not 2,000 times": ("not " * 2_000 + "true", "AFS401"),
    "minus 2,000 times": ("- " * 2_000 + "1 > 0", "AFS401"),
    "case 600 times": ("case when true then " * 600 + "1" + " end" * 600 + " = 1", "AFS401"),
    "cast 1,400 times": ("1" + "::integer" * 1_400 + " = 1", "AFS403"),
    "= 600 times": (" = ".join(["true"] * 600), "AFS403"),
    "is 500 times": ("true" + " is true" * 500, "AFS403"),
    "union 900 times": (f"exists ({' union '.join(['select 1 as x'] * 900)})", "AFS403"),
    "5,000 values": (f"$a in ({', '.join(map(str, range(5_000)))})", "AFS403"),
    "1,001 elements": (f"[{', '.join(['1'] * 1_001)}][1] = $a", "AFS403"),
    "5,000 elements": (f"[{', '.join(['1'] * 5_000)}][1] = $a", "AFS403"),
    "1,001 entries": ("map {" + ", ".join(f"'{i}': 1" for i in range(1_001)) + "}['1'] = $a", "AFS403"),
    "elements of elements": ("[$a]" + "[1]" * 900 + " = 1", "AFS401"),
    "a number of 41 digits": ("1" * 41 + " > $a", "AFS403"),
    "a number of 10,000 digits": ("9" * 10_000 + " > $a", "AFS403"),
    "a number beyond doubles": ("1e999 > $a", "AFS403"),
    "500 dots": ("accounts['A1']" + ".a" * 500 + " = 1", "AFS403"),
}


@pytest.mark.parametrize("case", SOUND)
def test_what_is_large_and_sound(case: str) -> None:
    assert told(guard(SOUND[case])) == set()


@pytest.mark.parametrize("case", TOO_LARGE)
def test_what_is_too_large(case: str) -> None:
    condition, code = TOO_LARGE[case]
    assert told(guard(condition)) == {code}


@pytest.mark.parametrize(
    ("first", "next_"),
    [
        ("$n", "f{0}($n) + f{0}($n)"),
        ("$n + $n", "f{0}(f{0}($n))"),
        ("$n", "f{0}($n) + 1"),
        ("(select count(*) from accounts where balance > $n)", "f{0}($n) * f{0}($n + 1)"),
    ],
)
def test_functions_that_multiply_when_they_are_written_out(first: str, next_: str) -> None:
    chain = [f"function f0(n integer) returns integer = {first};"]
    chain.extend(f"function f{i}(n integer) returns integer = {next_.format(i - 1)};" for i in range(1, 60))
    tool = "tool t(a integer) returns integer? { return f59($a); }\n"
    assert told(HEAD + TAIL + "\n".join(chain) + "\n" + tool) == {"AFS403"}


def test_views_that_multiply() -> None:
    chain = ["view v0 = select id from accounts;"]
    chain.extend(f"view v{i} = select id from v{i - 1} union all select id from v{i - 1};" for i in range(1, 60))
    assert told(HEAD + TAIL + "\n".join(chain)) == {"AFS403"}
    deep = ["view v0 = select id from accounts;", *(f"view v{i} = select id from v{i - 1};" for i in range(1, 300))]
    assert told(HEAD + TAIL + "\n".join(deep)) == {"AFS403"}


def test_records_that_multiply() -> None:
    records = ["record R0 { a integer }", *(f"record R{i} {{ a R{i - 1}, b R{i - 1} }}" for i in range(1, 60))]
    assert told(HEAD + TAIL + "\n".join(records)) == {"AFS305"}
    chain = ["record R0 { a integer }", *(f"record R{i} {{ a R{i - 1} }}" for i in range(1, 300))]
    assert told(HEAD + TAIL + "\n".join(chain)) == {"AFS305"}


def doubled(*, inside: bool) -> str:
    """A query whose records hold the one before twice, sixty times."""
    if not inside:
        links = (f"c{i} as (select {{'a': x, 'b': x}} as x from c{i - 1})" for i in range(1, 60))
        return f"with c0 as (select 1 as x), {', '.join(links)} select to_json(x) as y from c59"
    query = "select 1 as x"
    for i in range(12):
        query = f"select {{'a': s{i}.x, 'b': s{i}.x}} as x from ({query}) as s{i}"
    return f"select to_json(x) as y from ({query}) as s"


@pytest.mark.parametrize("inside", [False, True])
def test_records_of_queries_that_multiply(inside: bool) -> None:
    tool = f'tool t() returns text {{ let a = {doubled(inside=inside)}; reply "x"; }}\n'
    assert told(HEAD + TAIL + tool) == {"AFS403"}


def test_records_of_values_that_multiply() -> None:
    lets = ["let a0 = select 1 as x;"]
    lets.extend(f"let a{i} = select {{'a': $a{i - 1}.x, 'b': $a{i - 1}.x}} as x;" for i in range(1, 60))
    assert "AFS304" in told(HEAD + TAIL + f'tool t() returns text {{ {" ".join(lets)} reply "x"; }}\n')


def test_tables_that_refer_to_each_other_in_a_long_chain() -> None:
    chain = "\n".join(f"table t{i} {{ id -> t{i + 1} key }}" for i in range(250))
    assert told(HEAD + TAIL + chain + "\ntable t250 { id text key }\n") == set()


def test_tables_that_refer_to_each_other_in_a_circle() -> None:
    assert "AFS201" in told(HEAD + TAIL + "table a { id -> b key }\ntable b { id -> c key }\ntable c { id -> a key }\n")
    assert "AFS201" in told(HEAD + TAIL + "table a { id -> a key }\n")


def branches(number: int) -> str:
    return " else ".join(f'if ($a = {i}) {{ fail "{i}"; }}' for i in range(number))


BODIES = {
    "200 branches": branches(200),
    "blocks in blocks": "if ($a = 0) {" * 36 + ' fail "x"; ' + "}" * 36,
    "500 guards": "".join(f'require $a <> {i} else "{i}";\n' for i in range(500)),
    "200 holes": 'fail "' + "{$a} " * 200 + '";',
    "a message of 100 KB": f'fail "{"x" * 100_000}";',
}


@pytest.mark.parametrize("case", BODIES)
def test_bodies_of_many_parts(case: str) -> None:
    assert told(HEAD + TAIL + f"tool t(a integer) {{ {BODIES[case]} }}\n") == set()


def test_an_if_of_too_many_branches() -> None:
    assert told(HEAD + TAIL + f"tool t(a integer) {{ {branches(2_000)} }}\n") == {"AFS005"}


FILES = {
    "500 parameters": (f"tool t({', '.join(f'a{i} integer?' for i in range(500))}) {{ }}", set()),
    "300 columns": (f"table wide {{ id text key, {', '.join(f'a{i} integer?' for i in range(300))} }}", set()),
    "5,000 variants": (f"enum E {{ {', '.join(f'v{i}' for i in range(5_000))} }}\ntool t(e E) {{ }}", set()),
    "200 facts": (
        'task x on w { intent "x" ' + " ".join(f"fact f{i} = {i};" for i in range(200)) + " plan { s = fine(); } }",
        set(),
    ),
    "200 steps": (
        'task x on w { intent "x" plan { s0 = fine(); '
        + " ".join(f"s{i} = fine(a: $s{i - 1});" for i in range(1, 200))
        + " } }",
        set(),
    ),
    "a document of 400 KB": (f'tool t() "{"x" * 400_000}" {{ }}', set()),
    "a comment of 400 KB": (f"-- {'x' * 400_000}\n", set()),
    "400,000 stars": (f"/*{'*' * 400_000}", {"AFS102"}),
    "20,000 quotes": ("'" * 20_001, {"AFS101"}),
    "20,000 backslashes": (f'tool t() "{chr(92) * 20_000}" {{ }}', set()),
    "a digit too many": ("table z { id text key, d decimal(99999999999999999999, 2) }", {"AFS204"}),
    "a million characters": ("-" * 1_000_000, {"AFS005"}),
}


@pytest.mark.parametrize("case", FILES)
def test_files_of_many_parts(case: str) -> None:
    text, codes = FILES[case]
    assert told(HEAD + TAIL + text + "\n") == codes
