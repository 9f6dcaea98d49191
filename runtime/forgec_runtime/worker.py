"""The process of one worker: an environment of its own, played by messages from its parent."""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from collections.abc import Callable
from functools import cached_property
from typing import IO, Any

from .environment import Environment
from .episode import Episode
from .loading import load_environment
from .task_file import encoded
from .tool import Side
from .wire import pack, receive, send, unpack
from .world import Origin, Stored

_LOOKED_AFTER = 2.0
"""Seconds between looks at whether the parent still lives; mostly its pipe says so at once."""


def serve(folder: str, parent: int, trusted: bool, sources: list[str]) -> None:
    """Answer messages until there are no more."""
    requests, replies = _pipes()
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    player = _Player(folder, trusted, sources)
    try:
        while (data := receive(requests)) is not None:
            name, *given = unpack(data)
            if name == "housekeeping":
                player.housekeeping(*given)
            else:
                send(replies, pack(_answer(getattr(player, name), given)))
    except BrokenPipeError:  # nobody is left to answer to
        os._exit(0)  # an orderly end would try to write what is left


def _pipes() -> tuple[IO[bytes], IO[bytes]]:
    """What came as standard input and output, which are then nothing and the error stream: tools may print."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, replies


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOKED_AFTER)
    os._exit(1)


def _answer(do: Callable[..., Any], given: list[Any]) -> list[Any]:
    """What comes of it, or the error."""
    try:
        return ["ok", do(*given)]
    except Exception as error:
        return [type(error).__name__, str(error)]


class _Player:
    """The environment and the episodes of this worker, by the numbers that the parent gave them."""

    def __init__(self, folder: str, trusted: bool, sources: list[str]) -> None:
        self.folder = folder
        self.trusted = trusted
        self.sources = sources
        self.episodes: dict[int, Episode] = {}

    @cached_property
    def env(self) -> Environment:
        return load_environment(self.folder, allow_sources=self.sources, trusted=self.trusted)

    def count(self) -> int:
        """How many episodes it holds."""
        return len(self.episodes)

    def hello(self) -> str:
        """Sent first: whatever is wrong with the environment is told as its answer."""
        return self.env.name

    def housekeeping(self, begun: list[tuple[int, str | int]], ended: list[int]) -> None:
        """Begin episodes, in a world, of a task, or as the fork of another; then forget some."""
        for number, start in begun:
            whole = self.env.reset(start) if isinstance(start, str) else self.episodes[start].fork()
            self.episodes[number] = whole
        for number in ended:
            self.episodes.pop(number, None)

    def begin(self, number: int, task: str, seed: int) -> None:
        """Begin an episode of a task in a way that may fail."""
        self.episodes[number] = self.env.reset(task, seed)

    def briefing(self, number: int) -> list[Any]:
        told = self.episodes[number].briefing
        requests = [(one.name, one.text, one.after) for one in told.requests]
        return [told.intent, requests, [(one.name, encoded(one.value), one.doc) for one in told.facts]]

    def open(self, world: str, stored: tuple[str, list[str], dict[str, int]] | None) -> None:
        if stored is None:
            self.env.base(world)
        else:
            file, origin, serials = stored
            self.env.adopt(Stored(file, Origin(*origin), serials))
        gc.collect()
        gc.freeze()  # the rows of a world are never garbage, and looking at them takes longer than a step

    def step(self, numbers: list[int], tools: list[str], arguments: list[Any], by: Side | None) -> tuple[Any, ...]:
        episodes = [self.episodes[number] for number in numbers]
        results = self.env.step(list(zip(episodes, tools, arguments, strict=True)), by)
        others = [(i, one.kind, one.detail) for i, one in enumerate(results) if one.kind != "ok"]
        return [result.text for result in results], others

    def rewards(self, asked: list[tuple[int, str, list[str]]]) -> list[Any]:
        rewards = [self.env.reward(self._told(number, said), self.env.tasks[task]) for number, task, said in asked]
        return [(reward.value, [(reason.kind, reason.text) for reason in reward.reasons]) for reward in rewards]

    def snapshot(self, number: int, said: list[str]) -> str:
        return self._told(number, said).snapshot().decode()

    def restore(self, number: int, snapshot: str) -> list[str]:
        episode = self.episodes[number] = self.env.restore(snapshot.encode())
        return episode.messages

    def digest(self, number: int) -> str:
        return self.episodes[number].digest()

    def ended(self, number: int) -> bool:
        return self.episodes[number].ended

    def broken_rules(self, number: int) -> list[str]:
        return self.episodes[number].broken_rules

    def _told(self, number: int, said: list[str]) -> Episode:
        """The episode with what its agent said, which the parent keeps."""
        episode = self.episodes[number]
        episode.messages[:] = said
        return episode


def main() -> None:
    """The entry of the process, whose arguments are its folder, its parent, whether to trust it, and its sources."""
    serve(sys.argv[1], int(sys.argv[2]), sys.argv[3] == "trusted", sys.argv[4:])
