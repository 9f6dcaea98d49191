"""An agent that is a model behind an endpoint."""

from __future__ import annotations

from typing import Any

from forgec.dialogue import AssistantMessage, ToolCall, Transcript
from forgec.llm.client import Client
from forgec.rollouts.agents.agent import AgentPart, Tools
from forgec.rollouts.agents.chat import chat_message


class EndpointPlayer:
    """Sends the dialogue, and gives what the model answers.

    With `reasoning` the model reads what it thought in all earlier turns (interleaved thinking); without, it does not.
    """

    def __init__(self, part: AgentPart, client: Client, *, reasoning: bool = True) -> None:
        self.part, self.client, self.reasoning = part, client, reasoning
        self._chat: list[dict[str, Any]] = []

    async def act(self, transcript: Transcript, tools: Tools) -> AssistantMessage:
        new = transcript[len(self._chat) :]
        self._chat.extend(chat_message(message, reasoning=self.reasoning) for message in new)
        answer = await self.client.complete(self._chat, tools, meter=self.part.meter, scope=self.part.scope)
        return AssistantMessage(
            text=answer.text, calls=tuple(ToolCall.of(call.name, call.arguments, call.id) for call in answer.calls),
            reasoning=answer.reasoning, reasoning_field=answer.reasoning_field,
            finish=answer.finish if answer.finish not in ("", "stop", "tool_calls") else None,
        )  # fmt: skip
