"""Sides of a dialogue that say and do again what they said and did in recorded trajectories."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from forgec.dialogue import AssistantMessage, Message, Transcript, Utterance
from forgec.rollouts.agents.agent import AgentError, Tools
from forgec.rollouts.store import read
from forgec.rollouts.trajectory import End, Key, Trajectory


class Recorded:
    """The trajectories of a file, each found by its key."""

    def __init__(self, path: Path) -> None:
        """Raises `StoreError`."""
        self.path = path
        self._found = {trajectory.key: trajectory for trajectory in read(path)}

    def messages(self, key: Key) -> tuple[Message, ...]:
        """The messages of an episode. Raises `AgentError`."""
        return self.trajectory(key).messages

    def trajectory(self, key: Key) -> Trajectory:
        """The record of an episode; that of its first trial where this trial was not recorded. Raises `AgentError`."""
        found = self._found.get(key) or self._found.get((*key[:3], 0))
        if found is None:
            environment, task, seed, trial = key
            raise AgentError(f"{self.path} has no {environment}/{task} with seed {seed}, trial {trial}")
        return found


class ReplayedAgent:
    """Says and does what the agent of a trajectory did; then it has nothing more to say."""

    def __init__(self, messages: tuple[Message, ...]) -> None:
        self._turns = (message for message in messages if message.role == "assistant")

    async def act(self, transcript: Transcript, tools: Tools) -> AssistantMessage:
        message = next(self._turns, None)
        if message is None:
            return AssistantMessage()
        return AssistantMessage(
            text=message.content, calls=message.tool_calls, reasoning=message.reasoning,
            reasoning_field=message.reasoning_field, finish=message.finish,
        )  # fmt: skip


class ReplayedUser:
    """Says and does what the user of a trajectory did, and has done with it at its last message."""

    def __init__(self, messages: tuple[Message, ...], *, end: End) -> None:
        turns = [message for message in messages if message.role == "user" and message.by != "loop"]
        self._turns: Iterator[Message] = iter(turns)
        self._left = len(turns)
        self._end = end

    async def open(self) -> Utterance:
        return self._next()

    async def answer(self, transcript: Transcript) -> Utterance:
        return self._next()

    def _next(self) -> Utterance:
        message = next(self._turns, None)
        self._left -= 1
        if message is None:
            return Utterance(done=True)
        done = self._left == 0 and self._end in ("satisfied", "gave_up") and not message.tool_calls
        return Utterance(
            text=message.content, calls=message.tool_calls, reveals=message.reveals,
            asks_back=message.asks_back, done=done, gives_up=done and self._end == "gave_up",
        )  # fmt: skip
