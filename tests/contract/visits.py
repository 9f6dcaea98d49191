"""Sessions of a resources server that runs, asked straight over HTTP: played to the end, or left behind."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import httpx2

from forgec.dialogue import AssistantMessage
from forgec_runtime import Environment
from tests.serving.playing import model, rollout

AT_ONCE = 100


class Visitor:
    """One session, with a cookie of its own."""

    def __init__(self, http: httpx2.AsyncClient) -> None:
        self._http = http
        self._cookie = ""

    async def post(self, path: str, body: dict[str, Any]) -> Any:
        """The JSON of an answer that is no error."""
        answer = await self._http.post(path, json=body, headers={"cookie": self._cookie})
        assert answer.status_code == 200, (path, answer.status_code, answer.text)
        self._cookie = answer.headers.get("set-cookie", self._cookie).split(";")[0]
        return answer.json()


class Visits:
    """Sessions of one server, so many at a time."""

    def __init__(self, url: str, environment: Environment, moves: dict[str, list[AssistantMessage]]) -> None:
        """`moves` are what gold says and does in some tasks."""
        self.url, self.environment, self.moves = url, environment, moves

    def counted(self) -> dict[str, Any]:
        """What the server says of its sessions."""
        answer = httpx2.get(f"{self.url}/sessions", timeout=60)
        assert answer.status_code == 200, answer.text
        counted: dict[str, Any] = answer.json()
        return counted

    def memory(self) -> float:
        """What the server's process holds, in MB."""
        status = Path(f"/proc/{self.counted()['pid']}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def played(self, count: int) -> list[float]:
        """The rewards of episodes that gold plays and closes."""

        async def one(visitor: Visitor, task: str) -> float:
            verdict = await rollout(self.environment, visitor, task, model(self.moves[task]))
            return float(verdict["reward"])

        return asyncio.run(self._all(count, one))

    def abandoned(self, count: int) -> list[float]:
        """Begin sessions and never close them: one in three right after it was seeded, one amid its calls, one that has
        its verdict. Gives the rewards of these.
        """
        number = iter(range(count))

        async def one(visitor: Visitor, task: str) -> float:
            depth = next(number) % 3
            await visitor.post("/seed_session", {"task": task})
            if depth == 0:
                return 0.0
            move = next(one for one in self.moves[task] if one.calls)
            calls = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in move.calls]
            await visitor.post("/execute_agent_tool_calls", {"calls": calls})
            if depth == 1:
                return 0.0
            verdict = await visitor.post("/verify", {"responses_create_params": {}, "response": {"output": []}})
            return float(verdict["reward"])

        return asyncio.run(self._all(count, one))

    def emptied(self, patience: float) -> dict[str, Any]:
        """What the server says once it has no session any more, or when the patience (in seconds) has run out."""
        began = time.monotonic()
        while (counted := self.counted())["open"] and time.monotonic() - began < patience:
            time.sleep(1)
        return counted

    async def _all(self, count: int, one: Any) -> list[float]:
        room = asyncio.Semaphore(AT_ONCE)
        tasks = list(self.moves)
        limits = httpx2.Limits(max_connections=AT_ONCE, max_keepalive_connections=0)  # servers close what idles
        async with httpx2.AsyncClient(base_url=self.url, limits=limits, timeout=300) as http:

            async def visit(i: int) -> float:
                async with room:
                    rewarded: float = await one(Visitor(http), tasks[i % len(tasks)])
                    return rewarded

            return list(await asyncio.gather(*(visit(i) for i in range(count))))
