"""Every kind of fault that the certifier names is found where it was planted, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from forgec.certifying import CHECKS, FreshProcess, Verdict, certify
from forgec.certifying.perturbing.mutant import ADDED, CHANGED, LEFT
from forgec.codegen.manifest import build_manifest, compare, write
from forgec.pipeline import check, generate_package
from forgec_runtime import Environment, load_environment

SPEC = Path(__file__).parent / "defects.afs"
PLANTED = 3


def compiled(spec: Path, folder: Path) -> Environment:
    checked = check(spec)
    assert checked.spec is not None, [one.message for one in checked.report]
    files = generate_package(checked.spec)
    manifest = build_manifest(checked.spec, files)
    write(folder, files, manifest, compare(folder, files, manifest))
    return load_environment(folder)


@pytest.fixture(scope="module")
def lockers(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return compiled(SPEC, tmp_path_factory.mktemp("out") / "lockers")


@pytest.fixture(scope="module")
def verdicts(lockers: Environment) -> dict[str, Verdict]:
    return {one.task: one for one in certify(lockers, lockers.tasks.values())}


def tagged(environment: Environment, check: str) -> Iterator[str]:
    return (task.name for task in environment.tasks.values() if check in task.tags)


def test_sound_tasks_are_certified(lockers: Environment, verdicts: dict[str, Verdict]) -> None:
    sound = [task.name for task in lockers.tasks.values() if not task.tags]
    assert len(sound) >= PLANTED
    assert {name: verdicts[name].failed for name in sound} == dict.fromkeys(sound, ())
    assert all(verdicts[name].digest for name in sound)


@pytest.mark.parametrize("check", [check for check in CHECKS if check != "fresh"])
def test_planted_faults_are_found(lockers: Environment, verdicts: dict[str, Verdict], check: str) -> None:
    planted = list(tagged(lockers, check))
    assert len(planted) >= PLANTED
    for name in planted:
        failed = {outcome.check: outcome for outcome in verdicts[name].failed}
        assert check in failed, name
        assert failed[check].evidence and failed[check].hint


def test_nothing_else_is_found(lockers: Environment, verdicts: dict[str, Verdict]) -> None:
    for task in lockers.tasks.values():
        assert {outcome.check for outcome in verdicts[task.name].failed} == set(task.tags), task.name


def test_a_process_that_ends_elsewhere(lockers: Environment, tmp_path: Path) -> None:
    """No spec can depend on the process, so the process is another one: of a package with another price."""
    spec = tmp_path / "defects.afs"
    spec.write_text(SPEC.read_text(encoding="utf-8").replace("credit - $l.price where", "credit - 1 where"), "utf-8")
    other = compiled(spec, tmp_path / "lockers")
    names = ["a_large_one", "either_small_one", "whoever_it_is", "by_the_second_plan", "paid_first"]
    with FreshProcess(other) as process:
        found = certify(lockers, [lockers.tasks[name] for name in names], process)
    failed = {one.task for one in found if "fresh" in {outcome.check for outcome in one.failed}}
    assert failed == {"a_large_one", "either_small_one", "by_the_second_plan", "paid_first"}


def test_what_is_paid_for_nothing_is_told(verdicts: dict[str, Verdict]) -> None:
    for name, told in (
        ("nothing_to_do", "doing nothing is paid"),
        ("what_you_said", "repeating what the user says is"),
    ):
        assert any(one.check == "idle" and told in one.evidence for one in verdicts[name].failed), name


def test_plans_are_perturbed_in_three_ways(verdicts: dict[str, Verdict]) -> None:
    """Of a sound task no perturbed plan is paid; one that is overwritten is paid without the call, or with another."""
    sound, overwritten = verdicts["a_large_one"].kills, verdicts["overwritten"].kills
    assert set(sound) == {LEFT, CHANGED, ADDED}
    assert all(kills.made and not kills.paid for kills in sound.values())
    assert overwritten[LEFT].paid and overwritten[CHANGED].paid
