"""Whatever could give another answer to the same call in the same state."""

from tests.hostile.suite.case import Case, query, said, value

CASES = (
    Case("a random number", "AFS404", value("random()")),
    Case("a random number in the order", "AFS404", query("select id from accounts order by random()")),
    Case("a seed", "AFS404", value("setseed(0.5)")),
    Case("a random key", "AFS404", value("uuid()")),
    Case("a random key in a default", "AFS404", said("table z { id text key, k text default (gen_random_uuid()) }")),
    Case("the time of the machine", "AFS404", value("current_timestamp")),
    Case("the time of the transaction", "AFS404", value("transaction_timestamp()")),
    Case("the time of the machine, as a text", "AFS301", value("cast('now' as timestamp)")),
    Case("the day of the machine, as a text", "AFS301", value("date 'today'")),
    Case("an age until now", "AFS404", value("age(timestamp '2020-01-01')")),
    Case("a zone of time", "AFS405", value("now() at time zone 'UTC'")),
    Case("the time in a default", "AFS404", said("table z { id text key, at timestamp default (current_timestamp) }")),
    Case("the time in a check", "AFS404", said("table z { id text key, at timestamp check (at < localtimestamp) }")),
    Case("a sample of rows", "AFS405", query("select id from accounts using sample 1 rows")),
    Case("a sample of a table", "AFS405", query("select id from accounts tablesample 50%")),
    Case("any value of a group", "AFS405", query("select any_value(id) as x from accounts")),
    Case("the first of a group", "AFS404", query("select first(id) as x from accounts")),
    Case("the most frequent, of equals any", "AFS404", query("select mode(id) as x from accounts")),
    Case("the largest by another column, of equals any", "AFS404", query("select arg_max(id, owner) as x from accounts")),
    Case("an estimate", "AFS404", query("select approx_count_distinct(id) as x from accounts")),
    Case("numbers of rows in no order", "AFS405", query("select row_number() over () as x from accounts")),
    Case("one row of each, of equals any", "AFS405", query("select distinct on (owner) id from accounts")),
    Case("rows from the middle", "AFS405", query("select id from accounts limit 1 offset 1")),
    Case("a tenth of the rows", "AFS405", query("select id from accounts limit 10 percent")),
    Case("a hash of the engine", "AFS404", value("hash('x')")),
    Case("a sequence", "AFS404", value("nextval('s')")),
    Case("rows by the place of others", "AFS405", query(
        "select a.id from accounts a positional join accounts b")),
    Case("lot, outside of a world that is made by lot", "AFS404", value("uniform(1, 6)")),
    Case("the clock of the environment", "", value("now()"), "it stands still, and is the same in every episode"),
    Case("some rows, in no order that is told", "", query("select id from accounts limit 1"),
         "the compiler completes the order: the same rows always"),
)  # fmt: skip
