"""How many tasks are made and certified in a second, what of it certification takes, and how memory grows.

    make bench-tasks        # or: .venv/bin/python -m benchmarks.tasks [--library 1000] [--retail 300] [--json FILE]

`forgec tasks --count N` is run on the library, all of its worlds, and on retail's small one. Time is that of all
processors, the process that plays plans again included, so that the figures are those of one core; reading the spec
and compiling it is left out. Memory is looked at as the run goes on.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.certify import megabytes, seconds
from forgec.certifying import FreshProcess
from forgec.commands.environments import compiled
from forgec.pipeline import check
from forgec.tasking.choosing import DIFFICULTIES, Choosing
from forgec.tasking.ground import Ground
from forgec.tasking.keeping import Unfinished
from forgec.tasking.making import Made, Maker
from forgec.tasking.running import run

ROOT = Path(__file__).parent.parent
GOALS = {"library": 100, "retail": 20}
"""Certified tasks a second, of one core."""


@dataclass
class Measured:
    """One run: seconds in all, and those of certification without the process that plays plans again."""

    what: str
    tasks: int = 0
    drafts: int = 0
    seconds: float = 0.0
    certifying: float = 0.0
    executions: int = 0
    """How often DuckDB was asked, but by the process that plays plans again."""
    goal: int = 0
    megabytes: dict[int, float] = field(default_factory=dict)
    """What was held when there were so many tasks."""

    def __str__(self) -> str:
        held = ", ".join(f"{number:,}: {size:.0f} MB" for number, size in self.megabytes.items())
        return (
            f"{self.what}: {self.tasks:,} tasks of {self.drafts:,} drafts, {self.tasks / self.seconds:.1f} a second "
            f"(goal {self.goal}), {self.seconds / self.tasks * 1e3:.0f} ms each, of which certification "
            f"{self.certifying / self.tasks * 1e3:.0f}; {self.executions / self.tasks:.1f} executions each; {held}"
        )


class _Timed(Maker):
    """A maker that counts what certification takes in this process."""

    spent = 0.0

    def certified(self, tasks: Sequence[Made]) -> Iterator[Made]:
        before = seconds()
        found = list(super().certified(tasks))
        self.spent += seconds() - before
        yield from found


def measured(name: str, worlds: list[str], count: int) -> Measured:
    """Make so many tasks of a shipped spec."""
    found = Measured(f"{name}, {', '.join(worlds) or 'all worlds'}", goal=GOALS[name])
    with tempfile.TemporaryDirectory() as folder:
        for file in (ROOT / "specs").glob("*.afs"):
            shutil.copy(file, folder)
        checked = check(Path(folder, f"{name}.afs"))
        assert checked.spec is not None
        spec = checked.spec
        with compiled(spec) as environment:
            before = seconds()
            with FreshProcess(environment) as process:
                known = worlds or [world for world, one in spec.worlds.items() if one.known]
                maker = _Timed(Ground(spec, environment), 7, known, process)

                def told(tasks: int) -> None:
                    if tasks % max(count // 5, 1) == 0:
                        found.megabytes[tasks] = megabytes()

                outcome = run(maker, Choosing(count, DIFFICULTIES["mixed"]), Unfinished(Path(folder, "run"), {}), told)
            found.seconds = seconds() - before
            found.certifying = maker.spent
            found.tasks, found.drafts = outcome.report["tasks"], outcome.report["drafts"]
            found.executions = environment.executions
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", type=int, default=1_000, metavar="N", help="tasks of the library")
    parser.add_argument("--retail", type=int, default=300, metavar="N", help="tasks of retail's small world")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    given = parser.parse_args()
    figures = []
    for name, worlds, count in (("library", [], given.library), ("retail", ["corner_shop"], given.retail)):
        if count:
            figures.append(measured(name, worlds, count))
            print(figures[-1], flush=True)
    if given.json is not None:
        given.json.write_text(json.dumps([asdict(one) for one in figures], indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
