"""Generated packages, loaded from their folders."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from .environment import Environment
from .errors import LoadError

_PREFIX = "forgec_environments"


def load_environment(folder: str | Path, *, allow_sources: Iterable[str] = ()) -> Environment:
    """The environment of a generated package, wherever its folder is. Each call loads it anew. Raises `LoadError`.

    `allow_sources` names the distributions, and the environment variables, whose files its worlds may read.
    """
    path = Path(folder).resolve()
    init = path / "__init__.py"
    if not init.is_file():
        raise LoadError(f"there is no generated environment in {Path(folder).as_posix()}; compile its spec first")
    name = f"{_PREFIX}_{path.name}"
    _forget(name)
    spec = spec_from_file_location(name, init, submodule_search_locations=[str(path)])
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
        environment = module.ENVIRONMENT
        if not isinstance(environment, Environment):
            raise TypeError(f"ENVIRONMENT is of type {type(environment).__name__}")
    except Exception as error:
        _forget(name)
        raise LoadError(f"{Path(folder).as_posix()} is no environment of this runtime: {error}") from error
    environment.allow(allow_sources)
    return environment


def _forget(name: str) -> None:
    for loaded in [module for module in sys.modules if module == name or module.startswith(f"{name}.")]:
        del sys.modules[loaded]
