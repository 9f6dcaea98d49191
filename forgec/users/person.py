"""A person at the keyboard plays the user."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from forgec.dialogue import ToolCall, Transcript, Utterance
from forgec.users.prompted import revealed
from forgec.users.user import UserPart
from forgec.users.values import spoken

HELP = """\
Say what the user says; an empty line says nothing.
.done        all that you want is done      .give_up  it cannot be had
.facts       what you want and know         .tools    the tools of your own side
.use NAME {"argument": "value"}             call one of them"""


class PersonUser:
    """Reads lines: what is said, or a command that begins with a dot."""

    def __init__(self, part: UserPart, ask: Callable[[], str], show: Callable[[str], None]) -> None:
        """`ask` gives the next line, and raises `EOFError` at the end of them."""
        self.part, self.ask, self.show = part, ask, show
        self._shown = 0

    async def open(self) -> Utterance:
        self.show(f"{HELP}\n\n{told(self.part)}\n")
        return await self._line()

    async def answer(self, transcript: Transcript) -> Utterance:
        for message in transcript[self._shown :]:
            if message.role == "assistant":
                self.show(f"agent: {message.content}")
            elif message.role == "tool":
                self.show(f"{message.name}: {message.content}")
        self._shown = len(transcript)
        return await self._line()

    async def _line(self) -> Utterance:
        while True:
            try:
                line = (await asyncio.to_thread(self.ask)).strip()
            except EOFError:
                return Utterance(done=True, gives_up=True)
            command, _, rest = line.partition(" ")
            if command in (".done", ".give_up"):
                return Utterance(text=rest, done=True, gives_up=command == ".give_up")
            if command == ".use" and rest.strip():
                name, _, arguments = rest.strip().partition(" ")
                return Utterance(calls=(ToolCall.of(name, arguments.strip() or "{}"),))
            if not line.startswith("."):
                return Utterance(text=line, reveals=revealed(self.part.briefing, line))
            if command == ".facts":
                self.show(told(self.part))
            elif command == ".tools":
                self.show(tools(self.part))
            else:
                self.show(HELP)


def told(part: UserPart) -> str:
    """What the user of an episode wants and knows, to be read."""
    briefing = part.briefing
    wants = [briefing.intent, *(f"{i}. {one.text}" for i, one in enumerate(briefing.requests, 1))]
    facts = [f"{one.doc or one.name}: {spoken(one.value)}" for one in briefing.facts if one.value is not None]
    return "\n".join([*filter(None, wants), *(f"- {fact}" for fact in facts)])


def tools(part: UserPart) -> str:
    """The tools of the user's side, to be read."""
    lines = []
    for tool in part.tools:
        function = tool["function"]
        arguments = ", ".join(function["parameters"].get("properties", {}))
        lines.append(f"{function['name']}({arguments})  {function.get('description', '')}")
    return "\n".join(lines) or "There are none."
