"""The runtime of generated environments: episodes over DuckDB, stepped together, and rewards with reasons."""

from .agents import AGENTS, Agent, GoldAgent, NoopAgent, RandomAgent
from .briefing import Asked, Briefing, Known
from .call import Call
from .constraints import Invariant
from .data.outside import PackageFile, VariableFile
from .environment import Environment
from .episode import Episode
from .errors import FAULT_TEXT, CallTimeout, Fault, LoadError, Refusal, SnapshotError, WorkerError
from .front import AsyncEnvironment
from .hashes import Hashes
from .loading import load_environment
from .plan import GoldError
from .query import Query
from .results import Result
from .reward import REWARD_VERSION, Reward, Shortfall
from .schema import Column, Index, Table, Tie
from .shared import SharedEnvironment
from .task_file import Tasks
from .tasks import Computed, Expectation, Fact, Literal, Plan, Reason, Ref, Saying, Step, Task, TaskError
from .tool import Parameter, Tool
from .workers import RemoteEpisode, Workers
from .world import World

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
