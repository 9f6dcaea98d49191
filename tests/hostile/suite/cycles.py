"""What depends on itself."""

from tests.hostile.suite.case import Case, said

MAIN = "environment desk { }\n%s\ntable a { id text key }\ntool t() { }\nworld w { }\n"

CASES = (
    Case("a function that calls itself", "AFS404", said("function f(n integer) returns integer = f($n - 1);")),
    Case("functions that call each other", "AFS404", said(
        "function f() returns integer = g();\nfunction g() returns integer = f();")),
    Case("a function that calls itself by a view", "AFS404", said(
        "view v = select f() as x;\nfunction f() returns integer = (select max(x) from v);")),
    Case("a view of itself", "AFS201", said("view v = select id from v;")),
    Case("views of each other", "AFS201", said("view v = select id from u;\nview u = select id from v;")),
    Case("an action that does itself", "AFS220", said("action a() { do a(); }")),
    Case("actions that do each other", "AFS220", said("action a() { do b(); }\naction b() { do a(); }")),
    Case("a type made of itself", "AFS204", said("type T = T check (value is not null);")),
    Case("types made of each other", "AFS204", said("type T = U check (value > 0);\ntype U = T check (value > 0);")),
    Case("a record that holds itself", "AFS204", said("record R { r R }")),
    Case("a record that holds lists of itself", "AFS204", said("record R { r R[] }")),
    Case("keys that are each other's", "AFS209", said("table p { id -> q key }\ntable q { id -> p key }")),
    Case("a key that is its own", "AFS201", said("table p { id -> p key }")),
    Case("a column that refers to its own table", "", said("table p { id text key, up -> p? }"), "rows may form trees"),
    Case("a world that extends itself", "AFS623", said("world z extends z { }")),
    Case("worlds that extend each other", "AFS623", said("world y extends z { }\nworld z extends y { }")),
    Case("a plan that waits for itself", "AFS705", said(
        'task k on w { intent "x" plan { a = fine(a: $b); b = fine(a: $a); } }')),
    Case("a plan that comes after itself", "AFS705", said('task k on w { intent "x" plan { a = fine() after a; } }')),
    Case("a request after itself", "AFS101", said('task k on w { request r "x" after r; plan { a = fine(); } }')),
    Case("syncs that wake each other", "AFS512", said(
        "single s { a integer default 0 }\nsingle u on user { a integer default 0 }\n"
        "sync one { update s set a = u.a; }\nsync two { update u set a = s.a; }")),
    Case("a file that uses itself", "AFS007", {"desk.afs": MAIN % 'use "desk.afs";'}),
    Case("files that use each other", "AFS007", {
        "desk.afs": MAIN % 'use "b.afs";', "b.afs": 'use "c.afs";\n', "c.afs": 'use "b.afs";\n'}),
    Case("a default that reads its own column", "AFS202", said("table p { id text key, n integer default (n + 1) }")),
    Case("a fact of itself", "AFS203", said('task k on w { intent "x" fact f = $f; plan { a = fine(a: $f); } }')),
)  # fmt: skip
