"""A policy as an agent of the rollout loop."""

from __future__ import annotations

from collections.abc import Hashable

from forgec.dialogue import AssistantMessage, Transcript
from forgec.llm.errors import TooLong
from forgec.rollouts.agents.agent import Tools
from forgec.training.decoding import Decoder, OutOfContext
from forgec.training.template import Template


class PolicyPlayer:
    """Plays one episode at a seat of the decoder. What the loop adds to the dialogue is appended as tokens, once."""

    def __init__(self, decoder: Decoder, template: Template, seat: Hashable) -> None:
        self.decoder, self.template, self.seat = decoder, template, seat
        self._read = 0

    async def act(self, transcript: Transcript, tools: Tools) -> AssistantMessage:
        given = [] if self._read else self.template.beginning(tools)
        for message in transcript[self._read :]:
            if message.role in ("user", "tool"):  # its own messages it has as it wrote them
                given += self.template.observed(message)
        self._read = len(transcript)
        try:
            drawn, cut = await self.decoder.turn(self.seat, given)
        except OutOfContext as error:
            raise TooLong(str(error)) from None
        written = self.template.read(drawn, tools, len(transcript))
        return written.model_copy(update={"finish": "length"}) if cut else written
