"""A user without a model: tells a fact when it is asked for it, uses its tools as it is told, and then is content."""

from __future__ import annotations

import json
import re

from forgec.dialogue import ToolCall, Transcript, Utterance
from forgec.users.user import UserPart
from forgec_runtime.says import spoken

_WORD = re.compile(r"\w+")
_FILLING = {"a", "an", "and", "are", "is", "it", "of", "on", "or", "the", "to", "what", "which", "you", "your"}
_JSON = re.compile(r"\{.*?\}", re.DOTALL)


class ScriptedUser:
    """The same words in the same dialogue, in every process."""

    def __init__(self, part: UserPart) -> None:
        self.part = part
        self.waiting = list(part.briefing.requests)

    async def open(self) -> Utterance:
        parts = [part for part in (self.part.briefing.intent, self._next_request()) if part]
        return Utterance(text="\n".join(parts))

    async def answer(self, transcript: Transcript) -> Utterance:
        last = transcript[-1]
        if last.role == "tool":
            return Utterance(text=last.content)
        call = self._wanted_call(last.content)
        if call is not None:
            return Utterance(calls=(call,))
        asked = self._asked_for(last.content)
        if asked:
            facts = {fact.name: fact for fact in self.part.briefing.facts}
            told = "; ".join(f"{facts[name].doc or name}: {spoken(facts[name].value)}" for name in asked)
            return Utterance(text=told, reveals=tuple(asked))
        if "?" in last.content:
            return Utterance(text="I have told you all that I know about that.")
        if not last.content.strip():
            return Utterance(text="I did not hear anything. Please go on.")
        request = self._next_request()
        return Utterance(text=request) if request else Utterance(text="Thank you, that is all.", done=True)

    def _next_request(self) -> str:
        return self.waiting.pop(0).text if self.waiting else ""

    def _wanted_call(self, text: str) -> ToolCall | None:
        """The call of the user's own tools that the agent asks for by name, with arguments as JSON behind it."""
        for tool in self.part.tools:
            name = tool["function"]["name"]
            found = re.search(rf"\b{re.escape(name)}\b", text)
            if found is None:
                continue
            arguments = _JSON.match(text[found.end() :].lstrip())
            return ToolCall.of(name, arguments[0] if arguments and _is_object(arguments[0]) else "{}")
        return None

    def _asked_for(self, text: str) -> list[str]:
        """The facts whose words stand in a question of the agent's."""
        if "?" not in text:
            return []
        words = set(_WORD.findall(text.casefold()))
        asked = []
        for fact in self.part.briefing.facts:
            about = set(_WORD.findall((fact.doc or fact.name.replace("_", " ")).casefold())) - _FILLING
            if fact.value is not None and about and about <= words:
                asked.append(fact.name)
        return asked


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False
