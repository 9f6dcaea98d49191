"""Agents without a model: one that knows the plan, one that does nothing, one that calls at random."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from forgec.dialogue import AssistantMessage, ToolCall, Transcript
from forgec.rollouts.agents.agent import AgentPart, Tools
from forgec_runtime import Environment, RandomAgent
from forgec_runtime.plan import GoldRun, gold_run
from forgec_runtime.results import to_json


class GoldPlayer:
    """Asks for all facts, makes the calls of the gold plan, has the user make those of its side, then says what is to
    be said.
    """

    def __init__(self, part: AgentPart) -> None:
        self.part = part
        self._moves: Iterator[AssistantMessage] | None = None

    async def act(self, transcript: Transcript, tools: Tools) -> AssistantMessage:
        if self._moves is None:
            environment, task, seed = self.part.environment, self.part.task, self.part.seed
            self._moves = moves(environment, await self.part.ask(lambda: gold_run(environment, task, seed)))
        return next(self._moves, AssistantMessage(text="That is all that there is to do."))


def moves(environment: Environment, run: GoldRun) -> Iterator[AssistantMessage]:
    """What an agent says and does that knows how a task is done."""
    told = [fact.doc or fact.name for fact in run.episode.briefing.facts]
    if told:
        yield AssistantMessage(text="Could you please tell me " + "; ".join(told) + "?")
    for number, call in enumerate(run.calls):
        if call.tool in environment.tools:
            yield AssistantMessage(calls=(ToolCall.of(call.tool, to_json(call.arguments), f"call_{number}"),))
        else:
            yield AssistantMessage(text=f"Please use {call.tool} {to_json(call.arguments)}")
    yield AssistantMessage(text="\n".join(["It is done.", *run.answers]))


class NoopPlayer:
    """Says nothing, does nothing."""

    def __init__(self, part: AgentPart) -> None: ...

    async def act(self, transcript: Transcript, tools: Tools) -> AssistantMessage:
        return AssistantMessage()


class RandomPlayer:
    """Calls tools at random, then says that it is done. The same episode has the same calls, in every process."""

    def __init__(self, part: AgentPart, draws: RandomAgent) -> None:
        self.part, self.draws = part, draws
        self._calls: Iterator[tuple[str, dict[str, Any]]] | None = None

    async def act(self, transcript: Transcript, tools: Tools) -> AssistantMessage:
        number = len(transcript)
        call = await self.part.ask(self._next)
        if call is None:
            return AssistantMessage(text="It is done.")
        return AssistantMessage(calls=(ToolCall.of(call[0], to_json(call[1]), f"call_{number}"),))

    def _next(self) -> tuple[str, dict[str, Any]] | None:
        if self._calls is None:
            environment, task = self.part.environment, self.part.task
            episode = environment.reset(task, self.part.seed)
            self._calls = self.draws.drawn(environment, episode, task, self.part.scope)
        return next(self._calls, None)
