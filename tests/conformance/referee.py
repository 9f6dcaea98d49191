"""tau2-bench's own retail environment as the judge of ours: the same data, the same calls.

Its package is used where `TAU2_PATH` names the folder that holds it, or where it is installed; nothing of it is part of
this project. It imports a stack for language models that its environments do not need, which is left out here.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from forgec_runtime import Environment, Episode, Table, load_environment

_PACKAGES = ("tau2", "tau2.agent", "tau2.user", "tau2.runner", "tau2.orchestrator")


def find_tau2() -> Path | None:
    """The folder of the package; None where there is none."""
    if (named := os.environ.get("TAU2_PATH")) is not None:
        return Path(named) / "tau2" if (Path(named) / "tau2").is_dir() else None
    found = importlib.util.find_spec("tau2")
    return Path(found.origin).parent if found is not None and found.origin is not None else None


def retail_of(folder: Path) -> Any:
    """The module that makes tau2's retail environments."""
    if str(folder.parent) not in sys.path:
        sys.path.append(str(folder.parent))
    for name in _PACKAGES:
        package = ModuleType(name)
        package.__path__ = [str(folder.joinpath(*name.split(".")[1:]))]
        sys.modules.setdefault(name, package)
    logger = importlib.import_module("loguru").logger
    logger.remove()
    return importlib.import_module("tau2.domains.retail.environment")


def retail_tasks(folder: Path) -> list[dict[str, Any]]:
    """The tasks that come with the package."""
    path = folder / "data" / "tau2" / "domains" / "retail" / "tasks.json"
    tasks: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return tasks


def with_rows(package: Path, folder: Path, documents: Mapping[str, Iterable[Mapping[str, Any]]]) -> Environment:
    """Our environment with rows of its tables from documents, in its only world."""
    copy = folder / package.name
    shutil.copytree(package, copy)
    (world,) = (copy / "worlds").iterdir()
    tables = load_environment(package).tables
    rows: dict[str, list[dict[str, Any]]] = {table.name: [] for table in tables}
    for table in tables:
        for document in documents.get(table.name, ()):
            for name, row in _flat(table, document, ()):
                rows[name].append(row)
    world.write_text(json.dumps(rows), encoding="utf-8")
    return load_environment(copy)


def _flat(
    table: Table[Any], document: Mapping[str, Any], parent: tuple[Any, ...]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """A document as a row of its table and the rows nested in it, each with the key of the row around it."""
    key = dict(zip(table.key, parent, strict=False))
    row = {name: key[name] if name in key else _sorted(document.get(name)) for name in table.names}
    yield table.name, row
    for nested in table.nested:
        found = document[nested.last]
        for number, inner in enumerate(found.values() if nested.kind == "map" else found, 1):
            above = tuple(row[name] for name in table.key)
            own = inner[nested.key[-1]] if nested.kind == "map" else number
            yield from _flat(nested, inner, (*above, own))


def _sorted(value: Any) -> Any:
    return dict(sorted(value.items())) if isinstance(value, dict) else value


@dataclass(frozen=True)
class Verdict:
    """What both answered to one call: as JSON, or the text of an error."""

    tool: str
    arguments: Mapping[str, Any]
    theirs: Any
    ours: Any

    @property
    def agrees(self) -> bool:
        return bool(self.theirs == self.ours)


def judged(referee: Any, ours: Environment, episode: Episode, tool: str, arguments: Mapping[str, Any]) -> Verdict:
    """One call in both."""
    message = importlib.import_module("tau2.data_model.message")
    said = referee.get_response(message.ToolCall(id="1", name=tool, arguments=dict(arguments)))
    result = ours.call(episode, tool, **arguments)
    theirs = ("error", said.content.removeprefix("Error: ")) if said.error else ("ok", _read(said.content))
    answer = ("ok", _read(json.loads(result.text))) if result.ok else ("error", result.text)
    return Verdict(tool, arguments, theirs, answer)


def _read(content: Any) -> Any:
    """A text that is JSON as what it says: tau2 writes some results as text that others give as objects."""
    if not isinstance(content, str):
        return content
    try:
        return json.loads(content)
    except ValueError:
        return content


def state_of(referee: Any) -> dict[str, Any]:
    """The documents of tau2's database."""
    state: dict[str, Any] = json.loads(referee.tools.db.model_dump_json())
    return state
