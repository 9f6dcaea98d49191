"""What a user installs: the wheels, in empty environments outside the checkout, on every Python that is present."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from forgec.pipeline import check, generate_package
from tests.pythons import interpreter
from tests.shipped import ENVIRONMENTS

ROOT = Path(__file__).parent.parent
PYTHONS = ("3.11", "3.12", "3.13")
SAMPLES = (ROOT / "tests" / "differential" / "kitchen_sink.afs", ROOT / "tests" / "cases" / "messages" / "spec.afs")


def run(*command: str | Path, folder: Path, fed: str = "") -> str:
    """What a command prints; it must succeed. It sees nothing of the checkout."""
    names = ("PATH", "HOME", "LANG", "PIP_INDEX_URL", "PIP_CONFIG_FILE", "http_proxy", "https_proxy", "no_proxy")
    result = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        input=fed,
        env={name: os.environ[name] for name in names if name in os.environ},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def installed(folder: Path, python: str, *wheels: Path) -> Path:
    """The programs of a fresh environment that holds nothing but some wheels and what these ask for."""
    run(python, "-m", "venv", "venv", folder=folder)
    programs = folder / "venv" / "bin"
    run(
        programs / "pip", "install", "--quiet", "--disable-pip-version-check", "-c", ROOT / "constraints.txt", *wheels,
        folder=folder,
    )  # fmt: skip
    return programs


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheels of the compiler and of the runtime."""
    folder = tmp_path_factory.mktemp("wheels")
    for project in (ROOT, ROOT / "runtime"):
        run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, folder=project)
    (compiler,) = folder.glob("forgec-*.whl")
    (runtime,) = folder.glob("forgec_runtime-*.whl")
    return compiler, runtime


def test_wheels_hold_the_product_and_nothing_else(wheels: tuple[Path, Path]) -> None:
    compiler, runtime = ({name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()} for wheel in wheels)
    assert compiler == {"forgec", "forgec-0.1.0.dist-info"}
    assert runtime == {"forgec_runtime", "forgec_runtime-0.1.0.dist-info"}
    names = set(zipfile.ZipFile(wheels[0]).namelist())
    for data in ("grammar", "templates"):
        files = [path.relative_to(ROOT) for path in (ROOT / data).rglob("*") if path.is_file()]
        assert files and all(f"forgec/{path.as_posix()}" in names for path in files)
    assert "forgec/docs/language.md" in names  # questions to models quote it
    for package, wheel in (("forgec", wheels[0]), ("runtime/forgec_runtime", wheels[1])):
        assert f"{Path(package).name}/py.typed" in zipfile.ZipFile(wheel).namelist()


@pytest.mark.parametrize("version", PYTHONS)
def test_a_spec_is_compiled_and_played_by_what_the_wheels_install(
    version: str, wheels: tuple[Path, Path], tmp_path: Path
) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"Python {version} is not installed here")
    programs = installed(tmp_path, python, *wheels)
    forgec = programs / "forgec"
    imported = run(programs / "python", "-c", "import forgec; print(forgec.__file__)", folder=tmp_path)
    assert Path(imported).is_relative_to(tmp_path)

    run(forgec, "new", "bicycles", folder=tmp_path)
    spec = next(tmp_path.rglob("bicycles.afs")).relative_to(tmp_path)
    run(forgec, "fmt", spec, folder=tmp_path)
    assert "0 failed" in run(forgec, "test", spec, folder=tmp_path)
    run(forgec, "compile", spec, folder=tmp_path)
    assert "mean" in run(forgec, "run", "bicycles", "--agent", "gold", "--agent", "noop", folder=tmp_path)
    played = run(forgec, "play", "bicycles", folder=tmp_path, fed=".task two_of_the_cheapest_rye\n.gold all\n.reward\n")
    assert "placed = place_order" in played and "reward 1" in played

    for path in (*(ROOT / "specs").glob("*.afs"), *SAMPLES):
        shutil.copy(path, tmp_path)
    for path in (*ENVIRONMENTS, *SAMPLES):
        copy = tmp_path / path.name
        run(forgec, "compile", copy.name, "--out", f"out_{copy.stem}", folder=tmp_path)
        assert contents(tmp_path / f"out_{copy.stem}") == expected(copy)


def expected(path: Path) -> dict[str, str]:
    """The files that this Python makes of a spec."""
    spec = check(path).spec
    assert spec is not None
    return {f"{spec.name}/{name}": text for name, text in generate_package(spec).items()}


def contents(folder: Path) -> dict[str, str]:
    """The files of a package, but for its manifest."""
    files = (path for path in folder.rglob("*") if path.suffix != ".pyc" and path.name != "manifest.json")
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in files if path.is_file()}


ALONE = """
import importlib.util
from forgec_runtime import AGENTS, load_environment

for package in ("forgec", "lark", "sqlglot", "jinja2", "black", "pydantic", "networkx", "click"):
    assert importlib.util.find_spec(package) is None, package
env = load_environment("library")
for task in env.tasks.values():
    episode = env.reset(task.name)
    AGENTS["gold"]().play(env, episode, task)
    print(task.name, env.reward(episode, task).value)
"""


@pytest.mark.parametrize("version", PYTHONS)
def test_a_generated_package_needs_the_runtime_alone(version: str, wheels: tuple[Path, Path], tmp_path: Path) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"Python {version} is not installed here")
    programs = installed(tmp_path, python, wheels[1])
    shutil.copytree(ROOT / "generated" / "library", tmp_path / "library")
    paid = run(programs / "python", "-c", ALONE, folder=tmp_path).splitlines()
    assert len(paid) == 44 and all(line.split()[1] == "1.0" for line in paid), paid
