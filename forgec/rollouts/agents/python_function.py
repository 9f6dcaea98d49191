"""An agent that is a Python function: `module:function`.

It is called with the messages, as OpenAI's chat has them, and the tools' schemas, and gives a text for the user, or a
message with `content` and `tool_calls`. It may be a coroutine function; one that is not must not wait for anything,
since all episodes wait with it.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Callable, Mapping
from copy import deepcopy
from importlib import import_module
from typing import Any

from forgec.dialogue import AssistantMessage, ToolCall, Transcript
from forgec.rollouts.agents.agent import AgentError, Tools
from forgec.rollouts.agents.chat import chat_message

Function = Callable[[list[dict[str, Any]], Tools], Any]


def named_function(name: str) -> Function:
    """The function that `module:function` names, in a module of the working directory, too. Raises `ValueError`."""
    module, colon, attribute = name.partition(":")
    if not (module and colon and attribute):
        raise ValueError(f"`{name}` names no function: write module:function")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found: Any = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except ModuleNotFoundError as error:
        raise ValueError(f"there is no module `{error.name}`, for the agent {name}") from None
    except AttributeError:
        raise ValueError(f"the module `{module}` has no `{attribute}`") from None
    except (Exception, SystemExit) as error:
        raise ValueError(f"the module `{module}` cannot be imported: {type(error).__name__}: {error}") from error
    if not callable(found):
        raise ValueError(f"`{name}` is no function")
    function: Function = found
    return function


class FunctionPlayer:
    """Plays by a function."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self._chat: list[dict[str, Any]] = []
        self._tools: Tools | None = None

    async def act(self, transcript: Transcript, tools: Tools) -> AssistantMessage:
        self._chat.extend(chat_message(message) for message in transcript[len(self._chat) :])
        if self._tools is None:
            self._tools = deepcopy(tools)  # what one agent does to them is nothing to the others
        try:
            answer = self.function(list(self._chat), self._tools)
            if inspect.isawaitable(answer):
                answer = await answer
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
                raise  # the episode's end, not the agent's doing
            raise AgentError(f"the agent raised {type(error).__name__}: {error}") from error
        return assistant_message(answer, number=len(transcript))


def assistant_message(answer: Any, number: int = 0) -> AssistantMessage:
    """What a function gave, as a message. Raises `AgentError` for what is none."""
    if isinstance(answer, AssistantMessage):
        return answer
    if isinstance(answer, str):
        return AssistantMessage(text=answer)
    if not isinstance(answer, Mapping):
        raise AgentError(f"the agent gave a {type(answer).__name__}, which is neither a text nor a message")
    text, calls = answer.get("content") or "", answer.get("tool_calls") or ()
    reasoning = answer.get("reasoning_content") or answer.get("reasoning")
    if not isinstance(text, str) or not isinstance(calls, list | tuple) or not isinstance(reasoning, str | None):
        raise AgentError("the agent gave a message whose content, reasoning or tool_calls are not of their type")
    return AssistantMessage(
        text=text, calls=tuple(_call(call, f"call_{number}_{i}") for i, call in enumerate(calls)), reasoning=reasoning,
        reasoning_field="reasoning_content" if reasoning else None,
    )  # fmt: skip


def _call(call: Any, id_: str) -> ToolCall:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise AgentError("the agent gave a call without a function that has a name")
    arguments = function.get("arguments")
    try:
        written = ToolCall.of(function["name"], {} if arguments is None else arguments, id_)
    except (TypeError, ValueError, RecursionError) as error:
        raise AgentError(f"the agent gave arguments that are no JSON: {error}") from None
    given = call.get("id")
    return written.model_copy(update={"id": given}) if isinstance(given, str) and given else written
