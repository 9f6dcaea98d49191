"""One environment, compiled: in this process, or in one that helps."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from forgec.codegen.manifest import build_manifest, compare, read_manifest
from forgec.commands.compiling import Compiled, Package
from forgec.files.units import Unit
from forgec.pipeline import Checked, check_unit, generate_package


def compile_unit(unit: Unit, out: Path, allowed: tuple[str, ...]) -> Compiled:
    """What a unit compiles to, compared with what lies in its folder."""
    checked = check_unit(unit, allowed)
    findings = tuple(checked.report)
    sources = tuple(os.path.realpath(source.name) for source in checked.sources)
    if checked.spec is None:
        return Compiled(unit, findings, sources)
    spec = checked.spec
    files = generate_package(spec)
    folder = out / spec.name
    manifest = build_manifest(spec, files, read_manifest(folder))
    package = Package(spec.name, unit.base, folder, compare(folder, files, manifest), files, manifest)
    warnings = sum(finding.severity == "warning" for finding in findings)
    return Compiled(unit, findings, sources, package, spec.span, _read(checked), warnings)


def _read(checked: Checked) -> dict[str, str] | None:
    """The hashes of all files that were read; None where one has changed since."""
    found = {os.path.realpath(checked.path.parent / name): digest for name, digest in checked.data.items()}
    try:
        for source in checked.sources:
            data = Path(source.name).read_bytes()
            if data.decode("utf-8-sig") != source.text:
                return None
            found[os.path.realpath(source.name)] = hashlib.sha256(data).hexdigest()
    except (OSError, ValueError):
        return None
    return found
