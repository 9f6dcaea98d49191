"""Queries that go through more rows than anyone has, and bodies that never end."""

from tests.hostile.suite.case import Case, body, query, said

MANY = ", ".join(map(str, range(300)))
LISTS = " ".join(f"join unnest([{MANY}]) as p{i}(x) on true" for i in range(3))

CASES = (
    Case("rows out of nothing", "AFS404", query("select count(*) as n from range(1000000000000)")),
    Case("rows out of nothing, by another name", "AFS405", query("select * from generate_series(1, 1000000000) as t(i)")),
    Case("a table repeated", "AFS404", query("select * from repeat_row(1, 2, num_rows := 1000000000)")),
    Case("recursion", "AFS405", query("with recursive r(n) as (select 1 union all select n + 1 from r) select n from r")),
    Case("recursion without the word", "AFS201", query("with r as (select 1 as n union all select n + 1 from r) select n from r")),
    Case("a product by a comma", "AFS406", query("select a.id from accounts a, accounts b")),
    Case("a product by its name", "AFS406", query("select a.id from accounts a cross join accounts b")),
    Case("a product by what is always true", "AFS406", query("select a.id from accounts a join accounts b on true")),
    Case("a product by equal constants", "AFS406", query("select a.id from accounts a join accounts b on 1 = 1")),
    Case("a product without a condition", "AFS406", query("select a.id from accounts a join accounts b")),
    Case("sixty products", "AFS406", query("select count(*) as n from " + ", ".join(f"accounts a{i}" for i in range(60)))),
    Case("a join by what is near", "AFS405", query("select a.id from accounts a asof join accounts b on a.id >= b.id")),
    Case("a query for each row", "AFS406", query("select a.id from accounts a, lateral (select 1 as x) b")),
    Case("rows turned into columns", "AFS405", query("select * from (pivot accounts on owner using count(*))")),
    Case("columns turned into rows", "AFS405", query("unpivot accounts on owner into name n value v")),
    Case("a window over all rows", "AFS405", query("select sum(balance) over (order by id) as x from accounts")),
    Case("a loop without rows", "AFS101", body("while (true) { }")),
    Case("loops in loops in loops in loops", "AFS507", body(
        "".join(f"each r{i} in (select id from accounts) {{ " for i in range(5)) + "}" * 5)),
    Case("the product of three lists of 300, in a tool", "", query(f"select count(*) as n from accounts {LISTS}"),
         "it is stopped when it is called, in time"),
    Case("an invariant that cannot be computed over a world", "AFS209", said(
        f"invariant heavy: (select count(*) from accounts {LISTS} join unnest([{MANY}]) as q(x) on true) > 0;")),
    Case("an invariant over thirty joined texts", "AFS403", said(
        "invariant heavy: (with c0 as (select owner as x from accounts)"
        + "".join(f", c{i} as (select x || x as x from c{i - 1})" for i in range(1, 31))
        + " select count(*) from c30 where length(x) > 0) > 0;")),
    Case("an invariant that casts what is no number", "AFS606", said(
        "invariant odd: not exists (select 1 from accounts where cast(owner as integer) > 0);")),
    Case("an invariant that asks for one row and finds two", "AFS606", said(
        "invariant odd: (select id from accounts) <> 'x';")),
    Case("more rows by lot than may be", "AFS625", said(
        "world big { accounts generate 100000000 { id = 'X' || n(); owner = 'x'; } }")),
    Case("tables whose rows by lot can never be", "AFS621", said(
        "world odd { accounts generate 10 { id = 'X' || n(); owner = 'x'; balance = -5; } }")),
)  # fmt: skip
