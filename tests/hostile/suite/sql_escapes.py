"""SQL that would do more than select, insert, update and delete rows of declared tables."""

from tests.hostile.suite.case import Case, body, query, said, value

CASES = (
    Case("a table is made", "AFS405", body("let v = create table z as select 1;")),
    Case("a table is dropped", "AFS405", body("let v = drop table accounts;")),
    Case("a function of SQL is shadowed", "AFS405", body("let v = create macro lower(x) as 'pwned';")),
    Case("a table is shadowed for the session", "AFS405", body("let v = create temp table accounts as select 1 as id;")),
    Case("a trigger", "AFS405", body("let v = create trigger tr after insert on accounts for each statement select 1;")),
    Case("a setting", "AFS405", body("let v = set lock_configuration = false;")),
    Case("a pragma", "AFS405", body("let v = pragma enable_verification;")),
    Case("an extension", "AFS405", body("let v = install shellfs from community;")),
    Case("a transaction of its own", "AFS405", body("let v = commit;")),
    Case("a checkpoint, which looks like a column", "AFS202", value("checkpoint")),
    Case("a second statement behind the first", "AFS101", body("let v = (select 1; drop table accounts);")),
    Case("a comment that hides the end", "AFS101", value("1 /* ; */ ; delete from accounts --")),
    Case("a delete inside of a query", "AFS405", query(
        "with d as (delete from accounts where true returning id) select id from d")),
    Case("a delete in the place of a table", "AFS401", query("select id from (delete from accounts where true returning id)")),
    Case("an update without a condition", "AFS407", body("update accounts set owner = 'x';")),
    Case("an update of a table that is not declared", "AFS201", body("update secret_ledger set pin = 'x' where true;")),
    Case("an update of the rows of a view", "AFS224", said(
        "view v = select id from accounts; tool t() { update v set id = 'x' where true; }")),
    Case("an insert that replaces", "AFS405", body("insert or replace into accounts (id, owner) values ('x', 'y');")),
    Case("an insert with a way out", "AFS405", body(
        "insert into accounts (id, owner) values ('x', 'y') on conflict do nothing;")),
    Case("a key that the engine makes is set", "AFS408", body("insert into notes (id, account) values ('N99', 'A1');")),
    Case("a query that writes a table", "AFS405", query("select id into z from accounts")),
    Case("a lock on rows", "AFS405", query("select id from accounts for update")),
    Case("merge", "AFS405", body(
        "let v = merge into accounts using accounts b on true when matched then delete;")),
    Case("a guard that writes", "AFS401", body("require (delete from accounts where true) else \"x\";")),
    Case("a check that writes", "AFS401", said("table z { id text key check ((delete from accounts where true) is null) }")),
    Case("the name of a schema before a table", "AFS201", query("select id from main.accounts")),
    Case("the name of a database before a table", "AFS201", query("select id from memory.main.accounts")),
    Case("a function of a schema", "AFS404", value("system.main.lower('X')")),
    Case("a function as a method", "AFS404", value("'x'.upper()")),
    Case("a quoted name of a function", "AFS405", value("\"sleep_ms\"(1)")),
)  # fmt: skip
