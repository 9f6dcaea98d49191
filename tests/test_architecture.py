"""The shape of the code: one door to each library, and generated code that imports the runtime only."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

DOORS: dict[str, str | tuple[str, ...]] = {
    "lark": "forgec/syntax/",
    "sqlglot": ("forgec/sql/tree.py", "forgec/certifying/sql_text.py", "forgec/certifying/computing/"),
    "networkx": ("forgec/model/edges.py", "forgec/tasking/", "forgec/graphing/"),
    "pydantic": (
        "forgec/bulk/",
        "forgec/importing/tau2/shape.py",
        "forgec/dialogue.py",
        "forgec/llm/spending.py",
        "forgec/regrading/published.py",
        "forgec/rollouts/",
        "forgec/synthesis/asking/",
        "forgec/training/",
        "forgec/cluster/",
    ),
    "openai": "forgec/llm/client.py",
    "httpx2": ("forgec/llm/client.py", "forgec/llm/bounded.py"),
    "jinja2": (
        "forgec/codegen/render.py",
        "forgec/pages.py",
        "forgec/exporting/nemo_gym/render.py",
        "forgec/synthesis/asking/prompts.py",
        "forgec/cluster/chat.py",
        "forgec/cluster/launching.py",
    ),
    "black": "forgec/codegen/format.py",
    "faker": "forgec/worlds/fakes.py",
    "click": "forgec/commands/",
    "prompt_toolkit": "forgec/playing/terminal.py",
    "duckdb": "runtime/forgec_runtime/engine.py",
    "orjson": "runtime/forgec_runtime/results.py",
    "matplotlib": "forgec/training/figures.py",
    "torch": ("forgec/training/", "forgec/cluster/"),
    "transformers": ("forgec/training/", "forgec/cluster/"),
    "tokenizers": "forgec/training/tokenizer.py",
    "safetensors": "forgec/training/",
    "prometheus_client": "runtime/forgec_runtime/prometheus.py",
    "yaml": ("forgec/documents/reading.py", "forgec/exporting/nemo_gym/render.py", "forgec/cluster/recipe.py"),
    "starlette": ("forgec/serving/gym/routes.py", "forgec/serving/mcp_server.py"),
    "mcp": "forgec/serving/mcp_server.py",
    "mcp_types": "forgec/serving/mcp_server.py",
    "uvicorn": "forgec/commands/serve_command.py",
    "nemo_rl": "forgec/cluster/nemo_rl/",
    "ray": "forgec/cluster/nemo_rl/environment.py",
    "datasets": "forgec/cluster/nemo_rl/dataset.py",
    "omegaconf": "forgec/cluster/nemo_rl/launch.py",
    "verl": "forgec/cluster/registries.py",
    "skyrl": "forgec/cluster/registries.py",
    "numpy": "forgec/cluster/registries.py",
    "hatchling": "runtime/hatch_build.py",
    "mypyc": "runtime/hatch_build.py",
    "setuptools": "runtime/hatch_build.py",
    "docstring_parser": "forgec/documents/functions.py",
    "inflection": "forgec/synthesis/drafting/words.py",
    "snowballstemmer": "forgec/users/wording.py",
}


def _imports(path: Path) -> Iterator[str]:
    """The top-level packages that a module imports, relative imports as the empty string."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "" if node.level else (node.module or "").partition(".")[0]


def _modules(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("library", sorted(DOORS))
def test_a_library_is_imported_at_its_door_alone(library: str) -> None:
    importers = [p.relative_to(ROOT).as_posix() for p in _modules("forgec", "runtime") if library in _imports(p)]
    assert importers
    assert [path for path in importers if not path.startswith(DOORS[library])] == []


def test_every_third_party_library_has_a_door() -> None:
    ours = {"", "forgec", "forgec_runtime"} | set(sys.stdlib_module_names)
    used = {name for path in _modules("forgec", "runtime") for name in _imports(path)} - ours
    assert used == set(DOORS)


def test_generated_code_imports_the_standard_library_and_the_runtime_only() -> None:
    allowed = {"", "__future__", "collections", "datetime", "decimal", "pathlib", "typing", "forgec_runtime"}
    modules = _modules("generated")
    assert modules
    assert {name for path in modules for name in _imports(path)} <= allowed


def test_the_exports_of_the_runtime_are_complete_and_sorted() -> None:
    import forgec_runtime

    exported = forgec_runtime.__all__
    assert sorted(exported, key=lambda name: (not name.isupper(), name)) == exported
    public = {
        name for name, value in vars(forgec_runtime).items() if not name.startswith("_") and not _is_module(value)
    }
    late = {"AsyncEnvironment", "RemoteEpisode", "SharedEnvironment", "Workers"}  # imported when they are used
    assert public | late == set(exported)
    assert all(getattr(forgec_runtime, name).__name__ == name for name in late)


def _is_module(value: object) -> bool:
    return type(value).__name__ == "module"
