"""A user that a model plays. It is given what the user is told and nothing else: no plan, no rows, no agent's calls."""

from __future__ import annotations

import re
from typing import Any

from forgec.dialogue import ToolCall, Transcript, Utterance
from forgec.llm.model import Model
from forgec.users.user import UserPart
from forgec.users.values import said, spoken
from forgec_runtime import Briefing

DONE, GIVES_UP = "[DONE]", "[GIVE UP]"

_RULES = f"""\
You are the user of a service and talk to its assistant. Write only what the user says next, in a sentence or two.

Rules:
- Begin with what you want. Tell a fact only when the assistant asks for it, and then exactly as it stands below.
- You know nothing but what stands here. Asked for anything else, say that you do not know it. Make nothing up.
- Ask for nothing that does not stand here. Make requests in their order, one at a time.
- Never contradict what you have said. Confirm what you want when you are asked to; decline what you do not want.
- Use your own tools only when the assistant asks you to, and tell it what you see.
- When all that you want is done, thank the assistant and end with {DONE}. When it cannot be had, end with {GIVES_UP}.
  Never write either before."""
_MARKS = re.compile(r"\s*(\[DONE\]|\[GIVE UP\])\s*", re.IGNORECASE)


class PromptedUser:
    """Asks a model what the user says next."""

    def __init__(self, part: UserPart, client: Model) -> None:
        self.part, self.client = part, client
        self._chat: list[dict[str, Any]] = [{"role": "system", "content": instructions(part.briefing)}]
        self._heard = 0

    async def open(self) -> Utterance:
        self._chat.append({"role": "user", "content": "Hello! How can I help you?"})
        return await self._next()

    async def answer(self, transcript: Transcript) -> Utterance:
        for message in transcript[self._heard :]:
            if message.role == "assistant":
                self._chat.append({"role": "user", "content": message.content or "(The assistant says nothing.)"})
            elif message.role == "tool":
                self._chat.append(
                    {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.content}
                )  # fmt: skip
            elif message.tool_calls:
                calls = [call.model_dump() for call in message.tool_calls]
                self._chat.append({"role": "assistant", "content": message.content, "tool_calls": calls})
            else:
                self._chat.append({"role": "assistant", "content": message.content})
        self._heard = len(transcript)
        return await self._next()

    async def _next(self) -> Utterance:
        answer = await self.client.complete(
            self._chat, self.part.tools, meter=self.part.meter, scope=self.part.scope
        )  # fmt: skip
        known = {tool["function"]["name"] for tool in self.part.tools}
        calls = tuple(ToolCall.of(one.name, one.arguments, one.id) for one in answer.calls if one.name in known)
        if calls:
            return Utterance(text=answer.text, calls=calls)
        marks = {mark.upper() for mark in _MARKS.findall(answer.text)}
        text = _MARKS.sub(" ", answer.text).strip()
        return Utterance(
            text=text, reveals=revealed(self.part.briefing, text), done=bool(marks), gives_up=marks == {GIVES_UP}
        )  # fmt: skip


def instructions(briefing: Briefing) -> str:
    """What a model is told that plays the user: its wishes, its facts, and the rules."""
    parts = [_RULES]
    if briefing.intent:
        parts.append(f"What you want:\n{briefing.intent}")
    if briefing.requests:
        parts.append(
            "\n".join(["Your requests, in order:", *(f"{i}. {one.text}" for i, one in enumerate(briefing.requests, 1))])
        )
    facts = [
        f"- {fact.doc or fact.name.replace('_', ' ')}: {spoken(fact.value)}"
        for fact in briefing.facts
        if fact.value is not None
    ]
    parts.append("\n".join(["What you know:", *facts]) if facts else "You know nothing more.")
    return "\n\n".join(parts)


def revealed(briefing: Briefing, text: str) -> tuple[str, ...]:
    """The facts whose values a text says."""
    return tuple(fact.name for fact in briefing.facts if fact.value is not None and said(fact.value, [text]))
