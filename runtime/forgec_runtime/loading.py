"""Generated packages, loaded from their folders: their modules are vetted before they run."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import FileFinder, ModuleSpec, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType

from .environment import Environment
from .errors import LoadError
from .vetting import vet

_PREFIX = "forgec_environments_"


class _Loader(SourceFileLoader):
    """Runs the text of a module that was vetted, never what was compiled of it before."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        tree = vet(self.get_data(path).decode("utf-8"), path)
        return compile(tree, path, "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    """Finds the modules of generated packages that are not trusted, for `_Loader`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package = sys.modules.get(fullname.partition(".")[0])
        if path is None or not isinstance(getattr(package, "__loader__", None), _Loader):
            return None
        return FileFinder(path[0], (_Loader, [".py"])).find_spec(fullname)


sys.meta_path.insert(0, _Finder())


def load_environment(folder: str | Path, *, allow_sources: Iterable[str] = (), trusted: bool = False) -> Environment:
    """The environment of a generated package, wherever its folder is. Each call loads it anew. Raises `LoadError`.

    `allow_sources` names the distributions, and the environment variables, whose files its worlds may read. Its
    modules are refused where they hold what generated code does not; `trusted` runs whatever they hold.
    """
    path = Path(folder).resolve()
    init = path / "__init__.py"
    if not init.is_file():
        raise LoadError(f"there is no generated environment in {Path(folder).as_posix()}; compile its spec first")
    name = _PREFIX + path.name
    _forget(name)
    loader = SourceFileLoader(name, str(init)) if trusted else _Loader(name, str(init))
    spec = spec_from_file_location(name, init, loader=loader, submodule_search_locations=[str(path)])
    assert spec is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        loader.exec_module(module)
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
