"""The parent's end of one worker process."""

from __future__ import annotations

import os
import signal
import sys
import time
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .nursery import Nursery, NurseryDied
from .wire import pack, read_by, understood, write_by

if sys.platform == "linux":
    import fcntl

if TYPE_CHECKING:
    from .remote import RemoteEpisode

GRACE = 2.0
"""Seconds that a worker has to stop what takes too long, before it is killed."""
_PIPE_SIZE = 2**20


class Process:
    """A worker, whichever process it is at the moment: when one ends, `begin` puts another in its place."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.pid = 0
        self.died = ""
        """How the last process came to its end; empty while one lives."""
        self.ended = ""
        """Why no process follows any more."""
        self.episodes: weakref.WeakValueDictionary[int, RemoteEpisode] = weakref.WeakValueDictionary()
        self.begun: list[tuple[int, str | int]] = []
        self.gone: list[int] = []
        self.layers: dict[str, str] = {}
        self._descriptors: list[int] = []
        self._asked = 0
        self._sent = 0.0

    def begin(self, nursery: Nursery, settings: dict[str, Any]) -> None:
        """Have a new process. It knows no episodes. Raises `NurseryDied`."""
        requests, self._requests = _pipe()
        self._replies, replies = _pipe()
        control, self._control = _pipe()
        self._descriptors = [self._requests, self._replies, self._control]
        try:
            self.pid = nursery.fork(settings, [requests, replies, control])
        except BaseException:
            self._close()
            raise
        finally:
            for descriptor in (requests, replies, control):
                os.close(descriptor)
        for descriptor in (self._requests, self._replies):
            os.set_blocking(descriptor, False)
        self.died = ""
        self.begun, self.gone = [], []
        self._asked = 0

    def forget(self, number: int) -> None:
        """Called by the garbage collector, anywhere: it must do no more than this."""
        self.gone.append(number)

    def send(self, data: bytes | None, seconds: float) -> None:
        """A message after what else there is to tell; None tells that alone."""
        if self.begun or self.gone:
            begun, self.begun = self.begun, []
            gone = [self.gone.pop() for _ in range(len(self.gone))]  # more may come in meanwhile
            self._send(pack(["housekeeping", begun, gone]), seconds)
        if data is not None:
            self._send(data, seconds)
            self._asked += 1
            self._sent = time.monotonic()

    def _send(self, data: bytes, seconds: float) -> None:
        if self.died:
            return
        with suppress(OSError):  # what it comes to, its answer will tell
            write_by(self._requests, data, time.monotonic() + seconds)

    def hear(self, seconds: float, nursery: Nursery) -> tuple[str, Any]:
        """The answer to a message: "ok" and what came of it, the name of an error and its text, or "dead" and how.

        What takes longer is stopped; a worker that cannot be stopped is killed.
        """
        if self.died:
            return "dead", self.died
        try:
            data = self._read(seconds)
        except TimeoutError:
            self.end(nursery, f"was killed: it took longer than {seconds:g} seconds")
            return "dead", self.died
        try:
            kind, told = understood(data) if data is not None else ("dead", None)
            if type(kind) is not str:
                raise ValueError(kind)
        except (ValueError, TypeError):
            kind, data = "dead", None
        if data is None:
            self.end(nursery)
        return kind, self.died or told

    def _read(self, seconds: float) -> bytes | None:
        try:
            return read_by(self._replies, self._sent + seconds)
        except TimeoutError:
            with suppress(OSError):
                os.write(self._control, self._asked.to_bytes(8, "little"))
            return read_by(self._replies, time.monotonic() + GRACE)

    def end(self, nursery: Nursery, why: str = "") -> None:
        """See that the process is dead, and note how it died."""
        if self.died or not self._descriptors:
            return
        with suppress(ProcessLookupError):
            if why:
                os.kill(self.pid, signal.SIGKILL)
        self._close()
        try:
            code = nursery.wait(self.pid)
        except NurseryDied:
            code = -signal.SIGKILL
        how = why or (f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}")
        self.died = f"{self.place} (process {self.pid}) {how}"

    def close(self, why: str) -> None:
        """No process follows; the one there is ends, as nobody speaks to it any more."""
        self.ended = self.ended or why
        self.died = self.died or why
        self._close()

    def _close(self) -> None:
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors = []


def _pipe() -> tuple[int, int]:
    """Its ends, to read and to write; of a size that holds most messages, where that can be chosen."""
    ends = os.pipe()
    if sys.platform == "linux":
        with suppress(OSError):  # there is a limit for all pipes of a user
            fcntl.fcntl(ends[1], fcntl.F_SETPIPE_SZ, _PIPE_SIZE)
    return ends
