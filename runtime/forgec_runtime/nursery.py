"""The process that bears workers: it has imported and loaded all that they need, and each of them is a fork of it."""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from .errors import LoadError, WorkerError
from .loading import load_environment

PATIENCE = 5.0
"""Seconds that a process has to end by itself when it is closed."""
STARTING = 120.0
"""Seconds that the first process has to load the environment."""
_LOOKED_AFTER = 2.0
"""Seconds between looks at whether the parent still lives; mostly its socket says so at once."""
_KEPT_VARIABLES = ("LANG", "LC_", "LD_LIBRARY_PATH", "DYLD_", "PYTHONHASHSEED", "PYTHONHOME", "SYSTEMROOT")


class NurseryDied(Exception):
    """It does not answer any more."""


class Nursery:
    """The parent's end. Raises `LoadError` for an environment that cannot be loaded."""

    def __init__(self, folder: Path, trusted: bool, sources: Iterable[str]) -> None:
        if not hasattr(os, "fork"):
            raise LoadError("workers are forked, which this system cannot do; play the environment in one process")
        program = f"import sys; sys.path[:] = {sys.path!r}; from forgec_runtime.nursery import main; main()"
        ours, theirs = socket.socketpair()
        trust = "trusted" if trusted else "vetted"
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-c", program, str(folder), str(os.getpid()), trust, str(theirs.fileno()), *sources],
                stdin=subprocess.DEVNULL,
                stdout=2,
                pass_fds=[theirs.fileno()],
                env={name: value for name, value in os.environ.items() if name.startswith(_KEPT_VARIABLES)},
                process_group=0,  # Ctrl-C is for the parent, which ends its workers
            )
        self._socket = ours
        self._socket.settimeout(STARTING)
        try:
            kind, told = self._hear()
        except NurseryDied:
            code = self.process.wait()
            raise WorkerError(f"the process of the workers ended with exit code {code} as it began") from None
        if kind != "ok":
            self.end()
            raise LoadError(told) if kind == "LoadError" else WorkerError(f"{kind}: {told}")
        self._socket.settimeout(4 * PATIENCE)

    def fork(self, settings: dict[str, Any], descriptors: Sequence[int]) -> int:
        """The process id of a new worker, which gets these descriptors. Raises `NurseryDied`."""
        return int(self._ask(["fork", settings], descriptors)[0])

    def wait(self, pid: int) -> int:
        """How a worker ended: its exit code, or a signal as a negative number. Raises `NurseryDied`."""
        return int(self._ask(["wait", pid])[0])

    def end(self) -> None:
        """End it, when its workers have ended: those that do not are killed."""
        self._socket.close()
        try:
            self.process.wait(2 * PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _ask(self, request: list[Any], descriptors: Sequence[int] = ()) -> list[Any]:
        try:
            socket.send_fds(self._socket, [json.dumps(request).encode() + b"\n"], descriptors)
        except OSError as error:
            raise NurseryDied from error
        return self._hear()

    def _hear(self) -> list[Any]:
        data = b""
        while not data.endswith(b"\n"):
            try:
                part = self._socket.recv(65536)
            except OSError as error:
                raise NurseryDied from error
            if not part:
                raise NurseryDied
            data += part
        found: list[Any] = json.loads(data)
        return found


def main() -> None:
    """The entry of the process: its folder, its parent, whether to trust it, its socket, and its sources."""
    folder, parent, trust, descriptor, *sources = sys.argv[1:]
    from .worker import serve  # loads what workers need beside the environment

    with socket.socket(fileno=int(descriptor)) as requests:
        try:
            environment = load_environment(folder, allow_sources=sources, trusted=trust == "trusted")
        except Exception as error:
            _say(requests, [type(error).__name__, str(error)])
            return
        _say(requests, ["ok", environment.name])
        gc.collect()
        gc.freeze()  # what is loaded stays, and stays shared with the workers
        poll = select.poll()
        poll.register(requests, select.POLLIN)
        while os.getppid() == int(parent):
            if not poll.poll(1000 * _LOOKED_AFTER):
                continue
            data, descriptors, _, _ = socket.recv_fds(requests, 65536, 8)
            if not data:
                break
            what, given = json.loads(data)
            if what == "wait":
                _say(requests, [_waited(given)])
                continue
            mine = os.getpid()
            pid = os.fork()
            if not pid:
                requests.detach()
                serve(environment, mine, descriptors, given)
                os._exit(0)
            for each in descriptors:
                os.close(each)
            _say(requests, [pid])
    _end_all()


def _say(requests: socket.socket, message: list[Any]) -> None:
    with suppress(OSError):  # when nobody is left to be told, the next question will not come
        requests.sendall(json.dumps(message).encode() + b"\n")


def _waited(pid: int) -> int:
    until = time.monotonic() + PATIENCE
    try:
        while time.monotonic() < until:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.001)
        os.kill(pid, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:  # a worker of an earlier nursery, which took it along
        return -signal.SIGKILL


def _end_all() -> None:
    """Wait for the workers to end; kill those that do not."""
    until = time.monotonic() + PATIENCE
    with suppress(ChildProcessError):  # there are none left
        while time.monotonic() < until:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(0.001)
        os.killpg(0, signal.SIGKILL)
