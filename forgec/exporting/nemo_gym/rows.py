"""The lines of data sets: what a model is asked, which episode it is about, and which agent plays it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from forgec.exporting.nemo_gym.names import Names
from forgec.rollouts.run import Job
from forgec.serving.gym.rows import params_of
from forgec_runtime import Environment, Task


def jobs_of(tasks: Sequence[Task], seeds: int) -> list[Job]:
    """The episodes of tasks: of those that are drawn, so many as there are `seeds`; of others one."""
    return [Job(task, seed, 0) for task in tasks for seed in range(seeds if task.samples else 1)]


def row(environment: Environment, names: Names, job: Job, opening: Sequence[str] = ()) -> dict[str, Any]:
    """The row of an episode; `opening` is what the user says at first, where the agent server does not ask for it."""
    return {
        "id": f"{environment.name}/{job.task.name}/{job.seed}",
        "responses_create_params": params_of(environment, opening),
        "environment": environment.name,
        "task": job.task.name,
        "seed": job.seed,
        "tags": list(job.task.tags),
        "agent_ref": {"type": "responses_api_agents", "name": names.agent},
    }


def lines(rows: Iterable[dict[str, Any]]) -> str:
    """Rows as lines of JSON."""
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in rows)
