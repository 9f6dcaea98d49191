"""Compiled environments as an environment of NeMo-RL: an actor of Ray, with workers that play."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ray
import torch
from nemo_rl.environments.interfaces import EnvironmentInterface, EnvironmentReturn

from forgec.cluster.exchange import Observed, observed, turn
from forgec.cluster.seats import Seats
from forgec.rollouts.limits import Limits
from forgec.training.opening import USERS
from forgec_runtime import load_environment

AT_ONCE = 256
"""Calls that an actor answers at once: asynchronous rollouts ask for one episode each."""
Log = Sequence[Mapping[str, Any]]


@ray.remote(max_concurrency=AT_ONCE)
class Player:
    """Plays a share of the episodes."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        environments = [load_environment(Path(one)) for one in config["packages"]]
        self.thinking = bool(config["thinking"])
        self.seats = Seats(environments, USERS[config["user"]], config["user"], Limits(**config["limits"]))

    def step(self, logs: Sequence[Log], metadata: Sequence[Mapping[str, Any]]) -> list[Observed]:
        turns = [turn(log, one, thinking=self.thinking) for log, one in zip(logs, metadata, strict=True)]
        return [
            observed(answer, one, thinking=self.thinking, ended=turned.wrote.finish != "length")
            for answer, one, turned in zip(self.seats.step(turns), metadata, turns, strict=True)
        ]

    def playing(self) -> int:
        """How many episodes are begun and not over."""
        return self.seats.playing


@ray.remote(max_concurrency=AT_ONCE)
class ForgecEnvironment(EnvironmentInterface[dict[str, Any]]):  # type: ignore[misc]
    """Gives each new episode to the next worker, and its turns to the worker that plays it."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        actor: Any = Player  # which `ray.remote` has made of it
        self.players = [actor.remote(dict(config)) for _ in range(int(config["workers"]))]
        self._next = 0

    def step(self, message_log_batch: list[Log], metadata: list[dict[str, Any]]) -> EnvironmentReturn[dict[str, Any]]:
        """One turn of each episode of a batch of B; rewards and terminateds have the shape [B]."""
        shares: dict[int, list[int]] = {}
        for place, one in enumerate(metadata):
            if one["seat"] is None:
                self._next += 1
                worker = self._next % len(self.players)
            else:
                worker = one["worker"]
            shares.setdefault(worker, []).append(place)
        asked = [
            self.players[worker].step.remote(
                [message_log_batch[place] for place in places], [metadata[place] for place in places]
            )
            for worker, places in shares.items()
        ]
        found: dict[int, Observed] = {}
        for (worker, places), answers in zip(shares.items(), ray.get(asked), strict=True):
            for place, answer in zip(places, answers, strict=True):
                answer.metadata["worker"] = worker
                found[place] = answer
        told = [found[place] for place in range(len(metadata))]
        return EnvironmentReturn(
            observations=[{"role": one.role, "content": one.content} for one in told],
            metadata=[one.metadata for one in told],
            next_stop_strings=[None] * len(told),
            rewards=torch.tensor([one.reward for one in told]),
            terminateds=torch.tensor([one.over for one in told]),
            answers=None,
        )

    def global_post_process_and_metrics(self, batch: Any) -> tuple[Any, dict[str, Any]]:
        """Nothing: what is worth measuring is in the estimator's metrics."""
        return batch, {}

    def playing(self) -> int:
        """How many episodes are begun and not over, in all workers."""
        return sum(ray.get([one.playing.remote() for one in self.players]))

    def shutdown(self) -> None:
        for one in self.players:
            ray.kill(one)
