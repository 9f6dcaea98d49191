"""Both sides of a published dialogue as players, who say and do again what was said and done then."""

from __future__ import annotations

import re
from collections.abc import Iterator

from forgec.dialogue import Message, ToolCall
from forgec.regrading.published import STOPPED, Call, Said, Simulation
from forgec.rollouts.replay import ReplayedAgent, ReplayedUser
from forgec.rollouts.trajectory import End

_OVER = re.compile(r"###(STOP|TRANSFER|OUT-OF-SCOPE)###")
"""What a side writes to end the dialogue; nobody says it."""


def agent_of(simulation: Simulation) -> ReplayedAgent:
    """The agent of a dialogue. What it said before the user had said anything is left out: here the user opens."""
    return ReplayedAgent(tuple(_turns(simulation, "assistant")))


def user_of(simulation: Simulation) -> ReplayedUser:
    """The user of a dialogue. Where the last word was not its own, it ends the dialogue by saying nothing."""
    turns, messages = tuple(_turns(simulation, "user")), simulation.messages or ()
    if messages and messages[-1].role != "user":
        turns += (Message(role="user", content=""),)
    return ReplayedUser(turns, end=end_of(simulation))


def end_of(simulation: Simulation) -> End:
    """How a dialogue ended, in our words: one that was cut short counts as given up."""
    if simulation.termination_reason not in STOPPED:
        return "gave_up"
    last = next((one for one in reversed(simulation.messages or ()) if one.role in ("user", "assistant")), None)
    over = _OVER.search(last.content or "") if last else None
    return "satisfied" if over is None or over[1] == "STOP" else "gave_up"


def _turns(simulation: Simulation, role: str) -> Iterator[Message]:
    messages = simulation.messages or ()
    begun = next((i for i, one in enumerate(messages) if one.role == "user" or one.tool_calls), len(messages))
    for said in messages[begun:]:
        if said.role == role:
            yield _message(said)


def _message(said: Said) -> Message:
    text = _OVER.sub("", said.content or "").strip()
    calls = tuple(_call(call) for call in said.tool_calls or ())
    reasoning = said.reasoning if said.role == "assistant" else None
    return Message(
        role=said.role, content=text, tool_calls=calls, reasoning=reasoning,
        reasoning_field="reasoning_content" if reasoning else None,
    )  # fmt: skip


def _call(call: Call) -> ToolCall:
    return ToolCall.of(call.name, call.arguments, call.id)
