"""The tables and queries of a small library, in the shape of generated code."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any, TypedDict

from forgec_runtime import Call, Column, Query, Table
from forgec_runtime import types as t

NOW = datetime(2025, 3, 1, 9)
STATUS = t.Enum("MemberStatus", ("active", "suspended"))
ADDRESS = t.Record("Address", (t.Field("street", t.Text()), t.Field("city", t.Text(), optional=True)))


class MembersRow(TypedDict):
    member_id: str
    name: str
    email: str
    address: dict[str, Any] | None
    status: str
    fines: Decimal


class BooksRow(TypedDict):
    isbn: str
    title: str
    copies: int


class LoansRow(TypedDict):
    loan_id: str
    member_id: str
    isbn: str
    due: date
    returned: bool
    noted_at: datetime | None


class HoldsRow(TypedDict):
    member_id: str
    isbn: str
    place: int


def check_members(call: Call, row: MembersRow) -> None:
    if not row["fines"] >= 0:
        raise call.violation("members: fines must satisfy fines >= 0")


def check_books(call: Call, row: BooksRow) -> None:
    if not row["copies"] >= 0:
        raise call.violation("books: copies must satisfy copies >= 0")


MEMBERS: Table[MembersRow] = Table(
    "members",
    columns=(
        Column("member_id", t.Text()),
        Column("name", t.Text()),
        Column("email", t.Text(), unique=True),
        Column("address", ADDRESS, optional=True),
        Column("status", STATUS),
        Column("fines", t.Decimal(8, 2)),
    ),
    key=("member_id",),
    check=check_members,
)
BOOKS: Table[BooksRow] = Table(
    "books",
    columns=(Column("isbn", t.Text()), Column("title", t.Text()), Column("copies", t.Integer())),
    key=("isbn",),
    check=check_books,
)
LOANS: Table[LoansRow] = Table(
    "loans",
    columns=(
        Column("loan_id", t.Text()),
        Column("member_id", t.Text(), references="members"),
        Column("isbn", t.Text(), references="books"),
        Column("due", t.Date()),
        Column("returned", t.Boolean()),
        Column("noted_at", t.Timestamp(), optional=True, scored=False),
    ),
    key=("loan_id",),
    serial="L{0000}",
)
HOLDS: Table[HoldsRow] = Table(
    "holds",
    columns=(
        Column("member_id", t.Text(), references="members"),
        Column("isbn", t.Text(), references="books"),
        Column("place", t.Integer()),
    ),
    key=("member_id", "isbn"),
)

FIND_MEMBER = Query(
    "select m.member_id from {members} as m where lower(m.email) = lower(call.email)",
    tables=("members",),
    values=(("email", "VARCHAR"),),
    columns=("member_id",),
    order="",
)
OPEN_LOANS = Query(
    "select count(*) as n from {loans} as loans where loans.member_id = call.member_id and not loans.returned",
    tables=("loans",),
    values=(("member_id", "VARCHAR"),),
    columns=("n",),
    order="",
)
LATEST_FIRST = Query(
    "select l.loan_id, l.isbn, l.due as _1 from {loans} as l where l.member_id = call.member_id and not l.returned",
    tables=("loans",),
    values=(("member_id", "VARCHAR"),),
    columns=("loan_id", "isbn"),
    order="q._1 desc, q.loan_id",
)
ONE_LOAN_PER_TITLE = Query(
    "select not exists (select 1 from {loans} as l where not l.returned"
    " group by l.member_id, l.isbn having count(*) > 1) as value",
    tables=("loans",),
    values=(),
    columns=("value",),
    order="",
)
