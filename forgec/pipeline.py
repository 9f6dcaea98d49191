"""The stages in order: file -> source -> syntax tree -> model -> checks -> plans -> files of a package."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from forgec.checks import run_checks
from forgec.codegen.package import generate
from forgec.diagnostics import Diagnostic, Report
from forgec.model.build import build
from forgec.model.spec import Spec
from forgec.plans.package import plan_package
from forgec.source import Source
from forgec.syntax import parse


@dataclass(frozen=True)
class Checked:
    """A spec file after all checks: `spec` is None when there are errors."""

    path: Path
    source: Source | None
    spec: Spec | None
    report: Report


def read(path: Path, report: Report) -> Source | None:
    """The text of a spec file; None when it was reported."""
    name = path.as_posix()
    try:
        data = path.read_bytes()
    except IsADirectoryError:
        report.diagnostics.append(
            Diagnostic(
                "AFS002", "this is a directory, not a spec", path=name, help=f"name files: {name.rstrip('/')}/*.afs"
            )
        )
        return None
    except FileNotFoundError:
        near = [path for path in (f"{name}.afs", f"specs/{name}", f"specs/{name}.afs") if os.path.isfile(path)]
        hint = f"did you mean `{near[0]}`?" if near else None
        report.diagnostics.append(Diagnostic("AFS001", "there is no such file", path=name, help=hint))
        return None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        report.diagnostics.append(Diagnostic("AFS001", f"this file cannot be read: {reason}", path=name))
        return None
    return decoded(name, data, report)


def decoded(name: str, data: bytes, report: Report) -> Source | None:
    """The spec that some bytes hold; None when it was reported that they hold none."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"this file is not UTF-8: byte {error.start} on line {line} is 0x{data[error.start]:02x}"
        report.diagnostics.append(Diagnostic("AFS003", message, path=name, help="save it as UTF-8"))
        return None
    return Source(name, text)


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
    return Checked(path, source, None if report.failed else spec, report)


def generate_package(spec: Spec) -> dict[str, str]:
    """The files of the package of a checked spec: path inside the package -> text."""
    return generate(plan_package(spec), Path(spec.source.name).name)
