"""`forgec compile`."""

from __future__ import annotations

import difflib
import json
import sys
from pathlib import Path

import click

from forgec.codegen.outcome import MANIFEST, digest
from forgec.commands.common import (
    FINDINGS,
    code_of,
    of_warnings,
    show,
    sources_option,
    specs_argument,
    strict_option,
)
from forgec.commands.compiling import Compiled, Package, compile_all
from forgec.diagnostics import Diagnostic
from forgec.diagnostics.json import as_dict
from forgec.files.units import arrange
from forgec.memory import remember


@click.command("compile")
@specs_argument
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("generated"),
    show_default=True,
    help="The folder that holds a package for each environment.",
)
@click.option("--check", "only_check", is_flag=True, help="Write nothing; fail if the packages are not up to date.")
@click.option("--force", is_flag=True, help="Overwrite generated files that were edited by hand.")
@sources_option
@strict_option
@click.option("--json", "as_json", is_flag=True, help="Print what happened as JSON to standard output.")
def command(
    specs: tuple[Path, ...],
    out: Path,
    only_check: bool,
    force: bool,
    allowed: tuple[str, ...],
    strict: bool,
    as_json: bool,
) -> None:
    """Turn specs into Python packages, one for each environment.

    Writes only what changed, and removes files that it wrote before and that are no longer generated. A file edited by
    hand is never overwritten without --force. A spec with errors leaves its package as it was. Rows that lie outside
    are no part of a package; where they are allowed to be read, they are checked, and their hashes noted. What is up
    to date is remembered in a cache folder, which FORGEC_CACHE can name: it is not parsed again until a file of it
    changes.

    \b
    Examples:
      forgec compile specs/*.afs
      forgec compile specs/*.afs --check      # in CI: exit 1 and a diff when generated/ is stale
      forgec compile specs/library.afs --out build/environments

    Exit codes: 0 done, 1 findings or drift, 2 a spec cannot be read.
    """
    compiled = compile_all(arrange(specs), out, allowed, anew=bool(force or allowed))
    if strict or as_json:  # which show warnings, of which only the number is remembered
        compiled = _with_warnings(compiled, out, allowed)
    findings = [finding for one in compiled for finding in one.findings]
    packages = [one for one in compiled if one.package is not None]
    problems = [] if only_check else [p for one in packages for p in _problems(_package(one), force)]
    blocked = {problem.path for problem in problems}
    drift = False
    for one in packages:
        package = _package(one)
        if only_check:
            drift = drift or package.outcome.changed
        elif package.folder.as_posix() not in blocked:
            failures = _write(package)
            problems.extend(failures)
            blocked.update(package.folder.as_posix() for _ in failures)
        if not (allowed or one.recalled or package.folder.as_posix() in blocked):
            _remember(one, out, only_check)
    packages = [one for one in packages if _package(one).folder.as_posix() not in blocked]
    if as_json:
        shown = [_package(one) for one in packages]
        click.echo(json.dumps(_report(shown, [*findings, *problems], only_check), indent=2))
    else:
        show([*(finding for finding in findings if finding.severity == "error"), *problems])
        for one in packages:
            _print(_package(one), only_check, of_warnings(one.warnings))
    code = code_of(findings, strict)
    sys.exit(max(code, FINDINGS) if drift or problems else code)


def _package(one: Compiled) -> Package:
    assert one.package is not None
    return one.package


def _with_warnings(compiled: list[Compiled], out: Path, allowed: tuple[str, ...]) -> list[Compiled]:
    """The same, where those that have warnings have them at hand."""
    lacking = [one.unit for one in compiled if one.recalled and one.warnings]
    again = {one.unit.base: one for one in compile_all(lacking, out, allowed, anew=True)}
    return [again.get(one.unit.base, one) for one in compiled]


def _remember(one: Compiled, out: Path, only_check: bool) -> None:
    """Note what is in the folder now, unless it is not what it should be."""
    package = _package(one)
    if one.read is None or (only_check and package.outcome.changed):
        return
    written = {name: digest(text) for name, text in {**package.files, MANIFEST: package.manifest}.items()}
    remember(one.unit, out, package.name, warnings=one.warnings, sources=one.sources, read=one.read, written=written)


def _problems(package: Package, force: bool) -> list[Diagnostic]:
    folder = package.folder.as_posix()
    if package.outcome.foreign and not force:
        message = "this folder holds files that forgec did not generate"
        return [Diagnostic("AFS803", message, path=folder, help="choose another --out, or overwrite with --force")]
    if package.outcome.edited and not force:
        message = f"edited by hand since it was generated: {', '.join(package.outcome.edited)}"
        hint = "change the spec instead, or overwrite with --force"
        return [Diagnostic("AFS801", message, path=folder, help=hint)]
    return []


def _write(package: Package) -> list[Diagnostic]:
    if not package.outcome.changed:
        return []
    from forgec.codegen.manifest import write

    try:
        write(package.folder, package.files, package.manifest, package.outcome)
    except OSError as error:
        message = f"cannot be written: {error.strerror or error}"
        return [Diagnostic("AFS804", message, path=str(error.filename or package.folder))]
    return []


def _print(package: Package, only_check: bool, warned: str) -> None:
    outcome = package.outcome
    counts = f"{len(outcome.written)} written, {len(outcome.unchanged)} unchanged, {len(outcome.removed)} removed"
    if not only_check:
        click.echo(f"{package.spec.as_posix()} -> {package.folder.as_posix()}: {counts}{warned}")
        return
    if not outcome.changed:
        click.echo(f"{package.spec.as_posix()}: {package.folder.as_posix()} is up to date{warned}")
        return
    from forgec.codegen.manifest import other_versions

    versions = other_versions(package.folder, package.manifest)
    for name in outcome.written if not versions else ():
        click.echo(_diff(package, name), err=True, nl=False)
    for name in outcome.removed:
        click.echo(f"{(package.folder / name).as_posix()} is no longer generated", err=True)
    if versions:
        click.echo(f"{package.folder.as_posix()} was generated with {versions}", err=True)
    again = f"forgec compile {package.spec.as_posix()}"
    if package.folder.parent != Path("generated"):
        again += f" --out {package.folder.parent.as_posix()}"
    click.echo(f"{package.folder.as_posix()} is not up to date; run: {again}", err=True)


def _diff(package: Package, name: str) -> str:
    path = package.folder / name
    new = package.manifest if name == MANIFEST else package.files[name]
    try:
        old = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return f"{path.as_posix()} is missing or unreadable\n"
    lines = difflib.unified_diff(
        old.splitlines(keepends=True), new.splitlines(keepends=True), path.as_posix(), f"{path.as_posix()} (new)"
    )
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)


def _report(packages: list[Package], diagnostics: list[Diagnostic], only_check: bool) -> dict[str, object]:
    return {
        "packages": [
            {
                "environment": p.name,
                "spec": p.spec.as_posix(),
                "folder": p.folder.as_posix(),
                "up_to_date" if only_check else "changed": p.outcome.changed != only_check,
                "written": p.outcome.written,
                "unchanged": p.outcome.unchanged,
                "removed": p.outcome.removed,
            }
            for p in packages
        ],
        "diagnostics": [as_dict(diagnostic) for diagnostic in diagnostics],
    }
