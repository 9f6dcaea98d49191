"""What is known to be up to date is: a run that remembers says what one that does not would say."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from forgec import memory
from forgec.cache import cache_folder
from forgec.commands import forgec
from forgec.files.units import Unit
from forgec.pipeline import Checked, check_unit

BASE = """environment {name} {{}}

use "shared/one.afs";

table lamps {{
  lamp_id  text  key,
}}

tool lamp(lamp_id -> lamps) returns lamps {{
  return lamps[$lamp_id];
}}

world monday {{
  lamps from "lamps.csv";
}}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    specs = tmp_path / "specs"
    (specs / "shared").mkdir(parents=True)
    (specs / "shop.afs").write_text(BASE.format(name="shop"), encoding="utf-8")
    (specs / "shop_more.afs").write_text("extend shop;\n\nworld tuesday {}\n", encoding="utf-8")
    (specs / "shared" / "one.afs").write_text("function one() returns integer = 1;\n", encoding="utf-8")
    (specs / "shared" / "two.afs").write_text("function one() returns integer = 2;\n", encoding="utf-8")
    (specs / "lamps.csv").write_text("lamp_id\nL1\n", encoding="utf-8")
    return specs


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The specs that were not known to be up to date."""
    found: list[str] = []

    def look(unit: Unit, allowed: tuple[str, ...]) -> Checked:
        found.append(unit.base.name)
        return check_unit(unit, allowed)

    monkeypatch.setattr("forgec.commands.compile_unit.check_unit", look)
    return found


def compile_(*arguments: str) -> Result:
    return CliRunner().invoke(forgec, ["compile", *arguments], catch_exceptions=False)


def test_what_is_up_to_date_is_not_looked_at_again(looked_at: list[str]) -> None:
    first = compile_("specs/shop.afs")
    assert (first.exit_code, looked_at) == (0, ["shop.afs"])
    again = compile_("specs/shop_more.afs", "specs/shared/one.afs")
    assert again.stdout.startswith("specs/shop.afs -> generated/shop: 0 written, 13 unchanged, 0 removed")
    assert compile_("specs/shop.afs", "--check").stdout.startswith("specs/shop.afs: generated/shop is up to date")
    assert looked_at == ["shop.afs"]
    compile_("specs/shop.afs", "--force")
    compile_("specs/shop.afs", "--out", "elsewhere")
    assert looked_at == ["shop.afs"] * 3


CHANGES: dict[str, Callable[[Path], object]] = {
    "the spec": lambda specs: _append(specs / "shop.afs"),
    "a part": lambda specs: _append(specs / "shop_more.afs"),
    "a file that is used": lambda specs: _append(specs / "shared" / "one.afs"),
    "a file of data": lambda specs: (specs / "lamps.csv").write_text("lamp_id\nL1\nL2\n", encoding="utf-8"),
    "another part": lambda specs: (specs / "a.afs").write_text("extend shop;\n", encoding="utf-8"),
    "a part that is gone": lambda specs: (specs / "shop_more.afs").unlink(),
    "a link that leads elsewhere": lambda specs: _relink(specs),
    "a generated file": lambda specs: _append(specs.parent / "generated" / "shop" / "policy.md"),
    "a generated file that is gone": lambda specs: (specs.parent / "generated" / "shop" / "policy.md").unlink(),
    "no package": lambda specs: shutil.rmtree(specs.parent / "generated"),
    "forgec": lambda specs: memory.own_digest.cache_clear(),
    "damaged memory": lambda specs: [path.write_bytes(b'{"forgec": 1}') for path in cache_folder().rglob("*.json")],
    "no memory": lambda specs: shutil.rmtree(cache_folder()),
}


def _append(path: Path) -> None:
    path.write_text(path.read_text(encoding="utf-8") + "\n-- more\n", encoding="utf-8")


def _relink(specs: Path) -> None:
    """The same text, but from outside of the folder."""
    outside = specs.parent / "one.afs"
    shutil.move(specs / "shared" / "one.afs", outside)
    (specs / "shared" / "one.afs").symlink_to(outside)


@pytest.mark.parametrize("what", CHANGES)
def test_whatever_changes_is_seen(
    what: str, folder: Path, looked_at: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    compile_("specs/shop.afs")
    CHANGES[what](folder)
    if what == "forgec":
        monkeypatch.setattr(memory, "version", lambda name: "another")
    compile_("specs/shop.afs")
    assert looked_at == ["shop.afs"] * 2


def test_what_has_errors_is_not_remembered(folder: Path, looked_at: list[str]) -> None:
    (folder / "shared" / "one.afs").write_text("function one() returns integer = 'x';\n", encoding="utf-8")
    for _ in range(2):
        assert compile_("specs/shop.afs").exit_code == 1
    assert looked_at == ["shop.afs"] * 2


def test_two_environments_of_one_name_are_refused_as_ever(folder: Path) -> None:
    compile_("specs/shop.afs")
    (folder / "other").mkdir()
    (folder / "other" / "shop.afs").write_text(BASE.format(name="shop").replace('use "shared/one.afs";', ""), "utf-8")
    (folder / "other" / "lamps.csv").write_text("lamp_id\nL1\n", encoding="utf-8")
    assert "error[AFS802]" in compile_("specs/shop.afs", "specs/other/shop.afs").stderr


def test_warnings_are_said_again(folder: Path) -> None:
    first = compile_("specs/shop.afs")
    assert "warning" in first.stdout
    assert compile_("specs/shop.afs").stdout.split(";")[1] == first.stdout.split(";")[1]
    assert compile_("specs/shop.afs", "--strict").exit_code == 1
    found = json.loads(compile_("specs/shop.afs", "--json").stdout)["diagnostics"]
    assert [one["severity"] for one in found] == ["warning"] * len(found) and found


def test_memory_is_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MAX_ENTRIES", 2)
    for name in ("a", "b", "c"):
        compile_("specs/shop.afs", "--out", name)
        time.sleep(0.01)
    assert len(list(cache_folder().rglob("*.json"))) == 2


def test_without_a_place_for_it_nothing_is_remembered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("FORGEC_CACHE", os.fspath(folder / "file"))
    for _ in range(2):
        assert compile_("specs/shop.afs").exit_code == 0


def test_many_environments_are_compiled_by_several_processes(folder: Path) -> None:
    names = [f"shop{i}" for i in range(5)]
    for name in names:
        (folder / f"{name}.afs").write_text(BASE.format(name=name), encoding="utf-8")
    (folder / "shop3.afs").write_text(BASE.format(name="shop3").replace("returns lamps", "returns lamsp"), "utf-8")
    result = compile_(*(f"specs/{name}.afs" for name in names))
    assert result.exit_code == 1 and "error[AFS204]" in result.stderr and "specs/shop3.afs:9" in result.stderr
    assert [line.split()[0] for line in result.stdout.splitlines()] == [f"specs/shop{i}.afs" for i in (0, 1, 2, 4)]
    one = {path.name: path.read_bytes() for path in Path("generated/shop0").rglob("*") if path.is_file()}
    compile_("specs/shop0.afs", "--out", "alone")
    assert one == {path.name: path.read_bytes() for path in Path("alone/shop0").rglob("*") if path.is_file()}
