"""What an agent and a user say and do to each other: messages in the shape of OpenAI's chat, and what each hands in.

These types are the language between the loop, agents, users and trajectories; they depend on nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
Side: TypeAlias = Literal["agent", "user"]
Outcome: TypeAlias = Literal["ok", "refused", "invalid", "fault", "not_run"]
ReasoningField: TypeAlias = Literal["reasoning_content", "reasoning", "content"]


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Function(_Data):
    """Which tool is called, and with what."""

    name: str
    arguments: str = Field(description="JSON text of an object, as it was written: it may be anything else, too.")


class ToolCall(_Data):
    """One call of a tool."""

    id: str
    type: Literal["function"]
    function: Function

    @staticmethod
    def of(name: str, arguments: Mapping[str, Any] | str = "{}", id: str = "") -> ToolCall:
        """A call of `name`; an object of arguments is written as JSON. Raises `TypeError` for what JSON lacks."""
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        return ToolCall(id=id, type="function", function=Function(name=name, arguments=text))

    @property
    def name(self) -> str:
        return self.function.name

    @property
    def arguments(self) -> str:
        return self.function.arguments


class Message(_Data):
    """One message of a transcript. Beside the fields of OpenAI's chat it has some of ours, which say what it was."""

    role: Role
    content: str
    reasoning: str | None = Field(default=None, description="What the assistant thought before it said or did this.")
    reasoning_field: ReasoningField | None = Field(
        default=None,
        description="Where the endpoint had the reasoning: a field of the message, or <think> tags in its content.",
    )
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = Field(default=None, description="The tool that a result is of.")
    by: Literal["agent", "user", "loop"] | None = Field(
        default=None, description="Of a result: whose call it was. Of a user's message: `loop` where no user said it."
    )
    kind: Outcome | None = Field(
        default=None, description="Of a result: how the call ended; `not_run` where a limit stood."
    )
    reveals: tuple[str, ...] = Field(default=(), description="The facts that the user tells here, by their names.")
    asks_back: tuple[str, ...] = Field(
        default=(), description="The facts of which the user asks here whether they are meant, by their names."
    )
    finish: str | None = Field(default=None, description="Why the model stopped, where that was not of its own accord.")
    cut: int | None = Field(default=None, description="How many characters this had before it was cut for the record.")


Transcript: TypeAlias = Sequence[Message]
"""The messages that one side has seen, in order; grows as the dialogue does, and is not to be changed."""


class AssistantMessage(_Data):
    """What an agent does in one turn: it calls tools, in order, or speaks to the user.

    Text beside calls is not heard by the user.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    reasoning: str | None = None
    reasoning_field: ReasoningField | None = None
    finish: str | None = None


class Utterance(_Data):
    """What a user does in one turn: it calls its own tools, in order, or speaks to the agent.

    After calls the user is asked again, with their results in its transcript; text beside them is not heard. With
    `done` its requests are satisfied, or, with `gives_up`, it sees no way to them: the dialogue ends after this text.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    reveals: tuple[str, ...] = ()
    asks_back: tuple[str, ...] = ()
    done: bool = False
    gives_up: bool = False


def readable(text: str) -> str:
    """Text without what UTF-8 cannot hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
