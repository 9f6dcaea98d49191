"""Very many tasks, certified some hundreds at a time, with what is known by then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from forgec.certifying.checking import certify
from forgec.certifying.collecting import seldom_collected
from forgec.certifying.computing import twin_of
from forgec.certifying.fresh import FreshProcess
from forgec.certifying.verdict import Verdict
from forgec_runtime import Environment, Task, Tasks

SIZE = 200
"""Tasks at once: more cost memory, fewer time."""


def certify_all(environment: Environment, names: Iterable[str]) -> Iterator[list[tuple[Task, Verdict]]]:
    """The tasks of an environment with their verdicts, a batch at a time; no more than one batch is held.

    The environment keeps answers from then on. Raises `LoadError`.
    """
    environment.keep_answers(twin_of)
    left = iter(names)
    with FreshProcess(environment) as process, seldom_collected():
        while batch := list(islice(left, SIZE)):
            tasks = [_task(environment, name) for name in batch]
            yield list(zip(tasks, certify(environment, tasks, process), strict=True))


def _task(environment: Environment, name: str) -> Task:
    tasks = environment.tasks
    return tasks.once(name) if isinstance(tasks, Tasks) else tasks[name]
