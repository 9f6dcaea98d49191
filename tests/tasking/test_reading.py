"""Lines that differ in texts alone are checked once, and each is read as it would be by itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from forgec.model.spec import Spec
from forgec.pipeline import check
from forgec.tasking.reading import Reader
from forgec_runtime.tasks import Task

SPECS = Path(__file__).parents[2] / "specs"


@pytest.fixture(scope="module")
def library() -> Spec:
    spec = check(SPECS / "library.afs").spec
    assert spec is not None
    return spec


def line(*reasons: str, **parts: Any) -> str:
    calls = [
        {"name": "books", "tool": "search_books", "arguments": {"words": "a"}},
        {"name": "loans", "tool": "list_loans", "arguments": {"member_id": "M003"}},
    ]
    plan = [*calls, *({"name": f"r{i}", "reason": {"sql": sql}} for i, sql in enumerate(reasons))]
    return json.dumps({"name": "a_task", "world": "main_library", "intent": "You ask.", "plan": plan, **parts})


def sample(*keys: str) -> list[dict[str, str]]:
    return [{"name": "who", "rows": f"from members where member_id in ({', '.join(map(repr, keys))})"}]


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(
            [line(f"select book_id from $books where title in ('{one}', '{two}')") for one, two in
             [("SPQR", "James"), ("James", "SPQR"), ("Women & Power", "SPQR"), ("SPQR", "SPQR")]],
            id="texts that change places, and one twice",
        ),
        pytest.param(
            [line(f"select book_id from $books where title = '{text}'") for text in
             ("", "a ''quoted'' word", "{braces} and {{more}}", "title", "a", "two\\nlines", "café -- no comment")],
            id="texts of any kind",
        ),
        pytest.param(
            [line(f"select loan_id from $loans where due = date '{day}' and due < today()") for day in
             ("2025-03-14", "2025-03-15", "2025-03-14")],
            id="a day that is today",
        ),
        pytest.param(
            [line(f"select book_id from $books where queue_length(book_id) > 0 and title = '{title}'") for title in
             ("waiting", "SPQR", "waiting")],
            id="a text that stands in a function",
        ),
        pytest.param(
            [line(f"select loan_id from $loans where title = '{title}' and due < today() + interval 3 day") for title in
             ("SPQR", "3")],
            id="a number that is a text in the tree",
        ),
        pytest.param(
            [line(f"select book_id from $books where shelf = '{shelf}' and year = '{shelf}'") for shelf in ("a", "b")],
            id="what does not compile",
        ),
        pytest.param([line("select 1 as x", samples=sample(*keys)) for keys in
                      [("M001", "M002"), ("M003", "M001"), ("M001",), ("M002", "M003")]], id="samples"),
        pytest.param(
            [line("select 1 as x", change=[f"update books set shelf = '{shelf}' where book_id = '{book}'"])
             for shelf, book in (("crime", "B101"), ("history", "B102"), ("crime", "crime"))]
            + [line("select 1 as x", change=["insert into loans (member_id, book_id, due, renewals, status, closed_on) "
                                             f"values ('{member}', 'B101', date '{due}', 0, '{status}', null)"])
               for member, due, status in (("M001", "2025-03-14", "lent"), ("lent", "2025-03-15", "returned"))],
            id="changes",
        ),
    ],
)  # fmt: skip
def test_a_line_is_read_as_if_it_were_the_only_one(library: Spec, lines: Sequence[str]) -> None:
    reader = Reader(library)
    assert [told(reader.read(one)) for one in lines] == [told(Reader(library).read(one)) for one in lines]


def told(found: Any) -> Any:
    return repr(found) if isinstance(found, Task) else [(one.code, one.message) for one in found.diagnostics]
