"""The benchmark of rollouts still plays what it measures."""

from __future__ import annotations

import asyncio

import pytest

from benchmarks.rollouts import LOOKS, TOOLS, Model, function, played, run
from forgec.rollouts.agents.agent import AgentPart
from forgec.rollouts.agents.built_in import GoldPlayer
from forgec.rollouts.agents.python_function import FunctionPlayer
from forgec.rollouts.run import jobs_of
from forgec_runtime import Environment
from tests.rollouts.playing import environment


@pytest.fixture(scope="module")
def env() -> Environment:
    return environment()


@pytest.mark.parametrize("tool", TOOLS)
def test_episodes_are_as_long_as_they_are_taken_for(env: Environment, tool: str) -> None:
    def agents(part: AgentPart) -> FunctionPlayer:
        return FunctionPlayer(function(tool))

    assert asyncio.run(played(env, agents, 2, 2)).steps == 2 * (LOOKS + 1)


def test_gold_asks_the_scripted_user(env: Environment) -> None:
    task = env.tasks["settle_the_overdue"]
    alone, asked = (
        asyncio.run(run(env, GoldPlayer, user, jobs_of([task], 0, 2), 2)) for user in ("briefed", "scripted")
    )
    assert asked.steps > alone.steps


def test_a_model_takes_its_time(env: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.rollouts.MODEL_TAKES", 0.001)
    added: list[float] = []

    def agents(part: AgentPart) -> Model:
        return Model("a lookup", added)

    assert asyncio.run(played(env, agents, 2, 2)).steps == 2 * (LOOKS + 1)
    assert len(added) == 2 * LOOKS
