"""What identifies an environment: hashes that the compiler has stamped into its package."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from .errors import LoadError


@dataclass(frozen=True)
class Hashes:
    """The hashes in a file of a package, which is read when one of them is asked for.

    Episodes of packages with the same hashes can be compared: `environment` is what an agent sees and what its calls
    do, `grading` what decides on rewards, and `worlds` and `tasks` have a hash a name.
    """

    path: Path

    @cached_property
    def _content(self) -> dict[str, Any]:
        try:
            content: dict[str, Any] = json.loads(self.path.read_bytes())
            return {name: content[name] for name in ("environment", "grading", "worlds", "tasks")}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise LoadError(f"{self.path.as_posix()} cannot be read: {error}") from error

    @property
    def environment(self) -> str:
        return str(self._content["environment"])

    @property
    def grading(self) -> str:
        return str(self._content["grading"])

    @property
    def worlds(self) -> Mapping[str, str]:
        worlds: Mapping[str, str] = self._content["worlds"]
        return worlds

    @property
    def tasks(self) -> Mapping[str, str]:
        tasks: Mapping[str, str] = self._content["tasks"]
        return tasks
