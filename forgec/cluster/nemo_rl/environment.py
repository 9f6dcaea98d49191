"""Compiled environments as an environment of NeMo-RL: an actor of Ray, with workers that play."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ray
import torch
from nemo_rl.environments.interfaces import EnvironmentInterface, EnvironmentReturn
from ray.exceptions import RayActorError

from forgec.cluster.exchange import Observed, observed, turn
from forgec.cluster.seats import Answer, Seats
from forgec.rollouts.limits import Limits
from forgec.training.opening import USERS
from forgec_runtime import load_environment

AT_ONCE = 256
"""Calls that an actor answers at once: asynchronous rollouts ask for one episode each."""
MOST_DEATHS = 20
"""Workers of a run that may die."""
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
        self.config = dict(config)
        self.players = [self._player() for _ in range(int(config["workers"]))]
        self._next = self._died = 0
        self._one = threading.Lock()

    def step(self, message_log_batch: list[Log], metadata: list[dict[str, Any]]) -> EnvironmentReturn[dict[str, Any]]:
        """One turn of each episode of a batch of B; rewards and terminateds have the shape [B]."""
        shares: dict[int, list[int]] = {}
        for place, one in enumerate(metadata):
            worker = self._turned() if one["seat"] is None else one["worker"]
            shares.setdefault(worker, []).append(place)
        players = {worker: self.players[worker] for worker in shares}
        asked = {
            worker: players[worker].step.remote(
                [message_log_batch[place] for place in places], [metadata[place] for place in places]
            )
            for worker, places in shares.items()
        }
        found: dict[int, Observed] = {}
        for worker, places in shares.items():
            try:
                answers = ray.get(asked[worker])
            except RayActorError as error:
                self._replace(worker, players[worker], error)
                lost = Answer(0, failure="its worker has died")
                answers = [observed(lost, metadata[place], thinking=bool(self.config["thinking"])) for place in places]
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

    def _player(self) -> Any:
        actor: Any = Player  # which `ray.remote` has made of it
        return actor.remote(self.config)

    def _turned(self) -> int:
        """The worker whose turn it is to be given an episode."""
        with self._one:
            self._next += 1
            return self._next % len(self.players)

    def _replace(self, worker: int, player: Any, error: Exception) -> None:
        """Put another in the place of a worker that has died: its episodes are lost, and masked.

        Raises `RuntimeError` when that happens so often that something is broken.
        """
        with self._one:
            if self.players[worker] is player:  # many calls may have waited for it
                self._died += 1
                if self._died > MOST_DEATHS:
                    raise RuntimeError(f"{self._died} workers have died; the last one: {error}") from error
                self.players[worker] = self._player()

    def global_post_process_and_metrics(self, batch: Any) -> tuple[Any, dict[str, Any]]:
        """Nothing: what is worth measuring is in the estimator's metrics."""
        return batch, {}

    def playing(self) -> int:
        """How many episodes are begun and not over, in all workers."""
        return sum(ray.get([one.playing.remote() for one in self.players]))

    def shutdown(self) -> None:
        for one in self.players:
            ray.kill(one)
