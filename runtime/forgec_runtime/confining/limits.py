"""Limits of a process: memory by what it holds, processor time by the step, no files, no processes, no core."""

from __future__ import annotations

import os
import time
from math import ceil

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

ROOM = 1 << 30
"""Bytes of address space that a worker may take beyond what its worlds take."""
CALL_ROOM = 256 << 10
"""Bytes more for each call of its largest step."""
DESCRIPTORS = 64

_FIXED = {"RLIMIT_FSIZE": 0, "RLIMIT_CORE": 0, "RLIMIT_NOFILE": DESCRIPTORS, "RLIMIT_NPROC": 0}


class Limits:
    """The limits of this process. Those that its system does not have are in `missing`."""

    def __init__(self) -> None:
        self.missing: list[str] = []
        self._calls = 0
        self._worlds = 0
        self._seconds_until = 0.0
        try:
            self._memory: int | None = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._memory = None

    def fix(self) -> None:
        """Set those that stay: no writing of files, no core, few descriptors, no new threads or processes."""
        for name, value in _FIXED.items():
            self._set(name, value, value)
        self.after_opening(0)

    def before_opening(self, size: int) -> None:
        """Make room to open a world whose file has so many bytes."""
        self._address_space(2 * ROOM + 8 * size)

    def after_opening(self, stays: int) -> None:
        """Room from now on for what is held, and for so many bytes of a file that is read as it is needed."""
        self._worlds += stays
        self._address_space(ROOM + CALL_ROOM * self._calls + self._worlds)

    def step(self, calls: int) -> None:
        """Room for a step of so many calls."""
        if calls > self._calls:
            self._calls = calls
            self._address_space(ROOM + CALL_ROOM * calls + self._worlds)

    def message(self, seconds: float) -> None:
        """Processor time for what may take so many seconds: at least twice as many."""
        used = time.process_time()
        if used + 2 * seconds > self._seconds_until:
            self._seconds_until = used + 4 * seconds
            self._set("RLIMIT_CPU", ceil(self._seconds_until))

    def _address_space(self, more: int) -> None:
        if self._memory is None:
            self._missing("RLIMIT_AS")
            return
        pages = int(os.pread(self._memory, 64, 0).split()[0])
        self._set("RLIMIT_AS", pages * os.sysconf("SC_PAGE_SIZE") + more)

    def _set(self, name: str, soft: int, hard: int | None = None) -> None:
        """Set a limit; without `hard`, one that can be raised again."""
        kind = getattr(resource, name, None)
        try:
            if kind is None:
                raise OSError
            most = resource.getrlimit(kind)[1]
            resource.setrlimit(kind, (min(soft, most) if most >= 0 else soft, most if hard is None else hard))
        except (OSError, ValueError):
            self._missing(name)

    def _missing(self, name: str) -> None:
        if name not in self.missing:
            self.missing.append(name)
