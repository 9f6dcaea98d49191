"""How a call can end without a result, and what it raises while it waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .query import Query
    from .schema import Index, Table

FAULT_TEXT = "The tool could not complete this call"
"""What the agent reads when a tool cannot be evaluated: details are for developers, not for policies."""

STOPPED = "stopped: the step took too long"
"""The detail of a call that `Environment.stop` ended."""

ENDED_TEXT = "The episode has ended: no tool can be called any more"
"""What is read by whoever calls a tool after one that ends the episode."""


class Refusal(Exception):
    """The call fails with this text, for the agent to read, and nothing is changed."""


class Fault(Exception):
    """The tool cannot be evaluated: overflow, more rows than one, an error of the engine."""


class LoadError(Exception):
    """A generated package that cannot be loaded."""


class SnapshotError(Exception):
    """Bytes that are no snapshot of an episode, or one that does not fit here."""


class WorkerError(Exception):
    """A worker process has died, and episodes with it; or it failed at what no worker should fail at.

    `results` are those of a step that the other workers did; None for the calls that were lost.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.results: list[Any] = []


class PostureError(Exception):
    """Workers that are confined less than was asked for."""

    def __init__(self, found: str, asked: str, why: str) -> None:
        super().__init__(f"workers are to be `{asked}`, and here they are only `{found}`: {why}")


class CallTimeout(TimeoutError):
    """What was asked of an environment took too long; `ran` tells whether it runs to its end all the same."""

    def __init__(self, seconds: float, ran: bool) -> None:
        does = "it runs to its end, and what comes of it is dropped" if ran else "it had not begun, and is not run"
        super().__init__(f"no answer within {seconds:g} seconds; {does}")
        self.ran = ran


class Suspend(Exception):
    """Raised inside a call that needs what is not in memory; the scheduler answers and runs the call again."""


class Fetch(Suspend):
    """Rows that were not decoded yet; the answer goes to the cache that all episodes of a world share.

    They are known by their keys or, with `column`, by what they have there.
    """

    def __init__(self, table: Table[Any], values: list[Any], column: str | Index | None = None) -> None:
        self.table = table
        self.values = values
        self.column = column


class Ask(Suspend):
    """A query; the answer goes to the memory of the call."""

    def __init__(self, query: Query, values: tuple[Any, ...]) -> None:
        self.query = query
        self.values = values
