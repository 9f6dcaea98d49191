"""Golden directories: what `forgec compile spec.afs` makes of a spec, or has to say about it.

A directory of `tests/cases` holds a `spec.afs`, and either `generated/`, the packages it compiles to without their
manifests, or `stderr.txt`, all that is printed about it. To add a case, write the spec, run `pytest --regen`, and
read what that wrote.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from forgec.codegen.manifest import MANIFEST
from forgec.commands import forgec

CASES = Path(__file__).parent / "cases"
NAMES = sorted(path.name for path in CASES.iterdir())
SOUND = [name for name in NAMES if (CASES / name / "generated").is_dir()]


@dataclass(frozen=True)
class Outcome:
    """What one case comes to: the files of its packages, or what was printed about it."""

    files: dict[str, str]
    stderr: str


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(forgec, list(arguments), catch_exceptions=False)


def files_under(folder: Path) -> dict[str, str]:
    """The text of every file: path inside the folder -> text."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes().decode("utf-8") for path in paths}


def golden(case: Path) -> Outcome:
    said = case / "stderr.txt"
    return Outcome(files_under(case / "generated"), said.read_text(encoding="utf-8") if said.exists() else "")


def rewrite(case: Path, made: Outcome) -> None:
    shutil.rmtree(case / "generated", ignore_errors=True)
    (case / "stderr.txt").unlink(missing_ok=True)
    for name, text in made.files.items():
        path = case / "generated" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8"))
    if made.stderr:
        (case / "stderr.txt").write_bytes(made.stderr.encode("utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_case(name: str, regen: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = CASES / name
    monkeypatch.chdir(case)
    result = invoke("compile", "spec.afs", "--out", str(tmp_path))
    files = files_under(tmp_path)
    manifests = {path: json.loads(files.pop(path)) for path in list(files) if Path(path).name == MANIFEST}
    made = Outcome(files, result.stderr)
    if regen:
        rewrite(case, made)
    assert made == golden(case)
    assert (result.exit_code == 0) == (not made.stderr) == bool(made.files)
    listed = [f"{Path(path).parent}/{name}" for path, manifest in manifests.items() for name in manifest["files"]]
    assert sorted(listed) == sorted(made.files)


@pytest.mark.parametrize("name", SOUND)
def test_sound_cases_do_what_their_tests_and_plans_say(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(CASES / name)
    tested = invoke("test", "spec.afs")
    assert (tested.exit_code, tested.stderr) == (0, "")
    invoke("compile", "spec.afs", "--out", str(tmp_path))
    played = invoke("run", *(str(folder) for folder in tmp_path.iterdir()), "--agent", "gold")
    assert (played.exit_code, played.stderr) == (0, "")
