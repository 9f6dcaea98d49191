"""What users say at first that tell everything at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from forgec.dialogue import AssistantMessage, Transcript
from forgec.rollouts import players
from forgec.rollouts.agents.agent import Left, Tools
from forgec.rollouts.run import Job, Runner, Setup, Side
from forgec_runtime import AsyncEnvironment, Environment


class _Leaving:
    async def act(self, transcript: Transcript, tools: Tools) -> AssistantMessage:
        raise Left


def openings(environment: Environment, jobs: Sequence[Job]) -> list[tuple[str, ...]]:
    """Of each episode, what its briefed user opens with."""
    made = players.user("briefed")

    async def played() -> list[tuple[str, ...]]:
        async with AsyncEnvironment(environment) as front:
            setup = Setup(Side("leaving"), made.side, lambda part: _Leaving(), made.play)
            runner = Runner(environment, front, setup, lambda trajectory: None, [])
            trajectories = [await runner.episode(job) for job in jobs]
        return [tuple(one.content for one in found.messages if one.role == "user") for found in trajectories]

    return asyncio.run(played())
