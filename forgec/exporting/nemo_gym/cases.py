"""Cases of the verifier: dialogues that are played here, and what they must be worth wherever they are played again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

from forgec.dialogue import AssistantMessage, Message, Transcript
from forgec.rollouts import players
from forgec.rollouts.agents.agent import AgentPart, Tools
from forgec.rollouts.agents.built_in import GoldPlayer, NoopPlayer, moves
from forgec.rollouts.run import Job, Runner, Setup, Side
from forgec.rollouts.trajectory import Trajectory
from forgec_runtime import AsyncEnvironment, Environment
from forgec_runtime.plan import gold_run

MOST = 3
"""Of how many episodes there are cases."""


class NotPaid(Exception):
    """Gold is not paid when it is played with a user: the text says in which task, and why."""


def cases(environment: Environment, user: str, played: Sequence[tuple[Job, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Cases for some of these episodes, each with its row, which the named user plays: gold is paid, nothing is not,
    the same is worth the same, and what is no request is refused. Raises `NotPaid`.
    """
    chosen = played[:MOST]
    golds, noops = asyncio.run(_play(environment, user, [job for job, _ in chosen]))
    found: list[dict[str, Any]] = []
    for (job, row), gold, noop in zip(chosen, golds, noops, strict=True):
        name = f"{job.task.name}, seed {job.seed}"
        if gold.reward != 1.0:
            raise NotPaid(f"{name}: {'; '.join(reason.text for reason in gold.reasons)}")
        if noop.reward != 0.0:
            raise NotPaid(f"{name}: an agent that does nothing is paid")
        paid, unpaid = ({**row, "response": response_of(one.messages)} for one in (gold, noop))
        found += [
            {"name": f"gold of {name}", "kind": "full_reward", "request": paid, "expected_reward": 1.0},
            {"name": f"nothing in {name}", "kind": "zero_reward", "request": unpaid, "expected_reward": 0.0},
            {"name": f"gold of {name}, again", "kind": "determinism", "request": paid, "expected_reward": 1.0},
        ]
    if chosen:
        row = chosen[0][1]
        unknown = {**row, "task": "no such task", "response": response_of(())}
        found += [
            {"name": "no response", "kind": "malformed", "request": row, "expected_error": "response"},
            {"name": "an unknown task", "kind": "malformed", "request": unknown, "expected_error": "has no task"},
        ]
    return found


class _Quiet:
    """Gold for a user that has told everything already: makes the calls, and says what is to be said."""

    def __init__(self, part: AgentPart) -> None:
        self.part = part
        self._moves: Iterator[AssistantMessage] | None = None

    async def act(self, transcript: Transcript, tools: Tools) -> AssistantMessage:
        if self._moves is None:
            environment, task, seed = self.part.environment, self.part.task, self.part.seed
            found = list(moves(environment, await self.part.ask(lambda: gold_run(environment, task, seed))))
            self._moves = iter([*(move for move in found if move.calls), found[-1]])
        return next(self._moves)


async def _play(environment: Environment, user: str, jobs: Sequence[Job]) -> tuple[list[Trajectory], list[Trajectory]]:
    made = players.user(user)
    gold = _Quiet if user == "briefed" else GoldPlayer
    async with AsyncEnvironment(environment) as front:
        runner = Runner(environment, front, Setup(Side("gold"), made.side, gold, made.play), _nothing, [])
        golds = [await runner.episode(job) for job in jobs]
        return golds, [await runner.episode(job, NoopPlayer) for job in jobs]


def _nothing(trajectory: Trajectory) -> None: ...


def response_of(messages: Sequence[Message]) -> dict[str, Any]:
    """A dialogue as the response of OpenAI's Responses API that an agent server hands in for it."""
    output: list[dict[str, Any]] = []
    for number, message in enumerate(messages):
        if message.role == "assistant":
            if message.content or not message.tool_calls:
                output.append(_said(f"msg_{number}", message.content))
            output.extend(
                {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
                for call in message.tool_calls
            )
        elif message.role == "tool" and message.by == "agent":
            output.append(
                {"type": "function_call_output", "call_id": message.tool_call_id, "output": message.content}
            )  # fmt: skip
        elif message.role == "user" and not message.tool_calls:
            output.append({"type": "message", "role": "user", "content": message.content})
    return {
        "id": "resp_played", "object": "response", "created_at": 0, "model": "played", "output": output,
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
    }  # fmt: skip


def _said(id_: str, text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": id_, "role": "assistant", "status": "completed", "content": content}
