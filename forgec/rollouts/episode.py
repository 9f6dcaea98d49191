"""One episode: user and agent take turns until the user is satisfied, a tool ends it, or a limit stands in the way."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from forgec.dialogue import AssistantMessage, Message, ToolCall, Utterance, readable
from forgec.llm.errors import TooLong
from forgec.llm.spending import Meter
from forgec.rollouts.agents.agent import Agent, Left, Tools
from forgec.rollouts.limits import Limits
from forgec.rollouts.trajectory import End, Revealed
from forgec.users.user import User
from forgec_runtime import AsyncEnvironment, CallTimeout, Tool
from forgec_runtime.results import Result

T = TypeVar("T")

KEPT = 1_000
"""How many characters are kept of a text that is too long to be delivered."""
MAX_NAME = 200
"""How many characters of the name and the id of a call are kept; no tool has as many."""


@dataclass
class Clock:
    """Where the time went, in seconds."""

    agent: float = 0.0
    user: float = 0.0
    environment: float = 0.0


@dataclass
class Dialogue:
    """A dialogue that is played, and what there is of it so far."""

    front: AsyncEnvironment[Any]
    episode: Any
    ending: frozenset[str]
    """The names of tools that end an episode."""
    agent: Agent
    user: User
    tools: Tools
    limits: Limits
    meter: Meter
    """What the agent's model has taken."""
    messages: list[Message] = field(default_factory=list)
    """All, in order."""
    seen: list[Message] = field(default_factory=list)
    """What the agent has seen."""
    heard: list[Message] = field(default_factory=list)
    """What the user has heard."""
    facts: list[Revealed] = field(default_factory=list)
    turns: int = 0
    calls: int = 0
    silent: int = 0
    """Empty messages of the agent, one after the other, up to now."""
    end: End | None = None
    clock: Clock = field(default_factory=Clock)

    async def play(self, policy: str) -> End:
        """Play to the end. Raises `AgentError`, `LLMError` where a side cannot go on, `WorkerError`, `CallTimeout`."""
        self._add(Message(role="system", content=policy), self.seen)
        try:
            async with asyncio.timeout(self.limits.seconds):
                await self._user_turn(first=True)
                while self.end is None:
                    await self._agent_turn()
        except CallTimeout:
            raise  # the environment's, not the episode's
        except TimeoutError:
            self.end = "seconds"
        assert self.end is not None
        return self.end

    # -- the agent ---------------------------------------------------------------------------------------------

    async def _agent_turn(self) -> None:
        if self.turns >= self.limits.turns:
            self.end = "turns"
            return
        try:
            message = await self._timed("agent", self.agent.act(self.seen, self.tools))
        except TooLong:
            self.end = "context"
            return
        except Left:
            self.end = "left"
            return
        self.turns += 1
        if message.calls:
            self.silent = 0
            await self._agent_calls(message)
        else:
            await self._agent_speaks(message)
        if self.end is None and self.limits.tokens is not None and self.meter.tokens >= self.limits.tokens:
            self.end = "tokens"

    async def _agent_speaks(self, message: AssistantMessage) -> None:
        said = self._said(message)
        self._add(said, self.seen)
        if said.cut is not None:
            limit = f"at most {self.limits.message_text:,} are"
            self._note(f"Your message was not delivered: it has {said.cut:,} characters, {limit}. Say it in fewer.")
            return
        self.silent = 0 if said.content.strip() else self.silent + 1
        if self.silent >= self.limits.silent:
            self.end = "silent"
            return
        self.heard.append(said)
        self.episode.messages.append(said.content)
        await self._user_turn()

    async def _agent_calls(self, message: AssistantMessage) -> None:
        """Make the calls of a message, in order, and add their results, one each."""
        calls = _numbered([_kept(call, self.limits.arguments) for call in message.calls], f"call_{self.turns}")
        self._add(self._said(message, tuple(calls)), self.seen)
        made, kept_back = self._sorted(message.calls)
        results = iter(await self._called([message.calls[i] for i in made], "agent") if made else ())
        ended = False
        for i, call in enumerate(calls):
            if i in kept_back:
                self._add(_result(call, "agent", None, kept_back[i]), self.seen)
                continue
            result = next(results)
            self._add(_result(call, "agent", result, result.text), self.seen)
            if result.ok and call.name in self.ending:
                ended = True
        self.calls += len(made)
        if ended:
            await self._last_word()
            self.end = "tool"
        if self.end is None and self.calls >= self.limits.calls:
            self.end = "calls"

    async def _last_word(self) -> None:
        """What the agent says when one of its calls has ended the episode; whatever it calls then is not called."""
        try:
            message = await self._timed("agent", self.agent.act(self.seen, self.tools))
        except (TooLong, Left):
            return
        self.turns += 1
        said = self._said(message)
        self._add(said, self.seen, self.heard)
        if said.cut is None:
            self.episode.messages.append(said.content)

    def _sorted(self, calls: Sequence[ToolCall]) -> tuple[list[int], dict[int, str]]:
        """Which calls of a message are made, and why the others are not."""
        limits, made, kept_back = self.limits, list[int](), dict[int, str]()
        for i, call in enumerate(calls):
            if len(call.arguments) > limits.arguments:
                length, most = len(call.arguments), limits.arguments
                kept_back[i] = f"Not called: the arguments have {length:,} characters; there may be {most:,}."
            elif len(made) >= limits.message_calls:
                kept_back[i] = f"Not called: a message may have {limits.message_calls} calls, not {len(calls):,}."
            elif self.calls + len(made) >= limits.calls:
                kept_back[i] = f"Not called: an episode may have {limits.calls} calls."
            else:
                made.append(i)
        return made, kept_back

    def _said(self, message: AssistantMessage, calls: tuple[ToolCall, ...] = ()) -> Message:
        text, cut = readable(message.text), None
        if len(text) > self.limits.message_text:
            text, cut = text[:KEPT], len(text)
        reasoning = None if message.reasoning is None else readable(message.reasoning)
        return Message(
            role="assistant", content=text, reasoning=reasoning, reasoning_field=message.reasoning_field,
            tool_calls=calls, finish=message.finish, cut=cut,
        )  # fmt: skip

    def _note(self, text: str) -> None:
        """Tell the agent something that nobody said."""
        self._add(Message(role="user", content=f"[{text}]", by="loop"), self.seen)

    # -- the user ----------------------------------------------------------------------------------------------

    async def _user_turn(self, *, first: bool = False) -> None:
        """Let the user speak; before that it may call its own tools."""
        made = 0
        while True:
            turn = self.user.open() if first and not made else self.user.answer(self.heard)
            utterance = await self._timed("user", turn)
            if not utterance.calls:
                break
            made += len(utterance.calls)
            if made > self.limits.user_calls:
                self.end = "user"
                return
            await self._user_calls(utterance)
            if self.end is not None:
                return
        self._reveal(utterance)
        said = Message(
            role="user", content=readable(utterance.text), reveals=utterance.reveals, asks_back=utterance.asks_back
        )
        self._add(said, self.seen, self.heard)
        if utterance.done:
            self.end = "gave_up" if utterance.gives_up else "satisfied"

    async def _user_calls(self, utterance: Utterance) -> None:
        calls = tuple(_numbered(utterance.calls, f"user_{len(self.messages)}"))
        self._add(Message(role="user", content=readable(utterance.text), tool_calls=calls), self.heard)
        for call, result in zip(calls, await self._called(calls, "user"), strict=True):
            self._add(_result(call, "user", result, result.text), self.heard)
            if result.ok and call.name in self.ending:
                self.end = "tool"

    def _reveal(self, utterance: Utterance) -> None:
        self.facts.extend(Revealed(turn=len(self.messages), name=name) for name in utterance.reveals)

    # -- both --------------------------------------------------------------------------------------------------

    async def _called(self, calls: Sequence[ToolCall], by: Any) -> list[Result]:
        asked = [(call.name, call.arguments) for call in calls]
        return await self._timed("environment", self.front.calls(self.episode, asked, by))

    def _add(self, message: Message, *views: list[Message]) -> None:
        self.messages.append(message)
        for view in views:
            view.append(message)

    async def _timed(self, who: str, awaitable: Awaitable[T]) -> T:
        began = time.perf_counter()
        try:
            return await awaitable
        finally:
            setattr(self.clock, who, getattr(self.clock, who) + time.perf_counter() - began)


def _result(call: ToolCall, by: Any, result: Result | None, text: str) -> Message:
    kind = "not_run" if result is None else result.kind
    return Message(role="tool", content=readable(text), tool_call_id=call.id, name=call.name, by=by, kind=kind)


def _kept(call: ToolCall, most: int) -> ToolCall:
    """A call as it is kept: what is too long is cut."""
    short = len(call.arguments) <= most and len(call.name) <= MAX_NAME and len(call.id) <= MAX_NAME
    if short and call.arguments.isascii() and call.name.isascii() and call.id.isascii():
        return call
    arguments = call.arguments if len(call.arguments) <= most else call.arguments[:KEPT]
    return ToolCall.of(readable(call.name[:MAX_NAME]), readable(arguments), readable(call.id[:MAX_NAME]))


def _numbered(calls: Sequence[ToolCall], prefix: str) -> list[ToolCall]:
    """Calls with ids that tell them apart: what has none, or that of another, gets one of its own."""
    ids: set[str] = set()
    found = []
    for i, call in enumerate(calls):
        if not call.id or call.id in ids:
            call = ToolCall.of(call.name, call.arguments, f"{prefix}_{i}")
        ids.add(call.id)
        found.append(call)
    return found


def ending(tools: Sequence[Tool]) -> frozenset[str]:
    """The names of the tools that end an episode."""
    return frozenset(tool.name for tool in tools if tool.ends)
