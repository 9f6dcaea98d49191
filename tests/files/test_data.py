"""Values come out of files of data as they went in, and every one of them is found where it stands."""

from __future__ import annotations

import csv
import io
import json
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgec.diagnostics import Report
from forgec.files.data import DataFiles
from forgec.files.folder import Folder, NoFile
from forgec.files.parquet import parquet_documents
from forgec.files.places import Places
from forgec.pipeline import check_source
from forgec.source import Source
from forgec_runtime import types as t
from forgec_runtime.data.documents import MAX_BYTES, Kind, Unreadable, documents_in, text_of
from forgec_runtime.data.rows import Reader, Row
from forgec_runtime.schema import Column, Table
from forgec_runtime.types import Mismatch

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=8)
TYPES: dict[str, tuple[t.Type, st.SearchStrategy[Any]]] = {
    "a": (t.Text(), TEXTS),
    "b": (t.Integer(), st.integers(-t.MAX_INTEGER, t.MAX_INTEGER)),
    "c": (t.Decimal(18, 4), st.decimals(-(10**13), 10**13, places=4)),
    "d": (t.Double(), st.floats(-1e200, 1e200)),
    "e": (t.Boolean(), st.booleans()),
    "f": (t.Date(), st.dates()),
    "g": (t.Timestamp(), st.datetimes()),
    "h": (t.List(t.Text()), st.lists(TEXTS, max_size=3)),
    "i": (t.Map(t.Text(), t.Decimal(6, 2)), st.dictionaries(TEXTS, st.decimals(0, 9999, places=2), max_size=3)),
    "j": (t.Record("", (t.Field("x", t.Text(), True), t.Field("y", t.Integer()))),
          st.fixed_dictionaries({"x": st.none() | TEXTS, "y": st.integers(0, 9)})),
}  # fmt: skip
PARTS: Table[Any] = Table(
    "things_parts",
    (Column("k", t.Text()), Column("pos", t.Integer()), Column("v", t.Text())),
    ("k", "pos"),
    path="things.parts",
    parent="things",
    kind="list",
)
THINGS: Table[Any] = Table(
    "things",
    (Column("k", t.Text()), *(Column(name, type_, optional=True) for name, (type_, _) in TYPES.items())),
    ("k",),
    parts=("k", *TYPES, PARTS),
)
ROWS = st.lists(
    st.fixed_dictionaries({name: st.none() | values for name, (_, values) in TYPES.items()}), min_size=1, max_size=3
)


def plain(value: Any) -> Any:
    """A value as JSON has it; a decimal as a number, all its digits written."""
    if isinstance(value, Decimal):
        return Spelled(format(value, "f"))
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, list):
        return [plain(part) for part in value]
    return value.isoformat() if hasattr(value, "isoformat") else value


class Spelled(float):
    """A number that `json.dumps` writes as it was spelled."""

    def __new__(cls, text: str) -> Spelled:
        made = super().__new__(cls, text)
        made.text = text
        return made

    text: str

    def __repr__(self) -> str:
        return self.text


def dumped(value: Any) -> str:
    """JSON with spelled numbers: only the encoder in Python asks for their `repr`."""
    if isinstance(value, Spelled):
        return value.text
    if isinstance(value, dict):
        return "{" + " , ".join(f"{json.dumps(key)} : {dumped(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",\n ".join(map(dumped, value)) + "]"
    return json.dumps(value)


def read(text: str, kind: Kind, at: str = "") -> list[Row]:
    reader = Reader({"things": THINGS, "things_parts": PARTS}, {})
    rows = list(reader.rows(THINGS, documents_in(text, kind, at)))
    assert reader.problems == []
    return rows


@given(ROWS, st.sampled_from(["json", "jsonl", "object"]))
def test_json(rows: list[dict[str, Any]], form: str) -> None:
    documents = [{"k": f"k{i}", **plain(row), "parts": [{"v": "x"}, {"v": "y"}]} for i, row in enumerate(rows)]
    kind: Kind = "jsonl" if form == "jsonl" else "json"
    if form == "jsonl":
        text = "\n\n".join(dumped(one).replace("\n", " ") for one in documents)
    elif form == "json":
        text = dumped({"all": {"things": documents}})
    else:
        text = dumped({"all": {"things": {one["k"]: one for one in documents}}})
    at = "" if kind == "jsonl" else "all.things"
    found = read(text, kind, at)
    things = [row for row in found if row.table is THINGS]
    assert [{name: row.values[name] for name in TYPES} for row in things] == rows
    assert [row.values["v"] for row in found if row.table is PARTS] == ["x", "y"] * len(rows)
    places = Places(Source("data.json", text), kind, at)
    for row, document in zip(things, documents, strict=True):
        for name in TYPES:
            assert json.loads(places.value(row.document, (name,)).text) == json.loads(dumped(document[name]))
            assert json.loads(places.name(row.document, (name,)).text) == name
        assert json.loads(places.value(row.document, ("parts", 1, "v")).text) == "y"


@given(ROWS)
def test_csv(rows: list[dict[str, Any]]) -> None:
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_MINIMAL)
    writer.writerow(["k", *TYPES])
    cells = [{name: None if row[name] is None else field(row[name]) for name in TYPES} for row in rows]
    for i, row in enumerate(cells):
        writer.writerow([f"k{i}", *("" if cell is None else cell for cell in row.values())])
    found = read(out.getvalue(), "csv")
    assert [{name: row.values[name] for name in TYPES} for row in found] == [
        {name: None if row[name] in (None, "") else row[name] for name in TYPES} for row in rows
    ]
    places = Places(Source("data.csv", out.getvalue()), "csv")
    for thing in found:
        assert places.value(thing.document, ("k",)).text == thing.values["k"]
        assert places.name(thing.document, ("e",)).text == "e"


def field(value: Any) -> str:
    if isinstance(value, dict | list):
        return dumped(plain(value))
    return str(plain(value)).lower() if isinstance(value, bool) else str(plain(value))


@given(st.text(max_size=40), st.sampled_from(["csv", "json", "jsonl"]), st.sampled_from(["", "a", "a.b"]))
def test_any_text_is_read_or_refused(text: str, kind: Kind, at: str) -> None:
    reader = Reader({"things": THINGS, "things_parts": PARTS}, {})
    try:
        list(reader.rows(THINGS, documents_in(text, kind, at)))
    except Unreadable:
        return
    places = Places(Source("data", text), kind, at)
    for problem in reader.problems:
        assert places.value(problem.document, problem.path).end <= len(text)
        assert places.name(problem.document, problem.path).end <= len(text)


LEAVES = st.none() | st.booleans() | st.integers() | TEXTS


@given(st.recursive(LEAVES, lambda one: st.lists(one) | st.dictionaries(TEXTS, one)))
def test_any_document_is_taken_apart_or_refused(value: Any) -> None:
    for text in (json.dumps(value), json.dumps([{"k": "x", "parts": value, "h": value, "i": value, "j": value}])):
        reader = Reader({"things": THINGS, "things_parts": PARTS}, {})
        try:
            list(reader.rows(THINGS, documents_in(text, "json", "")))
        except Unreadable:
            continue
        places = Places(Source("data", text), "json")
        for problem in reader.problems:
            assert places.value(problem.document, problem.path).text


def test_what_is_too_large_is_refused() -> None:
    with pytest.raises(Unreadable, match="at most"):
        text_of(b" " * (MAX_BYTES + 1))
    for text in ("[" * 200_000, "[1" + "0" * 5_000 + "]", '{"a": 1e400}', "[" + "1e999999999," * 3 + "1]"):
        try:
            reader = Reader({"things": THINGS, "things_parts": PARTS}, {})
            list(reader.rows(THINGS, documents_in(text, "json", "")))
            assert reader.problems
        except Unreadable:
            pass
    with pytest.raises(Mismatch):
        t.Decimal(6, 2).decode("1E+999999999")


def test_other_separators_are_said() -> None:
    with pytest.raises(Unreadable, match="separated by commas"):
        documents_in("k;a\n1;2\n", "csv", "")


def test_a_quote_that_is_never_closed_takes_no_time() -> None:
    with pytest.raises(Unreadable, match="never closed"):
        documents_in("a\n" + '"' + 'x""' * 2_000_000, "csv", "")


def test_files_are_read_once_and_only_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "spec").mkdir()
    (tmp_path / "spec" / "a.csv").write_text("a\n1\n", encoding="utf-8")
    (tmp_path / "secret.csv").write_text("a\n1\n", encoding="utf-8")
    (tmp_path / "spec" / "link.csv").symlink_to(tmp_path / "secret.csv")
    os.mkfifo(tmp_path / "spec" / "pipe.csv")
    files = DataFiles(Folder(tmp_path / "spec"))
    source = Source((tmp_path / "spec" / "shop.afs").as_posix(), "")
    assert files.read("a.csv", source) == files.read("./a.csv", source)
    assert list(files.digests) == ["a.csv"]
    for name in ("link.csv", "pipe.csv", "../secret.csv", str(tmp_path / "secret.csv"), "b.csv", ""):
        with pytest.raises(NoFile):
            files.read(name, source)


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "things.parquet"
    duckdb.sql(
        "copy (select 'T' || i as k, i::decimal(6, 2) as price, date '2024-02-29' as day, [{'v': 'x'}] as parts,"
        f" map {{'a': i}} as counts, {{'x': null::varchar, 'y': i}} as box from range(3) t(i)) to '{path.as_posix()}'"
    )
    spec = """environment shop "A shop" {}
record Box { x text?, y integer }
table things {
  k text key, price decimal(6, 2), day date, counts map(text, integer), box Box, parts list { v text } }
tool day_of(k -> things as t) returns date "The day." { return $t.day; }
world w { things from "things.parquet"; }
"""
    report = Report()
    source = Source((tmp_path / "shop.afs").as_posix(), spec)
    found = check_source(tmp_path / "shop.afs", source, report).spec
    assert found is not None, [one.message for one in report]
    rows = found.worlds["w"].rows
    assert [row["price"] for row in rows["things"]] == [Decimal("0.00"), Decimal("1.00"), Decimal("2.00")]
    assert rows["things"][2]["box"] == {"x": None, "y": 2}
    assert [row["v"] for row in rows["things_parts"]] == ["x", "x", "x"]


@pytest.mark.parametrize("value", ["date 'infinity'", "timestamp '-infinity'"])
def test_parquet_has_no_dates_without_end(value: str, tmp_path: Path) -> None:
    path = tmp_path / "things.parquet"
    duckdb.sql(f"copy (select 'T' as k, {value} as \"the \"\" day\") to '{path.as_posix()}'")
    with pytest.raises(Unreadable, match="infinite"):
        parquet_documents(path.read_bytes())


def test_damaged_parquet_is_told_without_the_place_of_the_copy() -> None:
    with pytest.raises(Unreadable) as told:
        parquet_documents(b"PAR1xxxxPAR1")
    assert "forgec-" not in str(told.value)


def test_a_line_that_is_no_document_has_its_place() -> None:
    with pytest.raises(Unreadable, match="stands twice") as told:
        documents_in('{"k": 1}\n{"k": 1, "k": 2}\n', "jsonl", "")
    assert told.value.start == 9
