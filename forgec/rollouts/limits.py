"""How far an episode may go."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from forgec_runtime.front import MAX_CALLS


class Limits(BaseModel):
    """Limits of one episode, and of one message. An episode that reaches one of its own ends, and is judged as it is;
    a message that passes one is answered with an observation, and the episode goes on.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    turns: int = Field(default=100, ge=1, description="Messages of the agent.")
    calls: int = Field(default=500, ge=1, description="Calls of tools by the agent.")
    tokens: int | None = Field(default=None, ge=1, description="Tokens of the agent's model, prompts included.")
    seconds: float | None = Field(default=3600.0, gt=0, description="Time from the first word on.")
    silent: int = Field(default=3, ge=1, description="Messages of the agent, one after the other, that are empty.")
    message_calls: int = Field(
        default=100, ge=1, le=MAX_CALLS, description="Calls in one message; others are not made."
    )
    message_text: int = Field(
        default=100_000, ge=1, description="Characters of a message; a longer one is not delivered."
    )
    arguments: int = Field(
        default=100_000, ge=1, description="Characters of a call's arguments; it is not made with more."
    )
    user_calls: int = Field(default=100, ge=1, description="Calls of the user between two of its messages.")
