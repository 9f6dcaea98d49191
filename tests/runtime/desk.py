"""A small environment as the compiler would generate it: a library's desk, with one task."""

import json
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from forgec_runtime import types as t
from forgec_runtime.call import Call
from forgec_runtime.environment import Environment
from forgec_runtime.errors import Refusal
from forgec_runtime.query import Query
from forgec_runtime.schema import Column, Table
from forgec_runtime.tasks import Computed, Expectation, Fact, Literal, Plan, Reason, Ref, Saying, Step, Task
from forgec_runtime.tool import Parameter, Tool
from forgec_runtime.world import World

TEXT, MONEY = t.Text(), t.Decimal(8, 2)
STATUS = t.Enum("MemberStatus", ("active", "suspended"))
CLOCK = datetime(2025, 3, 1, 9)

MEMBERS: Table[Any] = Table(
    "members",
    columns=(
        Column("member_id", TEXT),
        Column("email", TEXT, unique=True),
        Column("status", STATUS),
        Column("fines", MONEY),
    ),
    key=("member_id",),
)
BOOKS: Table[Any] = Table(
    "books",
    columns=(Column("isbn", TEXT), Column("title", TEXT), Column("copies", t.Integer())),
    key=("isbn",),
)
LOANS: Table[Any] = Table(
    "loans",
    columns=(
        Column("loan_id", TEXT),
        Column("member_id", TEXT, references="members"),
        Column("isbn", TEXT, references="books"),
        Column("due", t.Date()),
        Column("noted_at", t.Timestamp(), optional=True, scored=False),
    ),
    key=("loan_id",),
    serial="L{0000}",
)
WORLD: dict[str, list[dict[str, Any]]] = {
    "members": [
        {"member_id": "M1", "email": "mia@example.org", "status": "suspended", "fines": "4.50"},
        {"member_id": "M2", "email": "ola@example.org", "status": "active", "fines": "0.00"},
    ],
    "books": [
        {"isbn": "111", "title": "Mugs", "copies": 1},
        {"isbn": "222", "title": "Ink", "copies": 3},
    ],
    "loans": [{"loan_id": "L0001", "member_id": "M2", "isbn": "111", "due": "2025-03-05", "noted_at": None}],
}

FIND = Query(
    "select m.member_id from {members} as m where m.email = call.email",
    tables=("members",),
    values=(("email", "VARCHAR"),),
    columns=("member_id",),
    order="",
)
SHELF = Query(
    "select b.isbn, b.title, b.copies from {books} as b",
    tables=("books",),
    values=(),
    columns=("isbn", "title", "copies"),
    order="q.isbn",
)
MOST = Query(
    "select s.isbn from unnest(call.shelf) as u(s) order by s.copies desc, s.isbn limit 1",
    tables=(),
    values=(("shelf", "STRUCT(isbn VARCHAR, title VARCHAR, copies BIGINT)[]"),),
    columns=("isbn",),
    order="",
)
LENT = Query(
    "select exists (select 1 from {loans} as l where l.member_id = 'M1' and l.isbn = call.pick) as ok",
    tables=("loans",),
    values=(("pick", "VARCHAR"),),
    columns=("ok",),
    order="",
)
SHELF_SIZE = Query("select count(*) as n from {loans} as l", tables=("loans",), values=(), columns=("n",), order="")


def find_member(call: Call, email: str) -> Any:
    rows = call.rows(FIND, email)
    if not rows:
        raise Refusal("No member has this e-mail address")
    return rows[0]["member_id"]


def member_account(call: Call, member_id: str) -> dict[str, Any]:
    m = call.find(MEMBERS, member_id)
    if m is None:
        raise call.unknown("member_id", member_id)
    return {"status": m["status"], "fines": m["fines"]}


def pay_fines(call: Call, member_id: str, amount: Decimal) -> Decimal:
    m = call.find(MEMBERS, member_id)
    if m is None:
        raise call.unknown("member_id", member_id)
    if not 0 < amount <= m["fines"]:
        raise Refusal(f"The amount must lie between 0 and {m['fines']}")
    left: Decimal = m["fines"] - amount
    call.update(MEMBERS, m, {"fines": left, "status": m["status"] if left else "active"})
    return left


def list_books(call: Call) -> list[dict[str, Any]]:
    return call.rows(SHELF)


def lend_book(call: Call, member_id: str, isbn: str) -> Any:
    m, b = call.find(MEMBERS, member_id), call.find(BOOKS, isbn)
    if m is None:
        raise call.unknown("member_id", member_id)
    if b is None:
        raise call.unknown("isbn", isbn)
    if m["fines"] != 0:
        call.breaks("no_lending_with_fines")
    if b["copies"] <= 0:
        raise Refusal(f"No copy of {b['title']} is in")
    call.update(BOOKS, b, {"copies": b["copies"] - 1})
    loan = {"member_id": member_id, "isbn": isbn, "due": date(2025, 3, 22), "noted_at": CLOCK}
    return call.insert(LOANS, loan)


def return_book(call: Call, loan_id: str) -> None:
    loan = call.find(LOANS, loan_id)
    if loan is None:
        raise call.unknown("loan_id", loan_id)
    book = call.find(BOOKS, loan["isbn"])
    assert book is not None
    call.update(BOOKS, book, {"copies": book["copies"] + 1})
    call.delete(LOANS, loan)


def note(call: Call, loan_id: str, at: datetime) -> None:
    loan = call.find(LOANS, loan_id)
    if loan is None:
        raise call.unknown("loan_id", loan_id)
    call.update(LOANS, loan, {"noted_at": at})


def _tool(function: Callable[..., Any], *parameters: Parameter) -> Tool:
    return Tool(function.__name__, function, doc="", parameters=parameters)


MEMBER = Parameter("member_id", TEXT, references="members")
ISBN = Parameter("isbn", TEXT, references="books")
LOAN = Parameter("loan_id", TEXT, references="loans")
TOOLS = (
    _tool(find_member, Parameter("email", TEXT)),
    _tool(member_account, MEMBER),
    _tool(pay_fines, MEMBER, Parameter("amount", MONEY)),
    _tool(list_books),
    _tool(lend_book, MEMBER, ISBN),
    _tool(return_book, LOAN),
    _tool(note, LOAN, Parameter("at", t.Timestamp())),
)

SETTLE = Task(
    name="settle_and_borrow",
    world="front_desk",
    intent="You want to clear whatever you owe and borrow the book with the most copies in.",
    facts=(Fact("email", "mia@example.org", doc="your e-mail address"),),
    plans=(
        Plan(
            (
                Step("who", "find_member", {"email": Ref("email")}),
                Step("acct", "member_account", {"member_id": Ref("who")}),
                Step("left", "pay_fines", {"member_id": Ref("who"), "amount": Ref("acct", "fines")}),
                Step("shelf", "list_books", {}),
                Reason("pick", Computed(MOST, inputs=(Ref("shelf"),)), doc="the book with the most copies in"),
                Step("loan", "lend_book", {"member_id": Ref("who"), "isbn": Ref("pick")}, after=("left",)),
            )
        ),
    ),
    expect=(Expectation("exists (select 1 from loans where isbn = $pick)", Computed(LENT, inputs=(Ref("pick"),))),),
    says=(
        Saying("the user is told which book it was", Ref("pick")),
        Saying("the user is told what was paid", Ref("acct", "fines")),
        Saying("the user is told how many books are out", Computed(SHELF_SIZE)),
    ),
)
RETURN = Task(
    name="bring_back",
    world="front_desk",
    intent="You bring a book back.",
    plans=(Plan((Step("done", "return_book", {"loan_id": Literal("L0001")}),)),),
)


def make_desk(folder: Path) -> Environment:
    """The environment, its world written to `folder`."""
    path = folder / "front_desk.json"
    path.write_text(json.dumps(WORLD), encoding="utf-8")
    return Environment(
        name="desk",
        doc="",
        clock=CLOCK,
        policy="",
        tables=(MEMBERS, BOOKS, LOANS),
        tools=TOOLS,
        invariants=(),
        worlds=(World("front_desk", path),),
        tasks=(SETTLE, RETURN),
    )
