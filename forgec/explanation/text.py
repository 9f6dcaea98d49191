"""An explanation for the terminal: what was said and done, where it went wrong, and what is lacking."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from typing import Any, TypeAlias

from forgec.diagnostics.cells import clean
from forgec.dialogue import Message, ToolCall
from forgec.explanation.turning import Explanation

WIDTH = 120
NARROWEST = 40
MAX_TEXT = 1_200
"""Characters of a message that are shown; the page has them all."""

Part: TypeAlias = tuple[str, str]
"""A text, after what stands before its first line; the others hang below its beginning."""


def text(explanation: Explanation, width: int = WIDTH) -> str:
    """The whole of it, as lines that a terminal can be trusted with."""
    parts = [*_head(explanation), ("", ""), *_transcript(explanation), ("", ""), *_verdict(explanation)]
    return "\n".join(clean(line) for part in parts for line in _laid_out(*part, max(width, NARROWEST)))


def as_json(explanation: Explanation) -> dict[str, Any]:
    """The findings alone, as plain data: the trajectory has the rest."""
    one, turn = explanation.trajectory, explanation.turn
    return {
        "environment": one.environment, "task": one.task, "seed": one.seed, "trial": one.trial,
        "reward": one.reward, "end": one.end, "reasons": [reason.model_dump() for reason in one.reasons],
        "turn": None if turn is None else {
            "message": turn.message, "tool": turn.call.name, "arguments": turn.call.arguments, "why": list(turn.why),
        },
        "undone": [{"node": u.node, "tool": u.tool, "arguments": dict(u.arguments)} for u in explanation.undone],
        "user": None if one.user_verdict is None else one.user_verdict.model_dump(),
        "drift": explanation.drift or None,
    }  # fmt: skip


def shown_call(call: ToolCall) -> str:
    """A call as specs write it, whatever its arguments are."""
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict):
        return f"{call.name}({call.arguments})"
    return f"{call.name}({', '.join(f'{name}: {json.dumps(v, ensure_ascii=False)}' for name, v in arguments.items())})"


def _head(explanation: Explanation) -> Iterator[Part]:
    one = explanation.trajectory
    place = f"{one.environment}/{one.task}, seed {one.seed}, trial {one.trial}"
    yield "", f"{place}: reward {one.reward:g}, ended: {one.end}"
    yield "", f"{one.agent} with the user {one.user}" + (f" ({one.model})" if one.model else "")
    if explanation.drift:
        yield "", f"note: played again it comes out otherwise: {explanation.drift}"


def _transcript(explanation: Explanation) -> Iterator[Part]:
    turn = explanation.turn
    for place, message in enumerate(explanation.trajectory.messages):
        if message.role == "system":
            continue
        yield from _message(place, message)
        if turn is not None and turn.message == place:
            yield "      ", "^^^ from here on no plan leads to the reward any more"


def _message(place: int, message: Message) -> Iterator[Part]:
    who = {"assistant": "agent", "user": "user", "tool": message.kind or "tool"}.get(message.role, message.role)
    lead = f"{place:4}  {who:<8}"
    texts = [f"(thinks) {_cut(message.reasoning)}"] if message.reasoning else []
    texts += [_cut(message.content)] if message.content else []
    texts += [_cut(shown_call(call)) for call in message.tool_calls]
    texts += [f"[tells {', '.join(message.reveals)}]"] if message.reveals else []
    texts += [f"[asks whether {', '.join(message.asks_back)} is meant]"] if message.asks_back else []
    for one in texts or ["(nothing)"]:
        yield lead, one
        lead = " " * len(lead)


def _verdict(explanation: Explanation) -> Iterator[Part]:
    one, turn = explanation.trajectory, explanation.turn
    if one.reward == 1:
        yield "", "Paid in full."
    if one.reasons:
        yield "", "Not paid because:"
        for reason in one.reasons:
            yield f"  {reason.kind + ':':<8}", reason.text
    if turn is not None:
        yield "", f"Lost with message {turn.message}, {_cut(shown_call(turn.call), 200)}. Had the rest been done:"
        for why in turn.why[:10]:
            yield "  ", why
    elif one.reward != 1:
        yield "", "It could have been saved until the end."
    if explanation.undone:
        yield "", "Of the plan, never done:"
        for undone in explanation.undone:
            yield "  ", shown_call(ToolCall.of(undone.tool, undone.arguments))
    verdict = one.user_verdict
    if verdict is not None and verdict.mask:
        where = "" if verdict.turn is None else f" in message {verdict.turn}"
        yield "", f"The user erred{where}: {verdict.kind}: {verdict.evidence} ({verdict.source})"


def _laid_out(lead: str, content: str, width: int) -> Iterator[str]:
    for line in content.split("\n"):
        for part in textwrap.wrap(line, width - len(lead)) or [""]:
            yield lead + part
            lead = " " * len(lead)


def _cut(content: str, limit: int = MAX_TEXT) -> str:
    return content if len(content) <= limit else f"{content[:limit]} ... ({len(content) - limit:,} more characters)"
