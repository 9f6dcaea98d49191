"""A process confines itself: for good, and as far as its system can."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from . import landlock, seccomp

_PDEATHSIG, _DUMPABLE, _NO_NEW_PRIVS = 1, 4, 38

_MOST_DESCRIPTORS = 1 << 20
"""Some systems know no limit."""
_ENGINE = (Path("/proc/self/cgroup"), Path("/sys/fs/cgroup"))
"""What DuckDB reads when it connects: how much memory and how many processors this process may use."""


def end_with(parent: int) -> None:
    """Have this process killed when its parent ends, where the system does that; else nothing is done."""
    with suppress(OSError, AttributeError):
        _prctl(_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def quieten() -> None:
    """Neither variables of the environment nor the standard files are there any more."""
    os.environ.clear()
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nothing, descriptor)
    os.close(nothing)


def close_all_but(kept: Sequence[int]) -> None:
    """Close the descriptors above the standard ones that are not to be kept."""
    last = 2
    for descriptor in sorted(kept):
        os.closerange(last + 1, descriptor)
        last = descriptor
    os.closerange(last + 1, max(min(os.sysconf("SC_OPEN_MAX"), _MOST_DESCRIPTORS), last + 1))


def confine(readable: Sequence[Path]) -> dict[str, str]:
    """Let this process, which has one thread, read these places and compute, and nothing else.

    Gives the layers: "" for one that is on, else why it is not.
    """
    layers = {"privileges": "", "files": "", "calls": ""}
    try:
        _prctl(_NO_NEW_PRIVS, 1)
        _prctl(_DUMPABLE, 0)
    except (OSError, AttributeError) as error:
        why = f"not on this system: {error}"
        return dict.fromkeys(layers, why)
    try:
        landlock.restrict([*readable, *_held(_ENGINE)])
    except OSError as error:
        layers["files"] = str(error)
    try:
        seccomp.install()
    except OSError as error:
        layers["calls"] = str(error)
    return layers


def _held(paths: Sequence[Path]) -> list[Path]:
    """Those that exist. They stay open: what a rule names is not the name but the file, which /proc makes anew."""
    found = [path for path in paths if path.exists()]
    for path in found:
        os.open(path, os.O_PATH | os.O_CLOEXEC)
    return found


def _prctl(option: int, value: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
