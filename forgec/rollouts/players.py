"""Agents and users by the names that the command line gives them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forgec.llm.client import Client, Endpoint
from forgec.rollouts.agents.agent import Agents
from forgec.rollouts.agents.built_in import GoldPlayer, NoopPlayer, RandomPlayer
from forgec.rollouts.agents.endpoint import EndpointPlayer
from forgec.rollouts.agents.python_function import FunctionPlayer, named_function
from forgec.rollouts.replay import Recorded, ReplayedAgent, ReplayedUser
from forgec.rollouts.run import Side
from forgec.users.briefed import BriefedUser
from forgec.users.prompted import PromptedUser
from forgec.users.scripted import ScriptedUser
from forgec.users.user import Users
from forgec_runtime import RandomAgent

AGENT_NAMES = "gold, noop, random, replay:FILE, openai:MODEL, or MODULE:FUNCTION"
USER_NAMES = "scripted, briefed, openai:MODEL, or replay:FILE"


class UnknownPlayer(ValueError):
    """A name that stands for nobody."""


@dataclass
class Made:
    """A side, who plays it, and what has to be put down about it."""

    side: Side
    play: Any
    settings: dict[str, Any] = field(default_factory=dict)
    client: Client | None = None


def agent(
    name: str, *, connect: Callable[[Endpoint], Client], endpoint: Callable[[str], Endpoint], reasoning: bool = True
) -> Made:
    """The agent of a name. `endpoint` says where a model is, `connect` makes its client.

    Raises `UnknownPlayer`, `StoreError`, `forgec.llm.client.SetupError`.
    """
    makers: dict[str, Agents] = {"gold": GoldPlayer, "noop": NoopPlayer}
    if name in makers:
        return Made(Side(name), makers[name])
    if name == "random":
        draws = RandomAgent()
        return Made(Side(name), lambda part: RandomPlayer(part, draws))
    kind, _, rest = name.partition(":")
    if kind == "replay" and rest:
        recorded = Recorded(Path(rest))
        return Made(Side(name), lambda part: ReplayedAgent(
            recorded.messages((part.environment.name, part.task.name, part.seed, part.trial))))  # fmt: skip
    if kind == "openai" and rest:
        place = endpoint(rest)
        client = connect(place)
        settings = {"agent": {**place.settings, "reasoning": "kept" if reasoning else "dropped"}}
        return Made(Side(name, rest), lambda part: EndpointPlayer(part, client, reasoning=reasoning), settings, client)
    if rest:
        try:
            function = named_function(name)
        except ValueError as error:
            raise UnknownPlayer(str(error)) from error
        return Made(Side(name), lambda part: FunctionPlayer(function))
    raise UnknownPlayer(f"there is no agent `{name}`; there are {AGENT_NAMES}")


def user(
    name: str, *, connect: Callable[[Endpoint], Client] | None = None, endpoint: Callable[[str], Endpoint] = Endpoint
) -> Made:
    """The user of a name; one that a model plays needs `connect`, which makes the client for an `endpoint`.

    Raises `UnknownPlayer`, `StoreError`, `forgec.llm.client.SetupError`.
    """
    makers: dict[str, Users] = {"scripted": ScriptedUser, "briefed": BriefedUser}
    if name in makers:
        return Made(Side(name), makers[name])
    kind, _, rest = name.partition(":")
    if kind == "replay" and rest:
        recorded = Recorded(Path(rest))

        def replayed(part: Any) -> ReplayedUser:
            found = recorded.trajectory((part.environment, part.task, part.seed, part.trial))
            return ReplayedUser(found.messages, end=found.end)

        return Made(Side(name), replayed)
    if kind == "openai" and rest and connect is not None:
        place = endpoint(rest)
        client = connect(place)
        return Made(Side(name, rest), lambda part: PromptedUser(part, client), {"user": dict(place.settings)}, client)
    raise UnknownPlayer(f"there is no user `{name}`; there are {USER_NAMES}")
