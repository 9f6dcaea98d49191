"""The JSON of tau2-bench's results, as far as it is read: what is unknown is left alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

MAX_BYTES = 2**30
"""How large a file may be; published ones of a domain have some tens of megabytes."""
STOPPED = ("user_stop", "agent_stop")
"""How an episode has to end for tau2-bench to pay anything."""


class ResultsError(ValueError):
    """A file that holds no results of tau2-bench; the text says where it goes wrong."""


class _Shape(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, coerce_numbers_to_str=True)


T = TypeVar("T", bound=_Shape)


class Call(_Shape):
    """A call of a tool."""

    id: str = ""
    name: str
    arguments: dict[str, Any] = {}


class Said(_Shape):
    """A message of a dialogue, or the result of a call."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str | None = None
    tool_calls: tuple[Call, ...] | None = None
    requestor: str | None = None
    """Of a result: whose call it was, `assistant` or `user`."""
    error: bool = False
    tool_messages: tuple[Said, ...] = ()
    """The results of several calls, where they stand together."""
    raw_data: dict[str, Any] | None = None
    """What the endpoint gave."""

    @property
    def reasoning(self) -> str | None:
        """What the model thought, where its endpoint told."""
        raw = self.raw_data or {}
        message = raw.get("message", raw)
        found = message.get("reasoning_content") if isinstance(message, dict) else None
        return found if isinstance(found, str) and found else None


class State(_Shape):
    """Whether the final state is that of the gold."""

    db_match: bool


class Told(_Shape):
    """Whether the agent told something."""

    info: str
    met: bool


class Action(_Shape):
    """A call of a gold plan."""

    name: str
    arguments: dict[str, Any] = {}


class Checked(_Shape):
    """A call of the gold plan that an episode was judged by."""

    action: Action


class Paid(_Shape):
    """The reward, and what it is the product of."""

    reward: float
    action_checks: tuple[Checked, ...] | None = None
    db_check: State | None = None
    communicate_checks: tuple[Told, ...] | None = None
    reward_basis: tuple[str, ...] | None = None
    reward_breakdown: dict[str, float] | None = None

    def part(self, name: str) -> float | None:
        """What a part is worth; None where the reward has no such part."""
        return (self.reward_breakdown or {}).get(name)


class Simulation(_Shape):
    """One episode."""

    task_id: str
    trial: int | None = None
    termination_reason: str = "user_stop"
    reward_info: Paid | None = None
    messages: tuple[Said, ...] | None = None

    def without(self, history: int) -> Simulation:
        """The episode without the messages that it began with: our tasks begin where those have led."""
        return self if self.messages is None else self.model_copy(update={"messages": self.messages[history:]})

    @property
    def results(self) -> Iterator[Said]:
        """The results of all calls, in their order."""
        for message in self.messages or ():
            yield from message.tool_messages
            if message.role == "tool" and not message.tool_messages:
                yield message


class Start(_Shape):
    """How a task begins."""

    message_history: tuple[Any, ...] | None = None


class Criteria(_Shape):
    """What an episode of a task is judged by."""

    actions: tuple[Action, ...] | None = None
    env_assertions: tuple[Any, ...] | None = None


class Played(_Shape):
    """A task, as far as its episodes need it."""

    id: str
    initial_state: Start | None = None
    evaluation_criteria: Criteria | None = None

    @property
    def history(self) -> int:
        """How many messages its episodes begin with that were not said in them."""
        return len((self.initial_state and self.initial_state.message_history) or ())

    @property
    def has_state(self) -> bool:
        """Whether there is a state for its episodes to end in; without, tau2-bench takes any for right."""
        criteria = self.evaluation_criteria
        return criteria is not None and not (criteria.actions is None and criteria.env_assertions is None)

    def judged(self, paid: Paid) -> bool:
        """Whether a reward can be one of this task: files are around whose tasks have been numbered anew."""
        gold = (self.evaluation_criteria or Criteria()).actions or ()
        return paid.action_checks is None or gold == tuple(one.action for one in paid.action_checks)


class Side(_Shape):
    """Who played one side."""

    implementation: str = ""
    llm: str | None = None


class Environment(_Shape):
    domain_name: str = ""


class Info(_Shape):
    """What was played, and by whom."""

    agent_info: Side = Side()
    user_info: Side = Side()
    environment_info: Environment = Environment()


class Results(_Shape):
    """All episodes of a run."""

    info: Info = Info()
    tasks: tuple[Played, ...] = ()
    simulations: tuple[Simulation, ...] = ()


def read(path: Path) -> Results:
    """The results in a file, or in a folder that has `results.json` and its episodes in `simulations/`.

    Raises `ResultsError`.
    """
    head = path / "results.json" if path.is_dir() else path
    found = _of(Results, head)
    folder = head.parent / "simulations"
    if not found.simulations and folder.is_dir():
        some = tuple(_of(Simulation, file) for file in sorted(folder.glob("*.json")))
        found = found.model_copy(update={"simulations": some})
    if not found.simulations:
        raise ResultsError(f"{head} has no `simulations`")
    history = {task.id: task.history for task in found.tasks}
    own = tuple(one.without(history.get(one.task_id, 0)) for one in found.simulations)
    return found.model_copy(update={"simulations": own})


def _of(shape: type[T], path: Path) -> T:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ResultsError(f"{path} is larger than {MAX_BYTES // 2**20:,} MiB")
        return shape.model_validate(json.loads(path.read_bytes()))
    except OSError as error:
        raise ResultsError(f"{path} cannot be read: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
        raise ResultsError(
            f"{path} holds no results of tau2-bench: at `{where.removeprefix('.') or 'the top'}`: "
            f"{first['msg'][:1].lower()}{first['msg'][1:]}"
        ) from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, ResultsError):
            raise
        raise ResultsError(f"{path} is no JSON that can be read") from None
