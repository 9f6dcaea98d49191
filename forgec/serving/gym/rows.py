"""Rows of a dataset: what the agent is given of a task, and by which fields its session is begun."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forgec.rollouts.run import Job
from forgec_runtime import Environment

MAX_SEED = 2**63
RESERVED = frozenset(
    {"seed_session", "close_session", "verify", "aggregate_metrics", "next_user_message", "execute_agent_tool_calls",
     "mcp"}
)  # fmt: skip
"""Names that no tool may have whose route it would be."""


class BadRequest(ValueError):
    """A request that makes no sense, in a text for whoever made it."""


def job_of(environment: Environment, row: Mapping[str, Any]) -> Job:
    """The episode that a row is about. Raises `BadRequest`."""
    own, task, seed = row.get("environment", environment.name), row.get("task"), row.get("seed", 0)
    if own != environment.name:
        raise BadRequest(f"the row is of the environment {str(own)[:100]!r}; this server plays {environment.name!r}")
    if task is None:
        raise BadRequest("a row must name its task")
    if not isinstance(task, str) or task not in environment.tasks:
        raise BadRequest(f"{environment.name!r} has no task {str(task)[:100]!r}")
    if type(seed) is not int or not 0 <= seed < MAX_SEED:
        raise BadRequest(f"seed must be an integer from 0 on, not {str(seed)[:100]!r}")
    trial = row.get("_ng_rollout_index")
    return Job(environment.tasks[task], seed, trial if type(trial) is int else 0)


def tools_of(schemas: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Function schemas as OpenAI's Responses API has them. They are not strict: a parameter may be left out."""
    return [{"type": "function", **schema["function"], "strict": False} for schema in schemas]


def params_of(environment: Environment, opening: Sequence[str] = ()) -> dict[str, Any]:
    """What the model is asked with: the policy, what the user opens with if that is known, and the tools."""
    return {
        "input": [
            {"role": "system", "content": environment.policy},
            *({"role": "user", "content": text} for text in opening),
        ],
        "tools": tools_of([tool.schema for tool in environment.tools.values()]),
        "parallel_tool_calls": True,
    }
