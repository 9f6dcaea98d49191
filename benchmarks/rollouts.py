"""What the loop of dialogues costs: with an agent that answers at once, over HTTP, and beside a model that takes time.

    .venv/bin/python -m benchmarks.rollouts [--quick]

The agent looks nine times at something in the library and then says that it is done, which its user is content with; a
step is one of its turns, with the call that it makes. Once the gold agent goes through all tasks of the library, and
asks the scripted user for what it needs. Over HTTP the model is a server in a process of its own on this machine, which
answers at once; the client's share is what its requests cost when nobody plays. Processor time is that of this process,
all threads. Nothing else should run.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Any

from forgec.dialogue import AssistantMessage, ToolCall, Transcript
from forgec.llm.client import Client, Endpoint
from forgec.llm.spending import Meter
from forgec.rollouts import players
from forgec.rollouts.agents.agent import Agents, Tools
from forgec.rollouts.agents.built_in import GoldPlayer
from forgec.rollouts.agents.endpoint import EndpointPlayer
from forgec.rollouts.agents.python_function import FunctionPlayer
from forgec.rollouts.run import Job, Runner, Setup, Side, jobs_of
from forgec_runtime import AsyncEnvironment, Environment, load_environment

LIBRARY = Path(__file__).parent.parent / "generated" / "library"
TASK = "settle_the_overdue"
LOOKS = 9
MODEL_TAKES = 0.1
TOOLS = {
    "a lookup": ("find_member", {"email": "joan.moreno@example.org"}),
    "a query": ("list_loans", {"member_id": "M001"}),
}


@dataclass(frozen=True)
class Figures:
    """What a run took: seconds by the wall and of the processor."""

    steps: int
    wall: float
    cpu: float

    @property
    def rate(self) -> float:
        return self.steps / self.wall

    @property
    def cpu_ms(self) -> float:
        """Processor time of a step, in milliseconds."""
        return 1e3 * self.cpu / self.steps


def function(tool: str) -> Callable[[list[dict[str, Any]], Tools], Any]:
    name, arguments = TOOLS[tool]
    look = {"tool_calls": [{"function": {"name": name, "arguments": json.dumps(arguments)}}]}
    return lambda messages, tools: look if len(messages) < 2 + 2 * LOOKS else "It is done."


@dataclass
class Model:
    """A model that takes its time: what lies between two of its answers, less that time, is added by us."""

    tool: str
    added: list[float]
    answered: float = 0.0
    moves: list[AssistantMessage] = field(default_factory=list)

    async def act(self, transcript: Transcript, tools: Tools) -> AssistantMessage:
        if self.answered:
            self.added.append(time.perf_counter() - self.answered)
        await asyncio.sleep(MODEL_TAKES)
        self.answered = time.perf_counter()
        name, arguments = TOOLS[self.tool]
        if len(transcript) >= 2 + 2 * LOOKS:
            return AssistantMessage(text="It is done.")
        return AssistantMessage(calls=(ToolCall.of(name, arguments, f"c{len(transcript)}"),))


async def played(environment: Environment, agents: Agents, episodes: int, at_once: int) -> Figures:
    """What so many episodes of looking take."""
    figures = await run(environment, agents, "briefed", jobs_of([environment.tasks[TASK]], 0, episodes), at_once)
    assert figures.steps == episodes * (LOOKS + 1)
    return figures


async def run(environment: Environment, agents: Agents, user_name: str, jobs: Sequence[Job], at_once: int) -> Figures:
    """What episodes with a user take."""
    turns = 0

    def done(trajectory: Any) -> None:
        nonlocal turns
        trajectory.line()
        turns += trajectory.turns

    user = players.user(user_name)
    async with AsyncEnvironment(environment) as front:
        runner = Runner(environment, front, Setup(Side("it"), user.side, agents, user.play), done, [])
        wall, cpu = time.perf_counter(), time.process_time()
        stopped = await runner.play(jobs, at_once)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert not stopped, stopped
    return Figures(turns, wall, cpu)


async def asked(client: Client, requests: int, at_once: int, tools: Tools) -> Figures:
    """What so many requests of the length that a dialogue has take when nobody plays."""
    look: dict[str, Any] = {"role": "assistant", "content": "", "tool_calls": [
        {"id": "c0", "type": "function", "function": {"name": "find_member", "arguments": "{}"}}]}  # fmt: skip
    result = {"role": "tool", "tool_call_id": "c0", "content": "{}" * 100}
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "policy " * 300},
        {"role": "user", "content": "Hello. " * 50},
    ]
    body = [*messages, *[look, result] * (LOOKS // 2)]
    left = iter(range(requests))

    async def work() -> None:
        for _ in left:
            await client.complete(body, tools, meter=Meter())

    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(work() for _ in range(at_once)))
    return Figures(requests, time.perf_counter() - wall, time.process_time() - cpu)


# -- the server ---------------------------------------------------------------------------------------------------


async def _connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    name, arguments = TOOLS["a lookup"]
    call = {"id": "c0", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    usage = {"prompt_tokens": 900, "completion_tokens": 20}
    bodies = [
        json.dumps({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}).encode()
        for message in ({"role": "assistant", "tool_calls": [call]}, {"role": "assistant", "content": "It is done."})
    ]
    answers = [b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies]
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            body = await reader.readexactly(length)
            writer.write(answers[body.count(b'"role":"assistant"') >= LOOKS])
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def serve() -> None:
    """Answer until the standard input ends."""
    server = await asyncio.start_server(_connection, "127.0.0.1", 0, limit=2**24, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    server.close()


# -- the table ----------------------------------------------------------------------------------------------------


async def table(scale: int) -> None:
    environment = load_environment(LIBRARY)
    tools = [tool.schema for tool in environment.tools.values()]
    line("an agent that answers at once, 1,024 in flight (goal: 2,000 steps a second)")
    for tool in TOOLS:
        look = function(tool)

        def agents(part: Any, look: Any = look) -> FunctionPlayer:
            return FunctionPlayer(look)

        await played(environment, agents, 64, 64)
        found = await played(environment, agents, 512 * scale, 1024)
        line(f"  {tool}", f"{found.rate:,.0f} steps/s", f"{found.cpu_ms:.3f} ms of processor a step")
    tasks = list(environment.tasks.values())
    await run(environment, GoldPlayer, "scripted", jobs_of(tasks, 0, 1), 1024)
    found = await run(environment, GoldPlayer, "scripted", jobs_of(tasks, 0, 12 * scale), 1024)
    line("  gold, and the scripted user", f"{found.rate:,.0f} steps/s", f"{found.cpu_ms:.3f} ms of processor a step")
    server = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.rollouts", "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    port = int(server.stdout.readline())
    client = Client(Endpoint("none", f"http://127.0.0.1:{port}/v1"))
    line("over loopback HTTP, 64 in flight")
    await asked(client, 100, 64, tools)
    alone = await asked(client, 640 * scale, 64, tools)
    over = await played(environment, lambda part: EndpointPlayer(part, client), 64 * scale, 64)
    line("  requests alone", f"{alone.rate:,.0f} a second", f"{alone.cpu_ms:.3f} ms of processor a request")
    line("  played", f"{over.rate:,.0f} steps/s", f"{over.cpu_ms:.3f} ms of processor a step")
    line("  the client's share", f"{min(alone.cpu_ms / over.cpu_ms, 1):.0%}")
    await client.close()
    server.communicate()
    line(f"a model that takes {MODEL_TAKES * 1e3:.0f} ms, 64 in flight (goal: 1 ms of processor a step)")
    for tool in TOOLS:
        added: list[float] = []

        def models(part: Any, tool: str = tool, added: list[float] = added) -> Model:
            return Model(tool, added)

        found = await played(environment, models, 128 * scale, 64)
        cuts = quantiles(added, n=100)
        line(f"  {tool}", f"{found.rate:,.0f} steps/s", f"{found.cpu_ms:.3f} ms of processor a step")
        line("    added to a step", f"p50 {cuts[49] * 1e3:.1f} ms", f"p99 {cuts[98] * 1e3:.1f} ms")


def line(what: str, *figures: str) -> None:
    print(what.ljust(40) + "".join(figure.rjust(20 + 16 * (i > 0)) for i, figure in enumerate(figures)), flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        asyncio.run(serve())
    else:
        asyncio.run(table(1 if "--quick" in sys.argv else 4))
