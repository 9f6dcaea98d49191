"""One value that grows without end, or one expression that is never done."""

from tests.hostile.suite.case import Case, body, query, value


def doubled(step: str, first: str, last: str, links: int) -> str:
    """A query that makes a value of the one before, so many times."""
    chain = "".join(f", c{i} as (select {step} as x from c{i - 1})" for i in range(1, links + 1))
    return query(f"with c0 as (select {first} as x){chain} select {last} as y from c{links}")


CASES = (
    Case("a text repeated", "AFS404", value("repeat('x', 1000000000)")),
    Case("a text padded", "AFS404", value("lpad('x', 1000000000, 'y')")),
    Case("a text formatted", "AFS404", value("format('{:>2000000000}', 'x')")),
    Case("a text printed", "AFS404", value("printf('%2000000000d', 1)")),
    Case("a text replaced by a longer one", "AFS414", value("replace($word, 'a', 'bbbb')")),
    Case("a text replaced by any one", "AFS413", value("replace($word, 'a', $word)")),
    Case("nothing replaced by something", "AFS414", value("replace($word, '', 'bbbb')")),
    Case("a pattern that is tried in every way", "AFS404", value("regexp_matches($word, '(a*)*b')")),
    Case("all matches of a pattern", "AFS404", value("regexp_extract_all($word, 'a')")),
    Case("a distance of texts", "AFS404", value("levenshtein($word, $word)")),
    Case("a list of all numbers", "AFS404", value("len(range(2000000000))")),
    Case("a list of any length", "AFS404", value("list_resize([1], 2000000000)")),
    Case("a function for all elements", "AFS404", value("list_transform([1, 2], lambda x: x + 1)")),
    Case("a function over all elements", "AFS404", value("list_reduce([1, 2], lambda x, y: x * y)")),
    Case("a power", "AFS405", value("9 ** 9 ** 9")),
    Case("a factorial", "AFS404", value("factorial(30)")),
    Case("bits shifted", "AFS405", value("1 << 62")),
    Case("a number of any length", "AFS405", value("cast($word as bignum)")),
    Case("JSON that crashes the engine", "AFS405", value("cast(cast($word as json) as variant)")),
    Case("bits of a text", "AFS404", value("bit_count(cast($word as bit))")),
    Case("a wait", "AFS404", value("sleep_ms(30000)")),
    Case("a wait as a method", "AFS404", value("'x'.sleep_ms()")),
    Case("a power that is calculated", "", value("calculate('9**9**9')"), "a calculation knows no power"),
    Case("records of records", "AFS403", doubled("{'a': x, 'b': x}", "1", "to_json(x)", 30)),
    Case("a text joined to itself, thirty times", "AFS403", doubled("x || x", "$word", "length(x)", 30)),
    Case("a text of the spec joined to itself, thirty times", "AFS403", doubled("x || x", "'x'", "length(x)", 30)),
    Case("a list joined to itself, thirty times", "AFS403", doubled("list_concat(x, x)", "[1]", "len(x)", 30)),
    Case("a text joined to itself by a function", "AFS403", doubled("twice(x)", "$word", "length(x)", 30).replace(
        "tool t(", "function twice(x text) returns text = $x || $x;\ntool t(")),
    Case("a text joined to itself in unions", "AFS403", doubled("x from c0 union all select x || x", "$word", "length(x)", 30)),
    Case("a text joined to itself in lists", "AFS411", query(
        "with c0 as (select $word as x)"
        + "".join(f", c{i} as (select p.y || p.y as x from c{i - 1} join unnest([x]) as p(y) on true)" for i in range(1, 31))
        + " select length(x) as y from c30")),
    Case("a text of 500 others", "AFS403", value(" || ".join(["$word"] * 500))),
    Case("JSON of JSON, thirty times", "AFS403", doubled("to_json(x)", "$word", "length(x)", 30)),
    Case("texts with long ones between", "AFS403", query(f"select string_agg(owner, '{'x' * 1_000}') as x from accounts")),
    Case("a text joined to itself in lets", "", body(
        "let x0 = $word; " + " ".join(f"let x{i} = $x{i - 1} || $x{i - 1};" for i in range(1, 60))),
        "a call of it is a fault: texts that are joined have an end"),
)  # fmt: skip
