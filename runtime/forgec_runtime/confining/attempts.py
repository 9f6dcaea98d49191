"""Tries to get out of a worker, made from within it: what it reports is what was seen, not what was set up.

What succeeds does no harm: what it makes is taken away again, and nothing that is not its own is changed.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..engine import EngineError, connect, lock
from ..errors import LoadError
from ..vetting import vet

_PEEK = 2  # PTRACE_PEEKDATA
_NOBODY = 2**22 + 1
"""The id of no process."""
_HUGE = 1 << 36
"""Bytes of address space that no worker is to have."""
_TEMPORARY = tempfile.gettempdir()  # asked for while there is one


@dataclass(frozen=True)
class Attempt:
    """One try: the layer that is to stop it, what was tried, and why it failed; `held` is whether it did."""

    layer: str
    tried: str
    held: bool
    why: str


def attempts(answers: int) -> Iterator[Attempt]:
    """Try everything. `answers` is the descriptor over which this process answers, the only one it is to write to."""
    for layer, tried, function in _tries(answers):
        try:
            found = function()
        except (OSError, MemoryError, EngineError, LoadError, ValueError, OverflowError) as error:
            text = getattr(error, "strerror", None) or str(error) or type(error).__name__
            yield Attempt(layer, tried, True, text.splitlines()[0])
        else:
            yield Attempt(layer, tried, not found, found or "nothing there")


def _tries(answers: int) -> Iterator[tuple[str, str, Callable[[], str]]]:
    """Layers, what is tried, and functions that give what they got at: an empty text is as good as an error."""
    parent = os.getppid()
    yield "variables", "read the environment", lambda: ", ".join(sorted(os.environ)[:3])
    yield "files", "read a file of the system", lambda: _text(Path("/etc/hosts").read_bytes()[:20])
    yield "files", "read its own program", lambda: _text(Path(sys.executable).read_bytes()[:4])
    yield "files", "list a folder", lambda: f"{len(os.listdir('/'))} names"
    yield "files", "write a file", _write
    yield "files", "write to what is open", lambda: _write_to_all(answers)
    yield "network", "open a TCP socket", lambda: _socket(socket.AF_INET)
    yield "network", "open a Unix socket", lambda: _socket(socket.AF_UNIX)
    yield "processes", "fork", _fork
    yield "processes", "run a program", lambda: _run("/nonexistent/program")
    yield "processes", "signal its parent", lambda: _signal(parent)
    yield "processes", "trace a process", _trace
    yield "processes", "read the memory of its parent", lambda: _text(_peek(f"/proc/{parent}/mem"))
    yield "memory", "reserve 64 GiB", _reserve
    yield "memory", "make memory that runs", _executable
    yield "time", "run without end", _endless
    yield "engine", "read a file by SQL", lambda: _sql("select content from read_text('/etc/hosts')")
    yield "engine", "write a file by SQL", lambda: _sql(f"copy (select 1) to '{_TEMPORARY}/forgec.csv'")
    yield "engine", "change a setting", lambda: _sql("set threads = 4")
    yield "engine", "load an extension", lambda: _sql("install httpfs")
    yield "modules", "import what generated code does not", lambda: f"{vet('import os', 'attempt.py')}"


def _text(data: bytes) -> str:
    return f"{len(data)} bytes"


def _write() -> str:
    descriptor, name = tempfile.mkstemp(dir=_TEMPORARY)
    os.close(descriptor)
    os.unlink(name)
    return name


def _write_to_all(answers: int) -> str:
    """Write nothing to whatever is open and no standard stream, which lead nowhere."""
    found = []
    for descriptor in range(3, 256):
        try:
            if descriptor != answers:
                os.write(descriptor, b"")
                found.append(str(descriptor))
        except OSError:
            continue
    return f"descriptors {', '.join(found)}" if found else ""


def _socket(family: int) -> str:
    socket.socket(family).close()
    return "a socket"


def _fork() -> str:
    pid = os.fork()
    if not pid:
        os._exit(0)
    os.waitpid(pid, 0)
    return "a process"


def _run(program: str) -> str:
    """No such program is there: that it was looked for is what must not be."""
    try:
        os.execv(program, [program])
    except FileNotFoundError:
        return "the system looked for it"


def _signal(process: int) -> str:
    os.kill(process, 0)
    return f"process {process}"


def _trace() -> str:
    library = ctypes.CDLL(None, use_errno=True)
    library.ptrace(ctypes.c_long(_PEEK), _NOBODY, None, None)
    code = ctypes.get_errno()
    if code in (errno.EPERM, errno.ENOSYS):
        raise PermissionError(code, os.strerror(code))
    return "the system looked for it"


def _peek(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(1)


def _reserve() -> str:
    """What is only read is not counted against the memory of the machine, so that nothing but a limit refuses it."""
    with mmap.mmap(-1, _HUGE, prot=mmap.PROT_READ, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        return f"{len(memory)} bytes"


def _executable() -> str:
    with mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC):
        return "a page"


def _endless() -> str:
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_CPU)
    if soft == resource.RLIM_INFINITY:
        return "no limit of processor time"
    raise OSError(f"{signal.Signals.SIGXCPU.name} after {soft} seconds of processor time")


def _sql(statement: str) -> str:
    connection = connect()
    lock(connection)
    try:
        connection.execute(statement)
    finally:
        connection.close()
    return "an answer"
