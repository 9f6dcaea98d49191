"""The stages in order: file -> source -> syntax tree -> model -> checks -> plans -> files of a package."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from forgec.checks import run_checks
from forgec.checks.warnings import find_warnings
from forgec.diagnostics import Diagnostic, Report
from forgec.files.data import DataFiles
from forgec.files.folder import Folder
from forgec.files.gather import Gathered, gather
from forgec.files.reading import read
from forgec.files.units import Unit, arrange
from forgec.model.build import build
from forgec.model.spec import Spec
from forgec.source import Source
from forgec.worlds import whole_worlds


@dataclass(frozen=True)
class Checked:
    """A spec after all checks: `spec` is None when there are errors, else `report` holds warnings alone.

    `sources` are the files that were read, `data` those with rows of its worlds: the sha256 by path in its folder.
    """

    path: Path
    source: Source | None
    spec: Spec | None
    report: Report
    sources: tuple[Source, ...] = ()
    data: Mapping[str, str] = field(default_factory=dict)


def check(path: Path, allowed: Iterable[str] = ()) -> Checked:
    """Read and check the environment that a file declares, or is a part of.

    Sources outside of its folder are read where they are `allowed`.
    """
    (unit,) = arrange([path])
    return check_unit(unit, allowed)


def check_unit(unit: Unit, allowed: Iterable[str] = (), tasks: Source | None = None) -> Checked:
    """Read and check one environment, with `tasks` in the place of those in bulk that lie beside it."""
    report = Report(list(unit.findings))
    source = None if report.failed else read(unit.base, report)
    if source is None:
        return Checked(unit.base, None, None, report)
    return _checked(unit.base, gather(source, report, unit.parts, tasks or unit.tasks), report, allowed)


def check_source(path: Path, source: Source, report: Report, allowed: Iterable[str] = ()) -> Checked:
    """Check a spec whose text is at hand; what it uses lies beside `source`, and nothing extends it."""
    return _checked(path, gather(source, report), report, allowed)


def _checked(path: Path, gathered: Gathered, report: Report, allowed: Iterable[str]) -> Checked:
    source = gathered.sources[0]
    if not gathered.file.items and not report.failed:
        blank = not source.text.strip()
        message = "this file is empty" if blank else "this file declares nothing"
        example = 'environment library "Front desk of a public library" { }'
        report.diagnostics.append(
            Diagnostic("AFS004", message, path=source.name, help=f"a spec begins with `{example}`")
        )
    data = DataFiles(Folder(Path(source.name).parent), allowed)
    spec = build(gathered, report, data) if gathered.file.items else None
    if spec is not None:
        spec = whole_worlds(spec, report)
        run_checks(spec, report)
    if spec is not None and not report.failed:
        report.diagnostics.extend(find_warnings(spec, gathered.file.items))
    return Checked(path, source, None if report.failed else spec, report, gathered.sources, data.digests)


def generate_package(spec: Spec) -> dict[str, str]:
    """The files of the package of a checked spec: path inside the package -> text.

    Raises `Unvetted` for a module that should not have been generated: a defect of the compiler, whatever the spec.
    """
    from forgec.codegen.package import generate  # here, because to check takes neither plans nor templates
    from forgec.plans.package import plan_package
    from forgec_runtime.vetting import vet

    files = generate(plan_package(spec), Path(spec.source.name).name)
    for name, text in files.items():
        if name.endswith(".py"):
            vet(text, name)
    return files
