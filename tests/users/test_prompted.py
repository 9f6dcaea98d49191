"""A user that a model plays, and a model that judges users: over HTTP, with the real client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from forgec.rollouts.agents.agent import Agents
from forgec.rollouts.agents.built_in import GoldPlayer
from forgec.rollouts.run import Runner, Setup, Side, jobs_of
from forgec.rollouts.trajectory import Trajectory
from forgec.users.prompted import PromptedUser
from forgec_runtime import AsyncEnvironment
from tests.rollouts.playing import client, environment
from tests.rollouts.server import called, serving

Answers = Sequence[str | dict[str, Any]]


def play(name: str, task: str, answers: Answers, *, agents: Agents = GoldPlayer) -> tuple[Trajectory, list[Any]]:
    """An episode whose user a model plays, which gives the answers, one after the other; and the requests it got."""
    left = list(answers)

    def brain(body: dict[str, Any]) -> str | dict[str, Any]:
        return left.pop(0)

    env, played = environment(name), list[Trajectory]()
    with serving(brain) as server:
        one = client(server.url)

        async def all_of_it() -> None:
            async with AsyncEnvironment(env) as front:
                users: Callable[[Any], PromptedUser] = lambda part: PromptedUser(part, one)  # noqa: E731
                setup = Setup(Side("gold"), Side("openai:small", "small"), agents, users, judge=one)
                await Runner(env, front, setup, played.append, []).play(jobs_of([env.tasks[task]], 0, 1), 1)
            await one.close()

        asyncio.run(all_of_it())
        seen = list(server.seen)
    (trajectory,) = played
    return trajectory, seen


def test_a_model_plays_the_user_and_is_told_no_plan() -> None:
    trajectory, seen = play(
        "library", "either_of_two",
        ["I would like a crime novel.", "I am joan.moreno@example.org; Agatha Christie.", "Thanks! [DONE]"],
    )  # fmt: skip
    assert (trajectory.end, trajectory.reward, trajectory.user_model) == ("satisfied", 1.0, "small")
    assert [fact.name for fact in trajectory.facts] == ["email", "author"]
    assert trajectory.messages[-1].content == "Thanks!"
    assert trajectory.user_verdict is not None
    assert (trajectory.user_verdict.mask, trajectory.user_verdict.source) == (False, "rules")
    assert trajectory.usage["user"].answers == 3
    told = json.dumps(seen)
    assert "- your e-mail address: joan.moreno@example.org" in told
    assert not any(name in told for name in ("lend_book", "member_id", "search_books"))


def test_it_uses_the_tools_of_its_side() -> None:
    trajectory, seen = play(
        "phone", "text_from_the_train",
        ["It does not go out.", "0151 200 301", called("look_at_phone", {}), "It says airplane mode.", "[GIVE UP]"],
    )  # fmt: skip
    assert trajectory.end == "gave_up"
    assert [message.name for message in trajectory.messages if message.by == "user"] == ["look_at_phone"]
    assert {tool["function"]["name"] for tool in seen[0]["tools"]} == set(environment("phone").user_tools)


def test_what_the_rules_leave_open_is_judged() -> None:
    verdict = '{"kind": "withheld", "turn": 3, "evidence": "I read a lot."}'
    trajectory, seen = play(
        "library", "either_of_two", ["I would like a crime novel.", "I read a lot.", "Thanks. [DONE]", verdict]
    )
    found = trajectory.user_verdict
    assert found is not None
    assert (found.mask, found.kind, found.turn, found.source) == (True, "withheld", 3, "openai:small")
    assert trajectory.usage["judge"].answers == 1
    assert "[3] user: I read a lot." in seen[-1]["messages"][-1]["content"]


def test_a_judgement_that_cannot_be_read_decides_nothing() -> None:
    for answer in ("I think so.", '{"kind": "rude"}', "{" * 2_000, "[]"):
        trajectory, _ = play(
            "library", "either_of_two", ["I would like a crime novel.", "I read a lot.", "Thanks. [DONE]", answer]
        )
        found = trajectory.user_verdict
        assert found is not None
        assert (found.mask, found.kind, found.source) == (None, "withheld", "rules")
