"""The runtime of generated environments: episodes over DuckDB, stepped together, and rewards with reasons."""

import typing

from .agents import AGENTS, Agent, GoldAgent, NoopAgent, RandomAgent
from .briefing import Asked, Briefing, Known
from .call import Call
from .constraints import Invariant
from .data.outside import PackageFile, VariableFile
from .environment import Environment
from .episode import Episode
from .errors import FAULT_TEXT, CallTimeout, Fault, LoadError, Refusal, SnapshotError, WorkerError
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
from .workers import RemoteEpisode, Workers
from .world import World

if typing.TYPE_CHECKING:
    from .front import AsyncEnvironment
    from .shared import SharedEnvironment

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
    """What few programs need is imported when it is: asyncio takes a tenth of the start."""
    if name == "AsyncEnvironment":
        from .front import AsyncEnvironment

        return AsyncEnvironment
    if name == "SharedEnvironment":
        from .shared import SharedEnvironment

        return SharedEnvironment
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
