"""Rows from outside: read only where that is allowed, checked when they are loaded, pinned by their hash."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from forgec.commands import forgec
from forgec.pipeline import check
from forgec_runtime import LoadError, Workers, load_environment

SPEC = """\
environment shop "A shop whose stock is kept elsewhere" { }

table books {
  book_id  text           key serial 'B{00}',
  title    text,
  price    decimal(6, 2)  check (price > 0),
  kind     text           default 'city',
  isbn     text?          unique,
}

table orders {
  order_id  text     key,
  book_id   -> books,
  items list { name text, parts list { label text } },
}

invariant few "Few books": (select count(*) from books) < 4;

tool title_of(book_id -> books as b) returns text { return $b.title; }

world small { books (book_id, title, price) values ('B01', 'Here', 1); }

world large {
  books from package "shop-data" "shop_data/db.json" at "books";
  orders from env "SHOP_ORDERS";
  books (book_id, title, price) values ('B09', 'Written', 1);
}

test "here" on small { title_of(book_id: 'B01') returns 'Here'; }

test "there" on large {
  title_of(book_id: 'B02') returns 'Two';
  expect books['B02'].kind = 'city' and (select count(*) from orders.items.parts) = 2;
}

task here on small { intent "You want the title of B01."; plan { t = title_of(book_id: 'B01'); } says: $t; }

task there on large { intent "You want the title of B02."; plan { t = title_of(book_id: 'B02'); } says: $t; }
"""
BOOKS = {"B01": {"title": "One", "price": 1.50}, "B02": {"title": "Two", "price": 2, "isbn": None}}
ORDERS = [{"order_id": "O1", "book_id": "B09", "items": [{"name": "a", "parts": [{"label": "x"}, {"label": "y"}]}]}]
ALLOWED = ("--allow-source", "shop_data", "--allow-source", "SHOP_ORDERS")
NAMES = ("shop-data", "SHOP_ORDERS")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a spec, a package of data that is installed, and a file that a variable names."""
    site = tmp_path / "site"
    info = site / "shop_data-1.0.dist-info"
    for folder in (site / "shop_data", info):
        folder.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shop-data\nVersion: 1.0\n", encoding="utf-8")
    (info / "RECORD").write_text("shop_data/db.json,,\n../../secret.json,,\n", encoding="utf-8")
    (tmp_path / "shop.afs").write_text(SPEC, encoding="utf-8")
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("SHOP_ORDERS", str(tmp_path / "orders.json"))
    monkeypatch.chdir(tmp_path)
    write(tmp_path)
    yield tmp_path
    sys.path_importer_cache.clear()


def write(place: Path, books: object = BOOKS, orders: object = ORDERS) -> None:
    (place / "site" / "shop_data" / "db.json").write_text(json.dumps({"books": books}), encoding="utf-8")
    (place / "orders.json").write_text(json.dumps(orders), encoding="utf-8")


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(forgec, list(arguments), catch_exceptions=False)


def loaded(*names: str) -> str:
    """What becomes of the large world: the title of a book, or the error."""
    env = load_environment("generated/shop", allow_sources=names)
    try:
        return env.call(env.reset("large"), "title_of", book_id="B02").text
    except LoadError as error:
        return str(error)


def test_nothing_is_read_without_leave(place: Path) -> None:
    (place / "orders.json").unlink()
    assert invoke("compile", "shop.afs").exit_code == 0
    manifest = json.loads((place / "generated/shop/manifest.json").read_text(encoding="utf-8"))
    assert manifest["outside"] == {}
    assert "--allow-source shop-data --allow-source SHOP_ORDERS" in loaded()
    assert "--allow-source SHOP_ORDERS," in loaded("shop-data")
    assert "two" not in (place / "generated/shop/worlds/large.json").read_text(encoding="utf-8").lower()
    assert invoke("test", "shop.afs").stdout.startswith("shop.afs: 1 passed, 0 failed, 1 skipped (--allow-source shop-")
    played = invoke("run", "shop")
    assert (played.exit_code, "shop/there" in played.stdout, "skipped shop/there" in played.stderr) == (0, False, True)


def test_rows_are_read_where_that_is_allowed(place: Path) -> None:
    assert invoke("compile", "shop.afs", *ALLOWED).exit_code == 0
    assert loaded(*NAMES) == '"Two"'
    assert invoke("test", "shop.afs", *ALLOWED).stdout.startswith("shop.afs: 2 passed, 0 failed;")
    assert "shop/there" in invoke("run", "shop", *ALLOWED).stdout
    assert "books: 3" in invoke("show", "shop.afs", "large", *ALLOWED).stdout.replace("  ", " ")
    with Workers("generated/shop", 1, allow_sources=NAMES) as workers:
        assert workers.call(workers.reset("large"), "title_of", book_id="B01").text == '"One"'


def test_the_rows_are_the_same_with_and_without_the_compiler(place: Path) -> None:
    invoke("compile", "shop.afs", *ALLOWED)
    base = load_environment("generated/shop", allow_sources=NAMES).base("large")
    spec = check(Path("shop.afs"), NAMES).spec
    assert spec is not None
    for table in base.tables.values():
        assert list(base.all_rows(table).values()) == list(spec.worlds["large"].rows[table.name])
    (nested,) = (table for table in base.tables.values() if table.title == "orders.items.parts")
    assert list(base.all_rows(nested)) == [("O1", 1, 1), ("O1", 1, 2)]
    (books,) = (table for table in base.tables.values() if table.title == "books")
    assert {key: row["kind"] for key, row in base.all_rows(books).items()} == dict.fromkeys(
        ("B09", "B01", "B02"), "city"
    )
    assert base.serials == {"books": 9}


def test_the_hash_is_kept_and_other_data_are_refused(place: Path) -> None:
    invoke("compile", "shop.afs", *ALLOWED)
    manifest = place / "generated/shop/manifest.json"
    pinned = json.loads(manifest.read_text(encoding="utf-8"))["outside"]
    assert len(pinned) == 2
    assert invoke("compile", "shop.afs", "--check").exit_code == 0
    write(place, books={**BOOKS, "B03": {"title": "Three", "price": 3}})
    (new,) = [
        part for part in loaded(*NAMES).split() if len(part.strip(",")) == 64 and part.strip(",") not in pinned.values()
    ]
    assert "is not what this environment was compiled with" in loaded(*NAMES)
    assert invoke("compile", "shop.afs", "--check").exit_code == 0
    assert invoke("compile", "shop.afs", "--check", *ALLOWED).exit_code == 1
    assert invoke("compile", "shop.afs", *ALLOWED).exit_code == 1  # too many books now
    write(place, books={"B02": {"title": "Two", "price": 3}})
    assert invoke("compile", "shop.afs", *ALLOWED).exit_code == 0
    assert new.strip(",") not in manifest.read_text(encoding="utf-8")
    assert loaded(*NAMES) == '"Two"'


@pytest.mark.parametrize(
    ("books", "orders", "said"),
    [
        ({"B02": {"title": "Two", "price": 0}}, [], "books B02: books: price must satisfy price > 0"),
        ({"B02": {"title": "Two", "price": 0.125}}, [], "['books']['B02']['price']: price must be a number with at"),
        ({"B02": {"titel": "Two", "price": 1}}, [], "unknown column `titel` of `books` (did you mean `title`?)"),
        ({"B02": {"title": "Two"}}, [], "['books']['B02']: a row of `books` must set `price`"),
        ({"B09": {"title": "Two", "price": 1}}, [], "two rows of books with the same key"),
        ({name: {"title": "Two", "price": 1, "isbn": "1"} for name in ("B01", "B02")}, [], "isbn 1 stands twice"),
        ({f"B{i}": {"title": "Two", "price": 1} for i in range(5)}, [], "it breaks the invariant few"),
        (BOOKS, [{"order_id": "O1", "book_id": "B7"}], "orders: book_id B7 is no row of books"),
        (
            BOOKS,
            [{"order_id": "O1", "book_id": "B01", "items": 3}],
            "[1]['items']: the list `orders.items` is an array",
        ),
        (BOOKS, 3, "there is neither an array of rows nor an object"),
    ],
)
def test_rows_that_do_not_hold_are_refused_both_ways(place: Path, books: object, orders: object, said: str) -> None:
    invoke("compile", "shop.afs")
    write(place, books, orders)
    assert said in loaded(*NAMES)
    assert invoke("check", "shop.afs", *ALLOWED).exit_code == 1


def test_a_source_that_is_allowed_and_not_there_is_said(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    invoke("compile", "shop.afs")
    monkeypatch.delenv("SHOP_ORDERS")
    found = invoke("check", "shop.afs", *ALLOWED)
    assert found.exit_code == 1
    assert "AFS610" in found.stderr
    assert "the environment variable SHOP_ORDERS is not set" in found.stderr
    assert "SHOP_ORDERS is not set" in loaded(*NAMES)
    (place / "shop.afs").write_text(SPEC.replace("shop_data/db.json", "shop_data/secret.json"), encoding="utf-8")
    found = invoke("check", "shop.afs", "--allow-source", "shop-data")
    assert "the package shop-data 1.0 has no file shop_data/secret.json" in found.stderr


def test_check_says_which_rows_it_did_not_look_at(place: Path) -> None:
    said = invoke("check", "shop.afs", "--allow-source", "shop-dta").stdout
    assert "rows outside not looked at (--allow-source SHOP_ORDERS --allow-source shop-data)" in said
    assert "not looked at" not in invoke("check", "shop.afs", *ALLOWED).stdout


def test_play_refuses_a_world_that_may_not_be_read_and_goes_on(place: Path) -> None:
    invoke("compile", "shop.afs")
    played = CliRunner().invoke(forgec, ["play", "shop"], input="title_of book_id=B01\n.undo\n", catch_exceptions=False)
    assert '"Here"' in played.stdout
    played = CliRunner().invoke(forgec, ["play", "shop", "--json"], input="title_of book_id=B01\n.world large\n")
    assert "--allow-source shop-data" in played.stdout
