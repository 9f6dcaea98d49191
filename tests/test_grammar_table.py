"""The parser that is kept is the parser that is built; whatever lies in its place, a spec is read all the same."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from forgec.cache import cache_folder
from forgec.resources import resource
from forgec.syntax import table

SPECS = sorted((Path(__file__).parent.parent / "specs").glob("*.afs"))
OPTIONS = {"propagate_positions": True, "maybe_placeholders": True}


def kept() -> list[Path]:
    return sorted((cache_folder() / "grammar").iterdir())


@pytest.fixture
def no_building(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(*_: object) -> None:
        raise AssertionError("the parser was built again")

    monkeypatch.setattr(table, "_build", build)


@pytest.fixture
def built() -> None:
    table.parser(**OPTIONS)


@pytest.mark.parametrize("options", [OPTIONS, {"keep_all_tokens": True, "maybe_placeholders": False}], ids=str)
def test_what_is_kept_parses_as_what_is_built(options: dict[str, bool], request: pytest.FixtureRequest) -> None:
    first = table.parser(**options)
    request.getfixturevalue("no_building")
    second = table.parser(**options)
    for path in SPECS:
        text = path.read_text(encoding="utf-8")
        assert first.parse(text) == second.parse(text)


def test_other_options_are_another_parser(built: None) -> None:
    table.parser(keep_all_tokens=True)
    assert len(kept()) == 2


@pytest.mark.parametrize("damage", [b"", b"\n", b"{}", b"0\n{}", b"\xff\n\xff", b"gone"])
def test_a_damaged_table_is_made_again(damage: bytes, built: None, no_building: None) -> None:
    (place,) = kept()
    sound = place.read_bytes()
    if damage == b"gone":
        place.unlink()
    else:
        place.write_bytes(damage + sound[len(damage) + 100 :])
    with pytest.raises(AssertionError, match="built again"):
        table.parser(**OPTIONS)
    place.write_bytes(sound)
    table.parser(**OPTIONS)


def test_a_table_of_another_shape_is_made_again(built: None, no_building: None) -> None:
    (place,) = kept()
    for text in (b"{}", b"[]", b'{"data": {"options": {}}, "memo": {"0": 1}}'):
        place.write_bytes(hashlib.sha256(text).hexdigest().encode() + b"\n" + text)
        with pytest.raises(AssertionError, match="built again"):
            table.parser(**OPTIONS)


def test_a_grammar_that_has_changed_is_another_table(
    built: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = resource("grammar", "afs.lark").read_text(encoding="utf-8")
    (tmp_path / "afs.lark").write_text(text + "\n// changed\n", encoding="utf-8")
    monkeypatch.setattr(table, "resource", lambda *names: tmp_path / names[-1])
    table.parser(**OPTIONS)
    assert len(kept()) == 2


def test_few_tables_are_kept(built: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MAX_FILES", 1)
    table.parser(keep_all_tokens=True)
    assert len(kept()) == 1


def test_without_a_folder_for_it_the_parser_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("FORGEC_CACHE", str(tmp_path / "file"))
    assert table.parser(**OPTIONS).parse("environment shop { }").data == "file"
