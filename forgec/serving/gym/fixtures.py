"""A service as generated servers open it, and dialogues that are played in it again, to see what it pays for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from forgec.serving.gym.responses import said
from forgec.serving.gym.service import Problem, Service
from forgec_runtime import Workers, load_environment

NAME = "fixture"


def opened(package: Path, *, allow_sources: Iterable[str] = (), workers: int = 0, **options: Any) -> Service:
    """The service of a generated package, with the options of `Service`; with `workers`, its episodes live in that many
    processes, which confine themselves. Raises `LoadError`, `ValueError`.
    """
    if workers:
        return Service(Workers(package, workers, allow_sources=allow_sources), **options)
    return Service(load_environment(package, allow_sources=allow_sources), **options)


async def seeded(service: Service, row: Mapping[str, Any]) -> None:
    """Begin the session of a row. Raises `Problem`."""
    await service.seed(NAME, row)


async def replayed(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """What a service says to a request for a verdict, when all that its response has was said and done before.

    The service is closed then. Raises `Problem`.
    """
    try:
        await seeded(service, request)
        output = request["response"].get("output") if isinstance(request.get("response"), Mapping) else None
        for turn, items in enumerate(_turns(output if isinstance(output, list) else []), 1):
            message = said(items)
            try:
                if message.calls:
                    calls = [{"id": one.id, "name": one.name, "arguments": one.arguments} for one in message.calls]
                    await service.execute(NAME, {"turn": turn, "message": message.text, "calls": calls})
                else:
                    await service.next_user_message(NAME, {"turn": turn, "message": message.text})
            except Problem as problem:
                if problem.status != 409:  # the episode has ended
                    raise
        return await service.verify(NAME, request)
    finally:
        await service.close()


def _turns(output: list[Any]) -> Iterator[list[Any]]:
    """What the model put out, turn by turn: all between two things that it was told."""
    items: list[Any] = []
    for item in output:
        of_model = isinstance(item, Mapping) and (
            item.get("type") in ("function_call", "reasoning")
            or (item.get("type", "message") == "message" and item.get("role") == "assistant")
        )
        if of_model:
            items.append(item)
        elif items:
            yield items
            items = []
    if items:
        yield items
