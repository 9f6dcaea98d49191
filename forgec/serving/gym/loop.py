"""What NeMo Gym's agent server does between seeding a session and its verdict: model, user and tools take turns."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from forgec.serving.gym.responses import Ask, said

Post = Callable[[str, dict[str, Any]], Awaitable[Any]]
"""Sends JSON to a path of the resources server, in the session that is played, and gives the JSON of its answer."""


class NoResponse(RuntimeError):
    """The model server gave something that is no response."""


async def play(params: Mapping[str, Any], ask: Ask, post: Post, most: int) -> dict[str, Any]:
    """The last response of the model, with all that was said and done in the dialogue as its output.

    `params` is what a row asks the model with; the user opens where nobody has spoken in its input yet. The model
    answers `most` times at most. Raises `NoResponse`, and what `ask` and `post` do.
    """
    begun = _input(params)
    more: list[dict[str, Any]] = []
    opened = any(isinstance(item, Mapping) and item.get("role") == "user" for item in begun)
    if not opened:
        opening = await post("/next_user_message", {"turn": 0})
        more.append(_user(opening["message"]))
    response: dict[str, Any] = EMPTY
    usage: dict[str, Any] | None = None
    for turn in range(1, most + 1):
        answer = await ask({**params, "input": [*begun, *more]})
        if not isinstance(answer, dict) or not isinstance(answer.get("output"), list):
            raise NoResponse(f"the model server gave no response: {str(answer)[:500]}")
        response, usage = answer, _sum(usage, answer.get("usage"))
        more.extend(answer["output"])
        message = said(answer["output"])
        if message.calls:
            calls = [{"id": one.id, "name": one.name, "arguments": one.arguments} for one in message.calls]
            done = await post(
                "/execute_agent_tool_calls", {"turn": turn, "message": message.text, "calls": calls}
            )  # fmt: skip
            more.extend(
                {"type": "function_call_output", "call_id": call.id, "output": output}
                for call, output in zip(message.calls, done["outputs"], strict=True)
            )
        else:
            done = await post("/next_user_message", {"turn": turn, "message": message.text})
            if done["message"] and done["should_continue"]:
                more.append(_user(done["message"]))
        if not done["should_continue"]:
            break
    return {**response, "output": more, "usage": usage}


EMPTY: dict[str, Any] = {
    "id": "empty", "object": "response", "created_at": 0, "model": "", "output": [], "parallel_tool_calls": True,
    "tool_choice": "auto", "tools": [],
}  # fmt: skip
"""What there is if the model is not asked at all."""


def _user(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": text}


def _input(params: Mapping[str, Any]) -> list[Any]:
    given = params.get("input")
    return [_user(given)] if isinstance(given, str) else list(given or ())


def _sum(first: dict[str, Any] | None, second: Any) -> dict[str, Any] | None:
    """Usage of two responses together."""
    if not isinstance(second, Mapping):
        return first
    total = dict(first or {})
    for name, count in second.items():
        if isinstance(count, Mapping):
            total[name] = _sum(total.get(name), count)
        elif isinstance(count, int | float):
            total[name] = (total.get(name) or 0) + count
    return total
