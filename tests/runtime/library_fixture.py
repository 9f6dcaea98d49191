"""A small environment in the shape of generated code: a library with guards and constraints."""

import json
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from forgec_runtime import Call, Environment, Invariant, Parameter, Refusal, Tool, World
from forgec_runtime import types as t
from tests.runtime.library_schema import (
    BOOKS,
    FIND_MEMBER,
    HOLDS,
    LATEST_FIRST,
    LOANS,
    MEMBERS,
    NOW,
    ONE_LOAN_PER_TITLE,
    OPEN_LOANS,
    HoldsRow,
    LoansRow,
    MembersRow,
)


def find_member(call: Call, email: str) -> Any:
    """The only member with an address."""
    return call.value(FIND_MEMBER, email)


def member_account(call: Call, member_id: str) -> MembersRow:
    m = call.find(MEMBERS, member_id)
    if m is None:
        raise call.unknown("member_id", member_id)
    return m


def list_loans(call: Call, member_id: str) -> list[dict[str, Any]]:
    return call.rows(LATEST_FIRST, member_id)


def lend_book(call: Call, member_id: str, isbn: str) -> LoansRow:
    """Lend one copy of a book to a member for 21 days."""
    m = call.find(MEMBERS, member_id)
    if m is None:
        raise call.unknown("member_id", member_id)
    if m["status"] != "active":
        raise Refusal(f"Member {m['name']} is suspended")
    if m["fines"] != 0:
        call.breaks("no_lending_with_fines")
    if call.value(OPEN_LOANS, member_id) >= 3:
        raise Refusal("A member may hold three books at a time")
    return _lend(call, member_id, isbn)


def lend_two(call: Call, member_id: str, first: str, second: str) -> Any:
    """Two writes, and between them and after them a query that must see them."""
    before = call.value(OPEN_LOANS, member_id)
    _lend(call, member_id, first)
    between = call.value(OPEN_LOANS, member_id)
    _lend(call, member_id, second)
    return [before, between, call.value(OPEN_LOANS, member_id)]


def _lend(call: Call, member_id: str, isbn: str) -> LoansRow:
    book = call.find(BOOKS, isbn)
    if book is not None:
        call.update(BOOKS, book, {"copies": book["copies"] - 1})
    values = {"member_id": member_id, "isbn": isbn, "due": date(2025, 3, 22), "returned": False, "noted_at": NOW}
    return call.insert(LOANS, values)


def return_book(call: Call, loan_id: str) -> None:
    loan = call.find(LOANS, loan_id)
    if loan is None:
        raise call.unknown("loan_id", loan_id)
    book = call.find(BOOKS, loan["isbn"])
    if book is not None:
        call.update(BOOKS, book, {"copies": book["copies"] + 1})
    call.update(LOANS, loan, {"returned": True})


def pay_fines(call: Call, member_id: str, amount: Decimal) -> Decimal:
    m = call.find(MEMBERS, member_id)
    if m is None:
        raise call.unknown("member_id", member_id)
    return call.update(MEMBERS, m, {"fines": m["fines"] - amount})["fines"]


def add_member(call: Call, member_id: str, email: str) -> MembersRow:
    values = {"name": member_id, "email": email, "address": None, "status": "active", "fines": Decimal("0.00")}
    return call.insert(MEMBERS, {"member_id": member_id, **values})


def swap_emails(call: Call, one: str, other: str) -> None:
    first, second = call.find(MEMBERS, one), call.find(MEMBERS, other)
    assert first is not None
    assert second is not None
    call.update(MEMBERS, first, {"email": second["email"]})
    call.update(MEMBERS, second, {"email": first["email"]})


def change_emails(call: Call, ids: list[str], email: str) -> None:
    for member_id in ids:
        member = call.find(MEMBERS, member_id)
        assert member is not None
        call.update(MEMBERS, member, {"email": email})


def remove_member(call: Call, member_id: str) -> None:
    m = call.find(MEMBERS, member_id)
    if m is None:
        raise call.unknown("member_id", member_id)
    call.delete(MEMBERS, m)


def remove_loan(call: Call, loan_id: str) -> None:
    loan = call.find(LOANS, loan_id)
    if loan is None:
        raise call.unknown("loan_id", loan_id)
    call.delete(LOANS, loan)


def hold(call: Call, member_id: str, isbn: str) -> HoldsRow:
    return call.insert(HOLDS, {"member_id": member_id, "isbn": isbn, "place": 1})


def find_hold(call: Call, member_id: str, isbn: str | None) -> Any:
    return call.find(HOLDS, (member_id, isbn))


def book(call: Call, isbn: str) -> Mapping[str, Any] | None:
    return call.find(BOOKS, isbn)


def tool(function: Any, *parameters: Parameter, **required: t.Type) -> Tool:
    """A tool whose parameters are given in full, or by name and type."""
    declared = (*parameters, *(Parameter(name, type_) for name, type_ in required.items()))
    return Tool(function.__name__, doc=function.__doc__ or "", parameters=declared, function=function)


TEXT = t.Text()
TOOLS = (
    tool(find_member, email=TEXT),
    tool(member_account, member_id=TEXT),
    tool(list_loans, member_id=TEXT),
    tool(lend_book, member_id=TEXT, isbn=TEXT),
    tool(lend_two, member_id=TEXT, first=TEXT, second=TEXT),
    tool(return_book, loan_id=TEXT),
    tool(pay_fines, member_id=TEXT, amount=t.Decimal(8, 2)),
    tool(add_member, member_id=TEXT, email=TEXT),
    tool(swap_emails, one=TEXT, other=TEXT),
    tool(change_emails, ids=t.List(TEXT), email=TEXT),
    tool(remove_member, member_id=TEXT),
    tool(remove_loan, loan_id=TEXT),
    tool(hold, member_id=TEXT, isbn=TEXT),
    tool(find_hold, Parameter("member_id", TEXT), Parameter("isbn", TEXT, optional=True)),
    tool(book, isbn=TEXT),
)


def member(member_id: str, name: str, email: str, fines: str = "0.00", status: str = "active") -> dict[str, Any]:
    address = {"street": "1 Elm St", "city": None}
    return {
        "member_id": member_id,
        "name": name,
        "email": email,
        "address": address,
        "status": status,
        "fines": fines,
    }


def loan(loan_id: str, member_id: str, isbn: str, due: str, returned: bool = False) -> dict[str, Any]:
    return {
        "loan_id": loan_id,
        "member_id": member_id,
        "isbn": isbn,
        "due": due,
        "returned": returned,
        "noted_at": None,
    }


WORLD: dict[str, list[dict[str, Any]]] = {
    "members": [
        member("M1", "Mia Li", "mia@example.org"),
        member("M2", "Ola Nor", "ola@example.org", "4.50"),
        member("M3", "Sam Poe", "sam@example.org", "12.00", "suspended"),
    ],
    "books": [{"isbn": f"B{i}", "title": f"Book {i}", "copies": i} for i in range(10)],
    "loans": [
        loan("L0001", "M1", "B1", "2025-03-05"),
        loan("L0007", "M1", "B2", "2025-03-10"),
        loan("L0003", "M2", "B1", "2025-02-01", returned=True),
    ],
    "holds": [{"member_id": "M2", "isbn": "B1", "place": 1}],
}
INVARIANTS = (Invariant("one_loan_per_title", "A member holds a title at most once", ONE_LOAN_PER_TITLE),)


def make_library(folder: Path, *, books: int = 10, extra: tuple[Tool, ...] = ()) -> Environment:
    """The environment; its world, with so many books, is written to `folder`."""
    shelf = [{"isbn": f"B{i}", "title": f"Book {i}", "copies": i} for i in range(books)]
    path = folder / "front_desk.json"
    path.write_text(json.dumps({**WORLD, "books": shelf}), encoding="utf-8")
    return Environment(
        name="library",
        clock=NOW,
        tables=(MEMBERS, BOOKS, LOANS, HOLDS),
        tools=(*TOOLS, *extra),
        worlds=(World("front_desk", path),),
        invariants=INVARIANTS,
    )
