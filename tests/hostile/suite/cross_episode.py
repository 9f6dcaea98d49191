"""Rows, values and places of other episodes, or of the other side."""

from tests.hostile.suite.case import Case, body, query, said, value

USER = "table pockets on user { id text key, pin text }\nuser tool look() returns text? { return pockets['P'].pin; }\n"

CASES = (
    Case("the relation of all calls of a step", "AFS201", query("select * from call")),
    Case("the number of a call", "AFS405", value("call.__cid")),
    Case("the number of a call, of a relation that is named so", "AFS209", query("select call.__cid from accounts call")),
    Case("the changed rows of all calls", "AFS201", query("select * from accounts__changed")),
    Case("the changed rows of all calls, in quotes", "AFS201", query("select * from \"accounts__changed\"")),
    Case("the number of a call of a changed row", "AFS202", query("select accounts.__cid from accounts")),
    Case("whether a row of another call is gone", "AFS202", query("select o.__gone from accounts o")),
    Case("the value of another call", "AFS202", query("select \"call\".word from accounts")),
    Case("a value by the number of its slot", "AFS202", query("select v0 from accounts")),
    Case("the names by which the engine binds values", "AFS203", value("$v0")),
    Case("the names by which the engine binds rows", "AFS203", value("$accounts__0")),
    Case("an answer of the query around this one", "AFS202", query("select q.id from accounts")),
    Case("a table called like the relation of all calls", "AFS209", said("table call { id text key }")),
    Case("a table called like the changed rows of another", "AFS209", said("table accounts__changed { id text key }")),
    Case("a view called like the answers", "AFS209", said("view q = select id from accounts;")),
    Case("a parameter called like a number of a call", "AFS209", said("tool t(__cid integer) { }")),
    Case("a join with the relation of all calls", "AFS201", query("select a.id from accounts a join call c on c.word = a.id")),
    Case("a name of a query like the relation of all calls", "AFS209", query("with call as (select 1 as x) select x from call")),
    Case("a name of a query like the changed rows", "AFS209", query(
        "with accounts__changed as (select 1 as x) select x from accounts__changed")),
    Case("a name of a query that hides a table elsewhere", "AFS201", query(
        "select 1 as a where exists (with z as (select 1 as a) select a from z) and exists (select 1 from z)")),
    Case("a whole row, with whatever it has", "AFS202", query("select accounts from accounts")),
    Case("all columns of a row, with whatever they are", "AFS405", query("select a.* exclude (id) from accounts a")),
    Case("a table of the user in a tool of the agent", "AFS221", said(USER + "tool t() returns text? { return pockets['P'].pin; }")),
    Case("a query of a table of the user in a tool of the agent", "AFS221", said(
        USER + "tool t() returns integer { return (select count(*) from pockets); }")),
    Case("a function that reads the other side", "AFS221", said(
        USER + "function pin() returns text = pockets['P'].pin;\ntool t() returns text? { return pin(); }")),
    Case("a reference to the other side", "AFS221", said(USER + "table z { id text key, p -> pockets }")),
    Case("a hidden column in a result", "AFS226", said(
        "table safes { id text key, pin text hidden }\ntool t(id -> safes) returns safes { return safes[$id]; }")),
    Case("a hidden column in a text", "AFS226", said(
        "table safes { id text key, pin text hidden }\ntool t(id -> safes as s) { fail \"{$s.pin}\"; }")),
    Case("a hidden column through a function and a list", "AFS226", said(
        "table safes { id text key, pin text hidden }\nfunction f(id text) returns text = safes[$id].pin;\n"
        "tool t(id -> safes) returns text[] { return [coalesce(f($id), '')]; }")),
    Case("a value of another tool", "AFS203", body("let v = $balance;")),
)  # fmt: skip
