"""Which tasks of environments a command is about: by name, by pattern, by tag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

import click

from forgec.diagnostics import did_you_mean
from forgec_runtime import Environment, LoadError, Task

tasks_option = click.option(
    "--task",
    "--tasks",
    "wanted",
    multiple=True,
    metavar="WHICH",
    help="Only these tasks: a name, a pattern such as 'keep_*', or `tag:NAME`; several with commas, or repeated.",
)


@dataclass
class Wanted:
    """The tasks that were asked for; all that can begin where none was."""

    patterns: Sequence[str]
    single: bool = True
    """Whether there is one environment, which must have all of them."""
    found: set[str] = field(default_factory=set)

    @classmethod
    def parsed(cls, given: Sequence[str], environments: int) -> Wanted:
        return cls([part.strip() for one in given for part in one.split(",") if part.strip()], environments == 1)

    def of(self, environment: Environment) -> list[str]:
        """The names of the wanted tasks, in the order of the environment. Raises `LoadError` for those it lacks.

        Tasks of worlds that may not be read are left out, which is said, unless they are asked for.
        """
        if not self.patterns:
            return [name for name in environment.tasks if not _is_skipped(environment, name)]
        chosen: set[str] = set()
        for pattern in self.patterns:
            matching = {name for name, task in environment.tasks.items() if _matches(pattern, name, task)}
            if matching:
                self.found.add(pattern)
            elif self.single:
                hint = did_you_mean(pattern, environment.tasks)
                raise LoadError(f"`{environment.name}` has no task `{pattern}`" + (f"; {hint}" if hint else ""))
            chosen |= matching
        return [name for name in environment.tasks if name in chosen]

    def check(self) -> None:
        """Raises `LoadError` for what no environment had."""
        missing = [pattern for pattern in self.patterns if pattern not in self.found]
        if missing:
            raise LoadError(f"no environment has a task named {', '.join(missing)}")


def _matches(pattern: str, name: str, task: Task) -> bool:
    kind, colon, tag = pattern.partition(":")
    return tag in task.tags if colon and kind == "tag" else fnmatchcase(name, pattern)


def _is_skipped(environment: Environment, name: str) -> bool:
    """Whether a task is left out because its world may not be read, which is said."""
    denied = environment.denied(environment.tasks[name].world)
    if denied:
        flags = " ".join(f"--allow-source {source}" for source in denied)
        click.echo(f"skipped {environment.name}/{name}: rows of its world lie outside ({flags})", err=True)
    return bool(denied)
