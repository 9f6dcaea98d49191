"""`forgec graph`: which tools lead to which, and how it is drawn."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from forgec.commands import forgec
from forgec.pipeline import check
from forgec.tasking.tool_graph import Link, links, tool_graph

SPECS = Path(__file__).parents[1] / "specs"
DESK = """
environment desk "Books & <people>" { }
table members { member_id text key, name text }
table books { book_id text key, title text, lent_to -> members? }
tool find(name text) returns members.member_id "Find a member" {
  return select member_id from members where name = $name else "nobody";
}
tool all_books() returns books[] "Every book" { return select * from books order by book_id; }
tool book(book_id -> books) returns books "One book" { return books[$book_id]; }
tool lend(book_id -> books as b, to -> members) returns books "Lend \\"one\\" </script>" {
  update books set lent_to = $to where book_id = $book_id;
  return books[$book_id];
}
user tool wait() returns text ends "Give up" { reply "bye"; }
world w { members (member_id, name) values ('M1', 'Ada'); books (book_id, title) values ('B1', 'Emma'); }
"""


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    path = tmp_path / "desk.afs"
    path.write_text(DESK, encoding="utf-8")
    return path


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(forgec, ["graph", *arguments], catch_exceptions=False)


def test_keys_lead_from_results_to_parameters(desk: Path) -> None:
    spec = check(desk).spec
    assert spec is not None
    graph = tool_graph(spec)
    assert list(graph) == ["find", "all_books", "book", "lend", "wait"]
    assert set(links(graph, "gives")) == {
        ("find", "lend", Link("gives", "members", "", "to")),
        ("all_books", "book", Link("gives", "books", "book_id", "book_id")),
        ("all_books", "lend", Link("gives", "books", "book_id", "book_id")),
        ("all_books", "lend", Link("gives", "members", "lent_to", "to")),
        ("book", "lend", Link("gives", "members", "lent_to", "to")),  # not book_id, which its caller knew
    }
    assert set(links(graph, "changes")) == {
        ("lend", "all_books", Link("changes", "books")),
        ("lend", "book", Link("changes", "books")),
    }


def test_keys_in_nested_rows_lead_on() -> None:
    spec = check(SPECS / "retail.afs").spec
    assert spec is not None
    found = set(links(tool_graph(spec), "gives"))
    link = Link("gives", "products", "items.product_id", "product_id")
    assert ("get_order_details", "get_product_details", link) in found


def test_what_is_nested_in_a_result_is_read() -> None:
    spec = check(SPECS / "retail.afs").spec
    assert spec is not None
    found = set(links(tool_graph(spec), "changes"))
    link = Link("changes", "orders_payment_history")
    assert ("modify_pending_order_payment", "get_order_details", link) in found


def test_mermaid(desk: Path) -> None:
    result = invoke(str(desk), "--changes")
    assert result.exit_code == 0
    assert result.stdout == (
        "flowchart LR\n"
        '  t_find["find"]\n'
        '  t_all_books["all_books"]\n'
        '  t_book["book"]\n'
        '  t_lend[["lend"]]\n'
        "  subgraph the user's\n"
        '    t_wait(["wait"])\n'
        "  end\n"
        '  t_find -->|"to"| t_lend\n'
        '  t_all_books -->|"book_id"| t_book\n'
        '  t_all_books -->|"book_id, lent_to -> to"| t_lend\n'
        '  t_book -->|"lent_to -> to"| t_lend\n'
        '  t_lend -.->|"books"| t_all_books\n'
        '  t_lend -.->|"books"| t_book\n'
    )


def test_dot(desk: Path) -> None:
    text = invoke(str(desk), "--format", "dot").stdout
    assert '  label="desk: Books & <people>";\n' in text
    assert '"lend" [tooltip="Lend \\"one\\" </script>", peripheries=2];' in text
    assert '  "find" -> "lend" [label="to"];\n' in text
    assert "dotted" not in text


class Page(HTMLParser):
    """The start tags of a page, and what stands in its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.lasttag == "script" and self.scripts:
            self.scripts[-1] += data


def test_a_page_needs_nothing_else_and_says_what_the_spec_says(desk: Path, tmp_path: Path) -> None:
    out = tmp_path / "desk.html"
    assert invoke(str(desk), "--out", str(out)).exit_code == 0
    text = out.read_text(encoding="utf-8")
    page = Page(text)
    drawn = [attrs["data-name"] for tag, attrs in page.tags if tag == "g"]
    assert drawn == ["find", "all_books", "book", "lend", "wait"]
    assert sum(tag == "path" and "data-source" in attrs for tag, attrs in page.tags) == 4
    data = json.loads(page.scripts[0])
    assert [node["doc"] for node in data["nodes"]][3] == 'Lend "one" </script>'
    assert len(page.scripts) == 2  # no text of the spec ended one
    assert "<title>desk: Books &amp; &lt;people&gt;</title>" in text
    assert not re.search(r"(src|href)\s*=|url\(http|@import", text)


def test_arrows_that_lead_back_stay_on_the_page() -> None:
    text = invoke(str(SPECS / "retail.afs"), "--changes", "--format", "html").stdout
    width = float(re.findall(r'<svg width="([\d.]+)"', text)[0])
    curves = [
        [float(x) for x in re.findall(r"(-?[\d.]+) -?[\d.]+", d)] for d in re.findall(r' d="(M [^"]+C[^"]+)"', text)
    ]
    assert any(x3 < x0 for x0, _, _, x3 in curves)
    for x0, x1, x2, x3 in curves:
        parts = [i / 50 for i in range(51)]
        places = [(1 - t) ** 3 * x0 + 3 * (1 - t) ** 2 * t * x1 + 3 * (1 - t) * t**2 * x2 + t**3 * x3 for t in parts]
        assert min(places) >= 0 and max(places) <= width


def test_the_same_spec_is_drawn_with_the_same_bytes(desk: Path) -> None:
    assert invoke(str(desk), "--format", "html").stdout == invoke(str(desk), "--format", "html").stdout


def test_what_cannot_be_drawn(desk: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.afs"
    broken.write_text("environment x { } tool t(", encoding="utf-8")
    assert invoke(str(broken)).exit_code == 1
    assert invoke(str(tmp_path / "none.afs")).exit_code == 2
    result = invoke(str(desk), "--out", str(tmp_path / "no" / "folder.html"))
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr


def test_a_file_whose_ending_tells_no_format_is_not_guessed_at(desk: Path, tmp_path: Path) -> None:
    result = invoke(str(desk), "--out", str(tmp_path / "desk.svg"))
    assert result.exit_code == 2 and "end it in .mmd, .dot" in result.output
    assert not (tmp_path / "desk.svg").exists()
    assert invoke(str(desk), "--out", str(tmp_path / "desk.svg"), "--format", "dot").exit_code == 0


def test_what_all_rows_have_because_it_was_given_is_no_gift() -> None:
    """`bills_of` gives the bills of a line, and with each its line, which whoever calls it knows."""
    spec = check(SPECS / "phone.afs").spec
    assert spec is not None
    found = list(links(tool_graph(spec), "gives"))
    assert {(target, link.field) for source, target, link in found if source == "bills_of"} == {("charge", "bill_id")}
