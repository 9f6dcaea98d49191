"""The JSON of tau2-bench's tasks, as far as it is read: what is unknown is left alone."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError


class Shape(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Action(Shape):
    """A call of a tool."""

    name: str
    arguments: dict[str, Any] = {}


class Instructions(Shape):
    """What the user is told, in parts."""

    reason_for_call: str | None = None
    known_info: str | None = None
    unknown_info: str | None = None
    task_instructions: str | None = None


class Scenario(Shape):
    """What the user is told."""

    persona: str | None = None
    instructions: str | Instructions

    @property
    def paragraphs(self) -> list[str]:
        """The texts, in the order in which a person would read them."""
        told = self.instructions
        parts = [told] if isinstance(told, str) else [
            told.reason_for_call, told.known_info, told.unknown_info, told.task_instructions,
        ]  # fmt: skip
        manner = f"Your manner: {self.persona.strip()}" if self.persona and self.persona.strip() else None
        return [part.strip() for part in [*parts, manner] if part and part.strip()]


class Description(Shape):
    """What the authors note about a task."""

    purpose: str | None = None


class FunctionCall(Shape):
    """A call of a function of the environment, which may be no tool."""

    func_name: str
    arguments: dict[str, Any] = {}


class Assertion(FunctionCall):
    """A function of the final state, and what it must give."""

    assert_value: bool = True


class Data(Shape):
    """What is written over the documents of both sides, collection by collection."""

    agent_data: dict[str, dict[str, dict[str, Any]]] | None = None
    user_data: dict[str, dict[str, dict[str, Any]]] | None = None


class Message(Shape):
    """A message of the history; the calls of tools in it were made."""

    tool_calls: list[Action] | None = None


class Start(Shape):
    """What is otherwise when a task begins."""

    initialization_data: Data | None = None
    initialization_actions: list[FunctionCall] | None = None
    message_history: list[Message] | None = None


class Criteria(Shape):
    """What a reward is made of."""

    actions: list[Action] | None = None
    env_assertions: list[Assertion] | None = None
    communicate_info: list[str] | None = None
    nl_assertions: list[str] | None = None


class Tau2Task(Shape):
    """One task."""

    id: str
    description: Description | None = None
    user_scenario: Scenario
    initial_state: Start | None = None
    evaluation_criteria: Criteria | None = None

    @property
    def criteria(self) -> Criteria:
        return self.evaluation_criteria or Criteria()

    @property
    def gold(self) -> list[Action]:
        """The calls that are right."""
        return self.criteria.actions or []


class NoTasks(Exception):
    """A file that holds no tasks of tau2-bench; the text says where it goes wrong."""


_TASKS = TypeAdapter(list[Tau2Task])


def read_tasks(data: bytes) -> list[Tau2Task]:
    """The tasks of a file, be it one of tasks or one of results, which has them, too. Raises `NoTasks`."""
    try:
        found = json.loads(data)
        tasks = _TASKS.validate_python(found.get("tasks") if isinstance(found, dict) else found)
    except (ValueError, RecursionError) as error:
        raise NoTasks(_reason(error)) from None
    seen: set[str] = set()
    for task in tasks:
        if task.id in seen:
            raise NoTasks(f"two tasks have the id {task.id!r}")
        seen.add(task.id)
    return tasks


def read_splits(data: bytes) -> dict[str, list[str]]:
    """The tasks that belong to each split, by their ids. Raises `NoTasks`."""
    try:
        return TypeAdapter(dict[str, list[str]]).validate_python(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise NoTasks(_reason(error)) from None


def _reason(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
        return f"at `{where.removeprefix('.') or 'the top'}`: {first['msg'][:1].lower()}{first['msg'][1:]}"
    return "it is no JSON that can be read"
