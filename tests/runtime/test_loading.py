"""Generated packages are loaded from their folders, wherever they are."""

import py_compile
import sys
from pathlib import Path

import pytest

from forgec_runtime import LoadError, load_environment

INIT = """
from datetime import datetime
from forgec_runtime import Environment
from .schema import TABLES
ENVIRONMENT = Environment(name="tiny", clock=datetime(2025, 3, 1), tables=TABLES, tools=(), worlds=())
"""


def _package(folder: Path, init: str = INIT, schema: str = "TABLES = ()\n") -> Path:
    package = folder / "tiny"
    package.mkdir()
    (package / "__init__.py").write_text(init, encoding="utf-8")
    (package / "schema.py").write_text(schema, encoding="utf-8")
    return package


def test_a_package_is_loaded_from_its_folder(tmp_path: Path) -> None:
    path = list(sys.path)
    assert load_environment(_package(tmp_path)).name == "tiny"
    assert sys.path == path
    assert "tiny" not in sys.modules


def test_a_package_is_loaded_anew_after_it_was_compiled_again(tmp_path: Path) -> None:
    package = _package(tmp_path)
    first = load_environment(str(package))
    (package / "__init__.py").write_text(INIT.replace('"tiny"', '"changed"'), encoding="utf-8")
    assert load_environment(package).name == "changed"
    assert first.name == "tiny"


@pytest.mark.parametrize("module", ["__init__", "schema"])
def test_a_module_that_holds_what_is_not_generated_is_not_run(tmp_path: Path, module: str) -> None:
    package, mark = _package(tmp_path), tmp_path / "mark"
    with (package / f"{module}.py").open("a", encoding="utf-8") as file:
        file.write(f"import pathlib\npathlib.Path({str(mark)!r}).touch()\n")
    with pytest.raises(LoadError, match=rf"{module}.py:\d+: generated code has no Import"):
        load_environment(package)
    assert not mark.exists()
    assert load_environment(package, trusted=True).name == "tiny"
    assert mark.exists()


def test_what_was_compiled_before_is_not_run(tmp_path: Path) -> None:
    package, mark = _package(tmp_path), tmp_path / "mark"
    schema = package / "schema.py"
    sound = schema.read_text(encoding="utf-8")
    schema.write_text(f"import pathlib\nTABLES = ()\npathlib.Path({str(mark)!r}).touch()\n", encoding="utf-8")
    py_compile.compile(str(schema), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    schema.write_text(sound, encoding="utf-8")
    load_environment(package)
    assert not mark.exists()
    load_environment(package, trusted=True)
    assert mark.exists()


def test_a_folder_without_a_package_is_told(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match=r"there is no generated environment in .*; compile its spec first"):
        load_environment(tmp_path)


@pytest.mark.parametrize(
    ("init", "schema"),
    [
        ("def", "TABLES = ()"),
        ("x = 1", "TABLES = ()"),
        (INIT, "raise RuntimeError('no')"),
        ("ENVIRONMENT = 3", "TABLES = ()"),
    ],
)
def test_a_package_that_is_no_environment_is_told(tmp_path: Path, init: str, schema: str) -> None:
    with pytest.raises(LoadError, match="environment"):
        load_environment(_package(tmp_path, init, schema))
    assert not [name for name in sys.modules if name.startswith("forgec_environments") and "tiny" in name]
