"""Environments as commands get them: generated folders by name, and specs compiled on the spot."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from forgec.codegen.manifest import build_manifest, compare, write
from forgec.model.spec import Spec
from forgec.pipeline import generate_package
from forgec_runtime import Environment, LoadError, load_environment


def package_folder(name: str) -> Path:
    """The folder of a generated package that is named by its path, or by its name below `generated`.

    Raises `LoadError` for a spec, which has to be compiled first.
    """
    path = Path(name)
    if path.suffix == ".afs":
        raise LoadError(f"{name} is a spec: compile it, then name its environment, such as `{path.stem}`")
    return path if path.is_dir() or len(path.parts) > 1 else Path("generated") / name


@contextmanager
def compiled(spec: Spec, allowed: Iterable[str] = ()) -> Iterator[Environment]:
    """The environment of a checked spec, compiled into a temporary folder that lasts as long as the context.

    Its worlds may read the `allowed` sources outside.
    """
    files = generate_package(spec)
    manifest = build_manifest(spec, files)
    with tempfile.TemporaryDirectory(prefix="forgec-") as folder:
        target = Path(folder) / spec.name
        write(target, files, manifest, compare(target, files, manifest))
        yield load_environment(target, allow_sources=allowed)
