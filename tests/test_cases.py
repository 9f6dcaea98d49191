"""Golden directories: what `forgec compile spec.afs` makes of a spec, or has to say about it.

A directory of `tests/cases` holds a `spec.afs`, perhaps with files that belong to it, and either `generated/`, the
packages it compiles to without their manifests and hashes, or `stderr.txt`, all that is printed about it. To add a
case, write the spec, run `pytest --regen`, and read what that wrote.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from forgec.codegen.outcome import MANIFEST
from forgec.commands import forgec
from forgec.model import spec as m
from forgec.pipeline import check
from forgec.reference import ReferenceEpisode
from forgec_runtime.results import json_able
from tests.differential.bench import Bench, compiled
from tests.differential.programs import Call, Program

CASES = Path(__file__).parent / "cases"
NAMES = sorted(path.name for path in CASES.iterdir())
SOUND = [name for name in NAMES if (CASES / name / "generated").is_dir()]
CONSTRUCTS = (
    "actions", "aggregates_in_order", "alternatives", "branches", "calculate", "checks_and_invariants",
    "composite_keys", "composite_references", "data_of_files", "domain_types", "each", "elements", "ends", "enums",
    "files", "functions_of_lists", "generated_worlds", "hard_airline", "hard_telecom", "keys_from_a_list",
    "lists_and_maps", "missing_rows",
    "nested_results", "nested_tables", "references_to_nested_rows", "results_in_branches", "results_of_several_kinds",
    "rules", "set", "sides", "singles", "syncs", "views",
    "worlds_that_extend",
)  # fmt: skip
"""Cases about a construct of the language: their tests have calls that succeed and calls that fail."""


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
    files = {path: text for path, text in files_under(tmp_path).items() if Path(path).name != "hashes.json"}
    manifests = {path: json.loads(files.pop(path)) for path in list(files) if Path(path).name == MANIFEST}
    made = Outcome(files, result.stderr)
    if regen:
        rewrite(case, made)
    assert made == golden(case)
    assert (result.exit_code == 0) == (not made.stderr) == bool(made.files)
    listed = {f"{Path(path).parent}/{name}" for path, manifest in manifests.items() for name in manifest["files"]}
    assert listed - {f"{Path(path).parent}/hashes.json" for path in manifests} == set(made.files)


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


def checked_case(name: str) -> m.Spec:
    """The spec of a case that compiles."""
    spec = check(CASES / name / "spec.afs").spec
    assert spec is not None
    return spec


def calls_of(spec: m.Spec, test: m.Test, episode: int) -> list[Call]:
    """The calls of a test with their arguments, which may depend on earlier results."""
    reference = ReferenceEpisode(spec, test.world)
    values: dict[str, Any] = {}
    calls = []
    for step in test.steps:
        if not isinstance(step, m.Run):
            continue
        given = {name: reference.evaluate(sql, values) for name, sql in step.call.arguments.items()}
        written = {name: json_able(value) for name, value in given.items() if value is not None}
        calls.append(Call(episode, step.call.tool, written))
        parameters = spec.tools[step.call.tool].parameters
        named = {p.name: given.get(p.name, p.value) for p in parameters}
        answer = reference.call(step.call.tool, named)
        if step.name is not None:
            values[step.name] = answer.value
    return calls


@pytest.mark.parametrize("name", SOUND)
def test_the_tests_of_a_case_can_be_played_all_at_once(name: str, tmp_path: Path) -> None:
    """An episode for each test, and steps with the first call of each, then the second of each, and so on."""
    spec = checked_case(name)
    if not spec.tests:
        return
    played = [calls_of(spec, test, i) for i, test in enumerate(spec.tests)]
    steps = tuple(tuple(call for call in calls if call) for calls in zip_longest(*played))
    program = Program(tuple(test.world for test in spec.tests), steps)
    assert Bench(spec, compiled(spec, tmp_path)).difference(program) is None


@pytest.mark.parametrize("name", CONSTRUCTS)
def test_a_construct_is_used_well_and_refused_once(name: str) -> None:
    spec = checked_case(name)
    runs = [step for test in spec.tests for step in test.steps if isinstance(step, m.Run)]
    assert {step.fails is None for step in runs} == {True, False}
