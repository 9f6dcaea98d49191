"""Same spec and seed, same bytes: in fresh processes, whatever their hash seed, folder, time zone and language."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SPEC = ROOT / "specs" / "library.afs"

SURROUNDINGS = (
    {"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C"},
    {"PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8"},
    {"PYTHONHASHSEED": "4242", "TZ": "America/St_Johns", "LC_ALL": "tr_TR.UTF-8"},
)


def _forgec(folder: Path, variables: dict[str, str], *arguments: str) -> str:
    result = subprocess.run(
        [sys.executable, "-m", "forgec", *arguments],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return f"{result.returncode}\n{result.stdout}\n{result.stderr}"


def _in_each(tmp_path: Path, text: str, *arguments: str) -> list[str]:
    """What a command prints in each of the surroundings; `spec.afs` holds `text`."""
    printed = []
    for i, variables in enumerate(SURROUNDINGS):
        folder = tmp_path / f"folder{i}"
        folder.mkdir(exist_ok=True)
        (folder / "spec.afs").write_text(text, encoding="utf-8")
        printed.append(_forgec(folder, variables, *arguments))
    return printed


def test_generated_files(tmp_path: Path) -> None:
    _in_each(tmp_path, SPEC.read_text(encoding="utf-8"), "compile", "spec.afs")
    made = [
        {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
        for folder in sorted(tmp_path.iterdir())
    ]
    assert len(made[0]) > 20
    assert made[0] == made[1] == made[2]


def test_generated_worlds(tmp_path: Path) -> None:
    spec = ROOT / "tests" / "cases" / "generated_worlds" / "spec.afs"
    _in_each(tmp_path, spec.read_text(encoding="utf-8"), "compile", "spec.afs")
    worlds = [path.read_bytes() for path in sorted(tmp_path.rglob("small.json"))]
    assert len(worlds) == 3
    assert len(worlds[0]) > 5_000
    assert worlds[0] == worlds[1] == worlds[2]


def test_findings_of_a_broken_spec(tmp_path: Path) -> None:
    broken = SPEC.read_text(encoding="utf-8").replace("member_id", "membre_id", 7).replace("require ", "requre ", 1)
    printed = _in_each(tmp_path, broken, "check", "spec.afs", "--json")
    assert printed[0].startswith("1\n[")
    assert printed[0].count('"code"') > 3
    assert printed[0] == printed[1] == printed[2]


@pytest.mark.parametrize("agent", ["gold", "random"])
def test_episodes(tmp_path: Path, agent: str) -> None:
    for i in range(len(SURROUNDINGS)):
        shutil.copytree(ROOT / "generated" / "library", tmp_path / f"folder{i}" / "generated" / "library")
    printed = _in_each(tmp_path, "", "run", "library", "--agent", agent, "--seed", "7", "--json")
    assert printed[0].startswith("0\n[")
    assert printed[0] == printed[1] == printed[2]
