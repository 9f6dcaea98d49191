"""Environments as commands get them: generated folders by name, and specs compiled on the spot."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from forgec.codegen.manifest import build_manifest, compare, write
from forgec.commands.common import check_all, errors_of, exit_code, show
from forgec.diagnostics import did_you_mean
from forgec.model.spec import Spec
from forgec.pipeline import generate_package
from forgec_runtime import Environment, LoadError, load_environment


def package_folder(name: str) -> Path:
    """The folder of a generated package that is named by its path, or by its name below `generated`."""
    path = Path(name)
    return path if path.is_dir() or len(path.parts) > 1 else Path("generated") / name


@contextmanager
def package(name: str, allowed: Iterable[str] = ()) -> Iterator[Path]:
    """The folder of the package that a name means, or of the one that a spec (.afs) compiles to, for as long as the
    context lasts. Raises `LoadError`; leaves when the spec has errors.
    """
    path = Path(name)
    if path.suffix != ".afs" and not path.is_file():
        folder = package_folder(name)
        known = Path("generated")
        if not folder.is_dir() and known.is_dir():
            hint = did_you_mean(name, [path.name for path in known.iterdir() if path.is_dir()])
            if hint:
                raise LoadError(f"there is no generated environment `{name}`; {hint}")
        yield folder
        return
    checked = check_all([path], allowed)
    show(errors_of(checked))
    spec = checked[0].spec
    if spec is None:
        sys.exit(exit_code(checked))
    with written(spec) as target:
        yield target


@contextmanager
def written(spec: Spec) -> Iterator[Path]:
    """The folder of a checked spec's package, which is gone when the context ends."""
    files = generate_package(spec)
    manifest = build_manifest(spec, files)
    with tempfile.TemporaryDirectory(prefix="forgec-") as folder:
        target = Path(folder) / spec.name
        write(target, files, manifest, compare(target, files, manifest))
        yield target


@contextmanager
def compiled(spec: Spec, allowed: Iterable[str] = ()) -> Iterator[Environment]:
    """The environment of a checked spec, compiled into a temporary folder that lasts as long as the context.

    Its worlds may read the `allowed` sources outside.
    """
    with written(spec) as folder:
        yield load_environment(folder, allow_sources=allowed)
