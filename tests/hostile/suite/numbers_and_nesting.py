"""Numbers that no type holds, and brackets in brackets."""

from tests.hostile.suite.case import Case, body, query, said, value


def case(count: int) -> str:
    return value("case when true then " * count + "1" + " end" * count)


CASES = (
    Case("a number of 10,000 digits", "AFS403", value("9" * 10_000)),
    Case("a number of 41 digits", "AFS403", value("9" * 41)),
    Case("an exponent beyond doubles", "AFS403", value("1e400")),
    Case("an exponent without digits", "AFS401", value("1e")),
    Case("a number as bits", "AFS304", value("0b1111")),
    Case("a number in hexadecimal", "AFS304", value("0xffff")),
    Case("an underscore in a number", "", value("1_000_000"), "it is a million, for DuckDB as for Python"),
    Case("a decimal of 400 digits", "AFS405", value("cast(1 as decimal(400, 2))")),
    Case("a decimal of more decimals than digits", "AFS301", value("cast(1 as decimal(4, 18))")),
    Case("a decimal whose digits are a fraction", "AFS405", value("cast(1 as decimal(18.5))")),
    Case("a decimal whose digits have an exponent", "AFS405", value("cast(1 as decimal(1e3))")),
    Case("a decimal whose digits are a name", "AFS405", value("cast(1 as decimal(x))")),
    Case("a decimal whose digits are a text", "AFS405", value("cast(1 as decimal('a', 2))")),
    Case("a declared decimal of a number of digits that is no number", "AFS204", said(
        "table z { id text key, d decimal(99999999999999999999, 2) }")),
    Case("a declared decimal of no digits", "AFS204", said("table z { id text key, d decimal(0, 0) }")),
    Case("a text with a length", "", value("cast('a' as varchar(99999999999))"), "DuckDB has no lengths of texts, and takes it for `text`"),
    Case("a day that does not exist", "AFS301", value("date '2025-02-30'")),
    Case("a year that does not exist", "", body("return date '10000-01-01';").replace("id -> accounts)", "id -> accounts) returns date"),
         "a call of it is a fault"),
    Case("a world's number beyond its column", "AFS304", said("world z { accounts (id, owner, balance) values ('a', 'b', 1e30); }")),
    Case("a world's number with too many decimals", "", said(
        "world z { accounts (id, owner, balance) values ('a', 'b', 0.12345678901234567890); }"),
        "it is rounded, as all that is stored is"),
    Case("a world's number that is none", "AFS304", said(
        "world z { accounts (id, owner, balance) values ('a', 'b', cast('nan' as double)); }")),
    Case("a default that no column holds", "", said("table z { id text key, n integer default 9007199254740992 }"),
         "a call that inserts it is refused"),
    Case("a clock in the year 0", "AFS301", value("1").replace("2025-01-01 09:00:00", "0000-01-01 00:00:00")),
    Case("an interval of a thousand million years", "", value("now() + interval 999999999 year"), "a call of it is a fault"),
    Case("a product beyond integers", "", value("9007199254740991 * 9007199254740991 * 9007199254740991"),
         "a call of it is a fault"),
    Case("41 brackets", "AFS105", value("(" * 41 + "1" + ")" * 41)),
    Case("50,000 brackets", "AFS105", value("(" * 50_000 + "1" + ")" * 50_000)),
    Case("50,000 brackets that are never closed", "AFS105", value("(" * 50_000)),
    Case("50,000 lists", "AFS105", value("[" * 50_000 + "]" * 50_000)),
    Case("50,000 records", "AFS105", value("{'a': " * 50_000 + "1" + "}" * 50_000)),
    Case("2,000 negations", "AFS401", value("not " * 2_000 + "true")),
    Case("2,000 signs", "AFS401", value("- " * 2_000 + "1")),
    Case("600 cases in cases", "AFS401", case(600)),
    Case("2,000 casts", "AFS403", value("1" + "::integer" * 2_000)),
    Case("2,000 sums", "AFS403", value("+".join(["1"] * 2_000))),
    Case("2,000 comparisons", "AFS403", value(" = ".join(["true"] * 2_000))),
    Case("300,000 values of a list", "AFS403", value(f"$n in ({','.join(map(str, range(300_000 // 6)))})")),
    Case("900 unions", "AFS403", query(" union ".join(["select 1 as x"] * 900))),
    Case("300 selects in selects", "AFS209", query("select x from (" * 30 + "select 1 as x" + ") as q" * 30)),
    Case("500 dots", "AFS403", value("accounts['A1']" + ".a" * 500)),
    Case("blocks in blocks", "AFS105", body("if ($n = 0) {" * 5_000 + "}" * 5_000)),
    Case("lists of lists", "AFS305", said("table z { id text key, xs integer" + "[]" * 5_000 + " }")),
    Case("maps of maps", "AFS105", said("table z { id text key, m " + "map(text, " * 300 + "integer" + ")" * 300 + " }")),
    Case("tables in tables", "AFS218", said("table z { id text key, " + "a list { b text, " * 30 + "c text" + " }" * 30 + " }")),
    Case("records of records that double", "AFS305", said(
        "record R0 { a integer }\n" + "".join(f"record R{i} {{ a R{i - 1}, b R{i - 1} }}\n" for i in range(1, 60)))),
    Case("functions that double", "AFS403", said(
        "function f0(n integer) returns integer = $n;\n"
        + "".join(f"function f{i}(n integer) returns integer = f{i - 1}($n) + f{i - 1}($n);\n" for i in range(1, 60))
        + "tool t(n integer) returns integer? { return f59($n); }")),
    Case("views that double", "AFS403", said("view v0 = select id from accounts;\n" + "".join(
        f"view v{i} = select id from v{i - 1} union all select id from v{i - 1};\n" for i in range(1, 60)))),
    Case("actions that double", "AFS511", said("action a0() { delete from notes where false; }\n" + "".join(
        f"action a{i}() {{ do a{i - 1}(); do a{i - 1}(); }}\n" for i in range(1, 40)))),
    Case("a text of a message that is all holes", "AFS005", body('fail "' + "{$n}" * 20_000 + '";')),
)  # fmt: skip
