"""The runtime of generated environments: episodes over DuckDB, stepped together, and rewards with reasons."""

import importlib
import typing

from .agents import AGENTS, Agent, GoldAgent, NoopAgent, RandomAgent
from .briefing import Asked, Briefing, Known
from .call import Call
from .constraints import Invariant
from .data.outside import PackageFile, VariableFile
from .environment import Environment
from .episode import Episode
from .errors import FAULT_TEXT, CallTimeout, Fault, LoadError, PostureError, Refusal, SnapshotError, WorkerError
from .hashes import Hashes
from .loading import load_environment
from .plan import GoldError
from .query import Query
from .results import Result
from .reward import REWARD_VERSION, Reward, Shortfall
from .schema import Column, Index, Table, Tie
from .task_file import Tasks
from .tasks import Computed, Expectation, Fact, Literal, Plan, Reason, Ref, Saying, Step, Task, TaskError
from .tool import Parameter, Tool
from .world import World

if typing.TYPE_CHECKING:
    from .front import AsyncEnvironment
    from .remote import RemoteEpisode
    from .shared import SharedEnvironment
    from .workers import Workers

_LATER = {
    "AsyncEnvironment": "front", "RemoteEpisode": "remote", "SharedEnvironment": "shared", "Workers": "workers",
}  # fmt: skip
"""What few programs need, and its modules: it is imported when it is needed; asyncio takes a tenth of the start."""

__all__ = [
    "AGENTS",
    "FAULT_TEXT",
    "REWARD_VERSION",
    "Agent",
    "Asked",
    "AsyncEnvironment",
    "Briefing",
    "Call",
    "CallTimeout",
    "Column",
    "Computed",
    "Environment",
    "Episode",
    "Expectation",
    "Fact",
    "Fault",
    "GoldAgent",
    "GoldError",
    "Hashes",
    "Index",
    "Invariant",
    "Known",
    "Literal",
    "LoadError",
    "NoopAgent",
    "PackageFile",
    "Parameter",
    "Plan",
    "PostureError",
    "Query",
    "RandomAgent",
    "Reason",
    "Ref",
    "Refusal",
    "RemoteEpisode",
    "Result",
    "Reward",
    "Saying",
    "SharedEnvironment",
    "Shortfall",
    "SnapshotError",
    "Step",
    "Table",
    "Task",
    "TaskError",
    "Tasks",
    "Tie",
    "Tool",
    "VariableFile",
    "WorkerError",
    "Workers",
    "World",
    "load_environment",
]


def __getattr__(name: str) -> object:
    if name in _LATER:
        return getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
