"""Tasks in bulk say the same as blocks do."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from forgec.bulk.places import Places
from forgec.bulk.shape import TaskShape
from forgec.codegen.tasks import tasks_text
from forgec.diagnostics import Diagnostic, Label, Report
from forgec.files.data import DataFiles
from forgec.files.folder import Folder
from forgec.files.gather import gather
from forgec.files.reading import read
from forgec.files.units import arrange
from forgec.model import spec as m
from forgec.model.build import build
from forgec.plans.package import plan_package
from forgec.showing.bulk import line
from forgec.source import Source, Span
from forgec.syntax import nodes
from tests.shipped import ENVIRONMENTS
from tests.test_commands import invoke

ROOT = Path(__file__).parent.parent
CASES = ROOT / "tests" / "cases"
NAMES = (
    "tasks",
    "tasks_that_begin_differently",
    "tasks_with_everything",
    "bulk_tasks",
    "domain_types",
    "lists_and_maps",
    "records",
    "sides",
)

SPECS = [*ENVIRONMENTS, *(CASES / name / "spec.afs" for name in NAMES)]


def built(path: Path, bulk: str | None = None) -> m.Spec:
    """The spec; with its tasks taken from `bulk` if that is given."""
    (unit,) = arrange([path])
    report = Report()
    source = read(unit.base, report)
    assert source is not None
    gathered = gather(source, report, unit.parts, unit.tasks)
    if bulk is not None:
        items = tuple(item for item in gathered.file.items if not isinstance(item, nodes.Task))
        gathered = replace(gathered, file=nodes.File(gathered.file.span, items), tasks=Source("bulk.jsonl", bulk))
    spec = build(gathered, report, DataFiles(Folder(unit.base.parent), ()))
    assert spec is not None, [one.message for one in report]
    return spec


def written(spec: m.Spec) -> str:
    return tasks_text(plan_package(spec).tasks)


@pytest.mark.parametrize("path", SPECS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_block_and_its_line_are_the_same_task(path: Path) -> None:
    spec = built(path)
    bulk = "".join(f"{line(task)}\n" for task in spec.tasks.values())
    again = built(path, bulk)
    assert written(again) == written(spec)
    assert "".join(f"{line(task)}\n" for task in again.tasks.values()) == bulk


def test_what_is_printed_fits_the_schema_that_is_printed() -> None:
    schema = json.loads(invoke("tasks", "--schema").stdout)
    assert schema == TaskShape.model_json_schema()
    path = (CASES / "bulk_tasks" / "spec.afs").as_posix()
    printed = invoke("tasks", path).stdout.splitlines()
    assert [json.loads(one)["name"] for one in printed] == ["cancel_one", "pay_half"]
    for one in printed:
        Draft202012Validator(schema).validate(json.loads(one))
    assert invoke("tasks", path, "pay_half").stdout.splitlines() == printed[1:]
    failed = invoke("tasks", path, "pay_hal")
    assert (failed.exit_code, failed.stderr) == (2, "error: there is no task `pay_hal`; did you mean `pay_half`?\n")
    assert invoke("tasks").exit_code == 2


@pytest.mark.parametrize("escaped", [True, False])
def test_a_place_in_a_text_is_a_place_in_its_line(escaped: bool) -> None:
    text = 'A "quote", a \\, \u00e9, \U0001f600,\n  a tab\t, and {$nobody}.'
    line = json.dumps({"name": "x", "intent": text}, ensure_ascii=escaped)
    source = Source("shop.tasks.jsonl", f"\n{line}\n")
    places = Places(source, 1, 1 + len(line), exact=True)
    span = places.apart(("intent",), text, '"""')
    start = span.text.index("$nobody")
    found = places.placed(Diagnostic("AFS203", "unknown", Label(Span(span.source, start, start + len("$nobody")))))
    assert found.primary is not None
    assert (found.primary.span.source, found.primary.span.text) == (source, "$nobody")
