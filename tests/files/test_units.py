"""Which environments the files on a command line are files of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from forgec.commands import forgec
from forgec.files.units import arrange

BASE = """environment shop {}

use "shared.afs";

table lamps {
  lamp_id  text  key,
}

tool lamp(lamp_id -> lamps) returns lamps {
  return lamps[$lamp_id];
}

world monday {
  lamps (lamp_id) values ('L1');
}
"""
PART = """extend shop;

test "a lamp" on monday {
  lamp(lamp_id: 'L1');
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    specs = tmp_path / "specs"
    specs.mkdir()
    (specs / "shop.afs").write_text(BASE, encoding="utf-8")
    (specs / "shared.afs").write_text("function one() returns integer = 1;\n", encoding="utf-8")
    (specs / "shop_tests.afs").write_text(PART, encoding="utf-8")
    return specs


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(forgec, list(arguments), catch_exceptions=False)


@pytest.mark.parametrize(
    "named",
    [
        ("specs/shop.afs",),
        ("specs/shop_tests.afs",),
        ("specs/shop_tests.afs", "specs/shop.afs", "specs/shop_tests.afs"),
        ("specs/shared.afs", "specs/shop.afs", "specs/shop_tests.afs"),
        ("specs/../specs/shop_tests.afs", "specs/shared.afs"),
    ],
)
def test_an_environment_is_taken_once_whichever_of_its_files_are_named(named: tuple[str, ...]) -> None:
    tested = invoke("test", *named)
    assert (tested.exit_code, tested.stderr) == (0, "")
    assert "1 passed, 0 failed" in tested.stdout
    compiled = invoke("compile", *named)
    assert (compiled.exit_code, compiled.stdout.count(" -> ")) == (0, 1)
    manifest = json.loads(Path("generated/shop/manifest.json").read_text(encoding="utf-8"))
    assert list(manifest["sources"]) == ["shop.afs", "shared.afs", "shop_tests.afs"]


def test_a_part_stands_for_its_environment_in_every_command() -> None:
    assert "lamp" in invoke("show", "specs/shop_tests.afs").stdout
    assert invoke("check", "specs/shop_tests.afs").stdout.startswith("specs/shop.afs: ok")
    played = CliRunner().invoke(forgec, ["play", "specs/shop_tests.afs"], input="lamp lamp_id=L1\n")
    assert played.exit_code == 0 and "L1" in played.stdout


def test_a_part_whose_environment_is_misspelled_is_not_left_out(folder: Path) -> None:
    (folder / "shop_tests.afs").write_text(PART.replace("shop", "shpo"), encoding="utf-8")
    (folder / "others.afs").write_text("extend kiosk;\n", encoding="utf-8")  # nobody can have meant the shop
    found = invoke("check", "specs/shop.afs")
    assert found.exit_code == 1
    assert "AFS009" in found.output and "did you mean `shop`?" in found.output and "kiosk" not in found.output


def test_tasks_whose_environment_is_misspelled_are_not_left_out(folder: Path) -> None:
    (folder / "kiosk.tasks.jsonl").write_text("", encoding="utf-8")  # nobody can have meant the shop
    assert invoke("check", "specs/shop.afs").exit_code == 0
    (folder / "shpo.tasks.jsonl").write_text("", encoding="utf-8")
    found = invoke("check", "specs/shop.afs")
    assert found.exit_code == 1
    assert "AFS009" in found.output and "specs/shpo.tasks.jsonl" in found.output
    assert "did you mean `shop`?" in found.output


def test_parts_come_and_go(folder: Path) -> None:
    assert invoke("compile", "specs/shop.afs").exit_code == 0
    (folder / "shop_more.afs").write_text("extend shop;\n\nworld tuesday {}\n", encoding="utf-8")
    assert invoke("compile", "specs/shop.afs", "--check").exit_code == 1
    assert invoke("compile", "specs/shop.afs").exit_code == 0
    assert Path("generated/shop/worlds/tuesday.json").is_file()
    (folder / "shop_more.afs").unlink()
    assert invoke("compile", "specs/shop.afs").exit_code == 0
    assert not Path("generated/shop/worlds/tuesday.json").exists()


def test_a_file_that_nobody_uses_is_no_spec(folder: Path) -> None:
    (folder / "lonely.afs").write_text("function two() returns integer = 2;\n", encoding="utf-8")
    result = invoke("check", "specs/lonely.afs", "specs/shop.afs")
    assert result.exit_code == 1
    assert "AFS210" in result.stderr and "a spec that uses this file" in result.stderr


def test_files_that_nobody_could_have_meant_are_no_parts(folder: Path) -> None:
    (folder / ".#shop_tests.afs").symlink_to("somebody@somewhere")
    (folder / "gone.afs").symlink_to("nowhere")
    (folder / "folder.afs").mkdir()
    (folder / "bytes.afs").write_bytes(b"\xff\xfe\x00")
    (unit,) = arrange([Path("specs/shop.afs")])
    assert [part.name for part in unit.parts] == ["shop_tests.afs"]


def test_a_part_that_is_a_link_out_of_the_folder_is_refused(folder: Path) -> None:
    outside = folder.parent / "outside.afs"
    outside.write_text("extend shop;\n", encoding="utf-8")
    (folder / "linked.afs").symlink_to(outside)
    result = invoke("check", "specs/shop.afs")
    assert result.exit_code == 1
    assert "error[AFS006]" in result.stderr and "--> specs/linked.afs" in result.stderr


def test_texts_and_comments_are_no_heads(folder: Path) -> None:
    comments = "-- environment one {}\n/*\nextend two;\n*/\n"
    text = comments + 'extend /* not */ -- three\n  shop;\n\npolicy """\nextend four;\n"""\n'
    (folder / "odd.afs").write_text(text, encoding="utf-8")
    (unit,) = arrange([Path("specs/odd.afs")])
    assert (unit.base.name, [part.name for part in unit.parts]) == ("shop.afs", ["odd.afs", "shop_tests.afs"])


@pytest.mark.parametrize("files", [3, 150])
def test_a_spec_is_bounded_in_all_of_its_files(folder: Path, files: int) -> None:
    filler = "-- " + "x" * (400_000 if files == 3 else 10) + "\n"
    for i in range(files):
        (folder / f"part{i}.afs").write_text(f"extend shop;\n{filler}", encoding="utf-8")
    result = invoke("check", "specs/shop.afs")
    assert result.exit_code == 1 and "error[AFS005]: a spec has at most" in result.stderr


def test_what_is_unused_in_a_file_that_others_may_use_is_no_news(folder: Path) -> None:
    (folder / "shop_tests.afs").write_text(PART + "\nfunction two() returns integer = 2;\n", encoding="utf-8")
    checked = invoke("check", "specs/shop.afs")
    assert "`two` is never used" in checked.stderr and "`one`" not in checked.stderr
