"""The stages in order: file -> source -> syntax tree -> model -> checks -> plans -> files of a package."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from forgec.checks import run_checks
from forgec.checks.warnings import find_warnings
from forgec.codegen.package import generate
from forgec.diagnostics import Diagnostic, Report
from forgec.files.reading import read
from forgec.model.build import build
from forgec.model.spec import Spec
from forgec.plans.package import plan_package
from forgec.source import Source
from forgec.syntax import parse


@dataclass(frozen=True)
class Checked:
    """A spec file after all checks: `spec` is None when there are errors, else `report` holds warnings alone."""

    path: Path
    source: Source | None
    spec: Spec | None
    report: Report


def check(path: Path) -> Checked:
    """Read and check one spec file."""
    report = Report()
    source = read(path, report)
    return Checked(path, None, None, report) if source is None else check_source(path, source, report)


def check_source(path: Path, source: Source, report: Report) -> Checked:
    """Check a spec whose text is at hand."""
    file = parse(source, report)
    if not file.items and not report.failed:
        blank = not source.text.strip()
        message = "this file is empty" if blank else "this file declares nothing"
        example = 'environment library "Front desk of a public library" { }'
        report.diagnostics.append(
            Diagnostic("AFS004", message, path=source.name, help=f"a spec begins with `{example}`")
        )
    spec = build(file, source, report) if file.items else None
    if spec is not None:
        run_checks(spec, report)
    if spec is not None and not report.failed:
        report.diagnostics.extend(find_warnings(spec, file.items))
    return Checked(path, source, None if report.failed else spec, report)


def generate_package(spec: Spec) -> dict[str, str]:
    """The files of the package of a checked spec: path inside the package -> text."""
    return generate(plan_package(spec), Path(spec.source.name).name)
