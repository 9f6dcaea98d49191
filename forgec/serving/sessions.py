"""All sessions of an environment by their ids; those that nobody asks for any more are swept out."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakSet

from forgec.rollouts.run import Job, Runner
from forgec.serving.session import Session

MOST = 10_000
IDLE = 1_800.0
"""Seconds after which a session that nobody asks for is dropped."""
KEPT = 120.0
"""The same for one that is over: it is kept for those who ask for its verdict again."""


class Full(Exception):
    """There are as many sessions as there may be."""


class Sessions:
    """Sessions of one runner. All is asked in one event loop."""

    def __init__(self, runner: Runner, *, most: int = MOST, idle: float = IDLE) -> None:
        self.runner, self.most, self.idle = runner, most, idle
        self._all: dict[str, Session] = {}
        self._made: WeakSet[Session] = WeakSet()
        """Those that are still in memory, also if they have no id any more."""
        self._sweeping: asyncio.Task[None] | None = None
        self.begun = 0
        """How many there have ever been."""
        self.swept = 0
        """How many were abandoned."""

    def __len__(self) -> int:
        return len(self._all)

    def counted(self) -> dict[str, int]:
        """How many there are by their ids, are being asked, and were begun or abandoned ever; and how many episodes
        wait for their agents, whatever ids there are.
        """
        return {
            "open": len(self._all),
            "asked": sum(one.asked > 0 for one in self._all.values()),
            "playing": sum(not one.over for one in self._made),
            "begun": self.begun,
            "swept": self.swept,
        }

    async def begin(self, name: str, job: Job) -> Session:
        """A new session by this id; one that has it is dropped. Raises `Full`."""
        if len(self._all) >= self.most and name not in self._all:
            await self.sweep()
            if len(self._all) >= self.most and name not in self._all:
                raise Full
        before = self._all.pop(name, None)
        session = self._all[name] = Session(self.runner, job)  # nothing may be awaited since it was looked for
        self._made.add(session)
        session.used = time.monotonic()
        self.begun += 1
        if self._sweeping is None or self._sweeping.done():
            self._sweeping = asyncio.create_task(self._sweep_now_and_then())
        if before is not None:
            await before.drop()
        return session

    @contextmanager
    def asked(self, name: str) -> Iterator[Session | None]:
        """The session of an id, which is not swept out meanwhile; None if there is none."""
        session = self._all.get(name)
        if session is None:
            yield None
            return
        session.asked += 1
        try:
            yield session
        finally:
            session.asked -= 1
            session.used = time.monotonic()

    async def drop(self, name: str) -> bool:
        """End a session; whether there was one."""
        session = self._all.pop(name, None)
        if session is not None:
            await session.drop()
        return session is not None

    async def sweep(self) -> None:
        """Drop the sessions that were abandoned."""
        for name, session in list(self._all.items()):
            idle = time.monotonic() - session.used
            if not session.asked and idle > (min(KEPT, self.idle) if session.over else self.idle):
                self.swept += 1
                await self.drop(name)

    async def close(self) -> None:
        """Drop them all."""
        if self._sweeping is not None:
            self._sweeping.cancel()
        for name in list(self._all):
            await self.drop(name)

    async def _sweep_now_and_then(self) -> None:
        """Until there is none left."""
        while self._all:
            await asyncio.sleep(min(self.idle, KEPT) / 4)
            await self.sweep()
