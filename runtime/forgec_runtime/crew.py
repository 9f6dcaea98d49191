"""The processes of some workers: begun, spoken to, and begun again when they die, with all that they held."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from .confining import posture
from .environment import Environment
from .errors import LoadError, PostureError, SnapshotError, WorkerError
from .nursery import Nursery, NurseryDied
from .plan import GoldError
from .process import Process
from .remote import RemoteEpisode
from .tasks import TaskError
from .wire import pack, unpack
from .worker import LONG

SHARED_FROM = 8 * 2**20
"""Worlds whose file has at least so many bytes are put into a database once, which all workers read; so are those
with rows outside of the package."""
TRIES = 5
"""How often a worker is begun again before it is given up."""

_ERRORS: dict[str, type[Exception]] = {
    error.__name__: error for error in (LoadError, SnapshotError, GoldError, TaskError, ValueError)
}


class Crew:
    """`count` workers over one environment. Raises `LoadError`, `WorkerError`, `PostureError`."""

    def __init__(
        self,
        environment: Environment,
        folder: Path,
        count: int,
        *,
        trusted: bool,
        confine: bool,
        least: posture.Posture,
        seconds: float,
        telemetry: bool,
    ) -> None:
        self.environment = environment
        self.seconds = seconds
        self.processes: list[Process] = []
        self._opened: dict[str, None] = {}
        self._turn = 0
        self._begin_nursery = partial(Nursery, folder, trusted, environment.allowed)
        self._files = tempfile.TemporaryDirectory(prefix="forgec-", ignore_cleanup_errors=True)
        readable = [str(folder), self._files.name]
        self._settings = {"seconds": seconds, "confine": confine, "readable": readable, "telemetry": telemetry}
        self.restarts = 0
        self._nursery: list[Nursery] = []
        self.close = weakref.finalize(self, _end, self.processes, self._nursery, self._files, os.getpid())
        try:
            self._nursery.append(self._begin_nursery())
            for i in range(count):
                worker = Process(f"worker {i + 1} of {count}")
                self._begin(worker)
                self.processes.append(worker)
            for worker, layers in self.exchange([(worker, ["hello"]) for worker in self.processes]).items():
                worker.layers = layers
            found = min((posture.reached(worker.layers) for worker in self.processes), key=posture.POSTURES.index)
            if not posture.suffices(found, least):
                raise PostureError(found, least, posture.missing(self.processes[0].layers))
        except BaseException:
            self.close()
            raise

    # -- processes ---------------------------------------------------------------------------------------------

    def next(self) -> Process:
        """The worker whose turn it is."""
        for _ in self.processes:
            worker = self.processes[self._turn % len(self.processes)]
            self._turn += 1
            if not worker.ended:
                return worker
        raise WorkerError("; ".join(worker.ended for worker in self.processes) or "the workers are closed")

    def _begin(self, worker: Process) -> None:
        try:
            worker.begin(self._nursery[0], self._settings)
        except NurseryDied:
            self._nursery[0].end()
            self._nursery[0] = self._begin_nursery()
            worker.begin(self._nursery[0], self._settings)

    def revive(self, worker: Process) -> None:
        """Put a new process in the place of one that has died, with its worlds and episodes as they were.

        When that cannot be done, the worker has ended, or episodes are lost; whoever uses them is told.
        """
        if worker.ended:
            return
        died = worker.died
        for _ in range(TRIES):
            try:
                self._begin(worker)
                self._tell(worker, ["hello"])
                for world in self._opened:
                    with _Stored(self, world) as opening:
                        self._tell(worker, opening)
                for episode in self._recover(worker):
                    episode.lost = True
                self.restarts += 1
                return
            except (_Died, NurseryDied):
                continue
            except (LoadError, WorkerError) as error:
                died = f"{died}; its place cannot be taken: {error}"
                break
        worker.end(self._nursery[0], "was ended")
        worker.close(f"{died}: its episodes are lost")

    def _recover(self, worker: Process) -> list[RemoteEpisode]:
        """Bring the episodes of a worker back; gives those that did not get to where they were."""
        held = {number: one for number, one in worker.episodes.items() if one._worker is worker and not one.lost}
        starts = [(number, *one.began) for number, one in held.items()]
        steps: dict[int, Any] = {}
        rounds: list[tuple[list[int], list[str], list[Any]]] = []
        for number, one in held.items():
            for turn, (message, place) in enumerate(one.made):
                if id(message) not in steps:
                    steps[id(message)] = unpack(message)
                if turn == len(rounds):
                    rounds.append(([], [], []))
                _, _, tools, arguments, _ = steps[id(message)]
                numbers, names, given = rounds[turn]
                numbers.append(number)
                names.append(tools[place])
                given.append(arguments[place])
        failed = self._tell(worker, ["recover", starts, rounds])
        return [held[number] for number in failed]

    def kill(self, worker: Process, why: str) -> None:
        """End a worker that is not to go on."""
        worker.end(self._nursery[0], why)

    def open(self, world: str) -> None:
        """Have all workers open a world: from one database where it is large. Raises `LoadError`, `WorkerError`."""
        if world in self._opened:
            return
        with _Stored(self, world) as opening:
            self.exchange([(worker, opening) for worker in self.processes if not worker.ended], LONG)
        self._opened[world] = None

    # -- conversations -----------------------------------------------------------------------------------------

    def talk(
        self, messages: Iterable[tuple[Process, bytes | None]], seconds: float | None = None
    ) -> dict[Process, tuple[str, Any]]:
        """Send each worker its message, then hear all of them: see `Process.hear`.

        Messages are made one by one, so that a worker begins while that of the next is made.
        """
        seconds = self.seconds if seconds is None else seconds
        asked: list[Process] = []
        try:
            for worker, data in messages:
                worker.send(data, seconds)
                if data is not None:
                    asked.append(worker)
            return {worker: worker.hear(seconds, self._nursery[0]) for worker in asked}
        except BaseException:
            self.close()  # half a conversation cannot be taken up again
            raise

    def exchange(
        self, messages: Iterable[tuple[Process, list[Any] | None]], seconds: float | None = None
    ) -> dict[Process, Any]:
        """What the workers say to their messages. One that dies of it is asked once more.

        Raises what the workers raised, `WorkerError` when one has died again, and `TypeError` for what cannot be sent.
        """
        try:
            packed = {worker: None if message is None else pack(message) for worker, message in messages}
        except Exception as error:
            raise TypeError(f"this cannot be sent to a worker: {error}") from error
        said = self.talk(packed.items(), seconds)
        dead = [worker for worker, (kind, _) in said.items() if kind == "dead"]
        for worker in dead:
            self.revive(worker)
        said.update(self.talk([(worker, packed[worker]) for worker in dead if not worker.ended], seconds))
        again = [worker for worker in dead if said[worker][0] == "dead"]
        told = [worker.ended or worker.died for worker in again]
        for worker in again:
            self.revive(worker)
        if told:
            raise WorkerError("; ".join(told))
        for kind, what in said.values():
            if kind != "ok":
                raise _ERRORS[kind](what) if kind in _ERRORS else WorkerError(f"{kind}: {what}")
        return {worker: what for worker, (_, what) in said.items()}

    def _tell(self, worker: Process, message: list[Any]) -> Any:
        """What a worker that has just begun says. Raises `_Died`, `LoadError`, `WorkerError`."""
        kind, told = self.talk([(worker, pack(message))], LONG)[worker]
        if kind == "dead":
            raise _Died
        if kind != "ok":
            raise LoadError(told) if kind == "LoadError" else WorkerError(f"{kind}: {told}")
        return told


class _Died(Exception):
    """A worker died while it was begun again."""


class _Stored:
    """The message that opens a world, while its database, if it needs one, is there; all have it open afterwards."""

    def __init__(self, crew: Crew, world: str) -> None:
        self._crew, self._world = crew, world

    def __enter__(self) -> list[Any]:
        environment = self._crew.environment
        source = environment.worlds[self._world]
        size = source.path.stat().st_size if source.path.is_file() else 0
        self._folder = tempfile.TemporaryDirectory(dir=self._crew._files.name, ignore_cleanup_errors=True)
        if not source.outside and size < SHARED_FROM:
            return ["open", self._world, size, None]
        stored = environment.store(self._world, Path(self._folder.name))
        return ["open", self._world, Path(stored.file).stat().st_size, stored]

    def __exit__(self, *error: object) -> None:
        self._folder.cleanup()


def _end(workers: list[Process], nursery: list[Nursery], files: tempfile.TemporaryDirectory[str], parent: int) -> None:
    """End processes: their pipes close, and they follow; who does not is killed."""
    if os.getpid() != parent:  # a fork of the parent ends; its workers are not its own
        return
    for worker in workers:
        worker.close("the workers are closed")
    for one in nursery:
        one.end()
    files.cleanup()
