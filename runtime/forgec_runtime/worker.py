"""The process of one worker: an environment of its own, played by messages from its parent."""

from __future__ import annotations

import gc
import importlib
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .base import Origin
from .confining.attempts import attempts
from .confining.confine import close_all_but, confine, end_with, quieten
from .confining.limits import Limits
from .environment import Environment
from .episode import Episode
from .task_file import encoded
from .tool import Side
from .wire import answer, receive, send, unpack
from .world import Stored

LONG = 600.0
"""Seconds that a world may take to be opened, and episodes to be recovered."""
_LONG = ("open", "recover")
_AGAIN = 0.02
"""Seconds between two tries to stop what runs: one that comes between two statements is lost."""
_LATER_IMPORTS = ("_strptime", "zoneinfo", "decimal", "json", "linecache", "traceback")
"""What the standard library and DuckDB import when it is first needed, when a confined worker no longer can."""
_FAILED = 70
"""The exit code of a worker whose state is not what it should be."""

for _name in _LATER_IMPORTS:
    importlib.import_module(_name)


def serve(environment: Environment, parent: int, descriptors: Sequence[int], settings: dict[str, Any]) -> None:
    """Confine this process, then answer messages until there are no more."""
    end_with(parent)
    requests, replies, control = descriptors
    close_all_but(descriptors)
    player = _Player(environment, settings["seconds"])
    player.replies = replies
    if settings["telemetry"]:
        environment.measure()
    if settings["confine"]:
        quieten()
        player.limits = Limits()
        player.layers = confine([Path(path) for path in settings["readable"]])
    else:  # what tools print is seen, but not among the answers
        os.dup2(2, 1)
    threading.Thread(target=_control, args=(control, player), daemon=True).start()
    if player.limits is not None:  # after the thread: no other can begin
        player.limits.fix()
        player.layers["limits"] = ", ".join(player.limits.missing)
    _answer_all(player, requests, replies)


def _answer_all(player: _Player, requests: int, replies: int) -> None:
    incoming, outgoing = os.fdopen(requests, "rb"), os.fdopen(replies, "wb")
    try:
        while (data := receive(incoming)) is not None:
            name, *given = unpack(data)
            if name == "housekeeping":
                player.housekeeping(*given)
                continue
            if player.limits is not None:
                player.limits.message(LONG if name in _LONG else player.seconds)
            with player.lock:
                player.asked += 1
                player.running = True
            said = _answer(getattr(player, name), given)
            with player.lock:
                player.running = False
            send(outgoing, said)
    except BrokenPipeError:  # nobody is left to answer to
        os._exit(0)  # an orderly end would try to write what is left


def _answer(do: Callable[..., Any], given: list[Any]) -> bytes:
    """What comes of it, or the error."""
    try:
        return answer(["ok", do(*given)])
    except Exception as error:
        return answer([type(error).__name__, str(error)])


def _control(control: int, player: _Player) -> None:
    """Stop what runs when the parent says so, by the number of its message; end when the parent does."""
    while data := os.read(control, 8):
        asked = int.from_bytes(data, "little")
        while player.stop(asked):
            time.sleep(_AGAIN)
    os._exit(1)


class _Player:
    """The environment and the episodes of this worker, by the numbers that the parent gave them."""

    def __init__(self, environment: Environment, seconds: float) -> None:
        self.env = environment
        self.seconds = seconds
        self.episodes: dict[int, Episode] = {}
        self.layers: dict[str, str] = {}
        self.limits: Limits | None = None
        self.replies = -1
        self.lock = threading.Lock()
        self.asked = 0
        self.running = False

    def stop(self, asked: int) -> bool:
        """Try to stop the message of a number; whether that is still running. Called from another thread."""
        with self.lock:
            if not self.running or self.asked != asked:
                return False
            self.env.stop()
            return True

    def count(self) -> int:
        """How many episodes it holds."""
        return len(self.episodes)

    def hello(self) -> dict[str, str]:
        """Sent first: the layers that confine it, each with why it is not on."""
        return self.layers

    def measured(self) -> dict[str, Any]:
        """What was counted since it was last asked."""
        counted = self.env.telemetry
        fresh = self.env.measure()
        return (counted or fresh).as_dict()

    def attempts(self) -> list[tuple[str, str, bool, str]]:
        """What came of trying to get out of here."""
        return [(one.layer, one.tried, one.held, one.why) for one in attempts(self.replies)]

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

    def open(self, world: str, size: int, stored: tuple[str, list[str], dict[str, int]] | None) -> None:
        """Open a world whose file has so many bytes, or that is stored in a database."""
        if self.limits is not None:
            self.limits.before_opening(size)
        if stored is None:
            self.env.base(world)
        else:
            file, origin, serials = stored
            self.env.adopt(Stored(file, Origin(*origin), serials))
        gc.collect()
        gc.freeze()  # the rows of a world are never garbage, and looking at them takes longer than a step
        if self.limits is not None:
            self.limits.after_opening(size if stored is not None else 0)

    def step(self, numbers: list[int], tools: list[str], arguments: list[Any], by: Side | None) -> tuple[Any, ...]:
        if self.limits is not None:
            self.limits.step(len(numbers))
        try:
            episodes = [self.episodes[number] for number in numbers]
            results = self.env.step(list(zip(episodes, tools, arguments, strict=True)), by)
        except BaseException:  # some calls have run, some have not: only a new worker knows where it stands
            os._exit(_FAILED)
        others = [(i, one.kind, one.detail) for i, one in enumerate(results) if one.kind != "ok"]
        changed = [i for i, one in enumerate(results) if one.changed]
        return [result.text for result in results], others, changed

    def recover(self, starts: list[tuple[int, str, Any]], rounds: list[tuple[list[int], list[str], list[Any]]]) -> Any:
        """Bring episodes to where they were: where each began, then its calls. Gives those that did not get there."""
        for number, kind, start in starts:
            if kind == "snapshot":
                self.episodes[number] = self.env.restore(start.encode())
            else:
                self.episodes[number] = self.env.reset(*start)
        failed = []
        for numbers, tools, arguments in rounds:
            if self.limits is not None:
                self.limits.step(len(numbers))
            episodes = [self.episodes[number] for number in numbers]
            results = self.env.step(list(zip(episodes, tools, arguments, strict=True)), None)
            failed += [number for number, result in zip(numbers, results, strict=True) if not result.ok]
        return failed

    def rewards(self, asked: list[tuple[int, str, list[str]]]) -> list[Any]:
        rewards = self.env.rewards((self._told(number, said), self.env.tasks[task]) for number, task, said in asked)
        return [(reward.value, [(reason.kind, reason.text) for reason in reward.reasons]) for reward in rewards]

    def snapshot(self, number: int, said: list[str]) -> str:
        return self._told(number, said).snapshot().decode()

    def snapshots(self, numbers: list[int]) -> list[str]:
        """Many episodes, without what was said."""
        return [self._told(number, []).snapshot().decode() for number in numbers]

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
