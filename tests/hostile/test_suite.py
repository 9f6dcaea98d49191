"""Each hostile spec of the suite gets exactly its codes, in five seconds and a gigabyte, and never a traceback."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.hostile.suite.case import Case

ROOT = Path(__file__).parents[2]
CLASSES = sorted(path.stem for path in (Path(__file__).parent / "suite").glob("*.py") if path.stem != "case")
SECONDS = 5


def cases_of(name: str) -> tuple[Case, ...]:
    cases: tuple[Case, ...] = importlib.import_module(f"tests.hostile.suite.{name}").CASES
    return cases


@pytest.mark.parametrize("name", CLASSES)
def test_each_spec_of_a_class_gets_its_codes(name: str) -> None:
    command = [sys.executable, "-m", "tests.hostile.judging", name]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    cases = cases_of(name)
    assert run.returncode == 0, f"{cases[lines[-1]['case']].what if lines else 'the start'}: {run.stderr}"
    judged = [line for line in lines if "codes" in line]
    assert len(judged) == len(cases)
    wrong = [problem for case, line in zip(cases, judged, strict=True) for problem in problems(case, line)]
    assert wrong == []


def problems(case: Case, line: dict[str, Any]) -> list[str]:
    """What is wrong with how a case was judged."""
    found = []
    if line["trouble"]:
        found.append(f"{case.what}: {line['trouble']}")
    elif line["codes"] != case.code:
        found.append(f"{case.what}: {line['codes'] or 'no error'}, not {case.code or 'none'}")
    if line["seconds"] > SECONDS:
        found.append(f"{case.what}: {line['seconds']:.1f} s")
    return found


def test_every_class_is_large_and_what_does_no_harm_says_why() -> None:
    assert len(CLASSES) >= 12
    for name in CLASSES:
        cases = cases_of(name)
        assert sum(bool(case.code) for case in cases) >= 10, name
        assert len({case.what for case in cases}) == len(cases), name
        assert all(bool(case.code) != bool(case.harmless) for case in cases), name
