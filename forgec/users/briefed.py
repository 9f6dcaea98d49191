"""A user who says all that it wants and knows at once, and takes the first thing it is told as the end."""

from __future__ import annotations

from forgec.dialogue import Transcript, Utterance
from forgec.users.user import UserPart
from forgec.users.values import spoken


class BriefedUser:
    """For agents that are to work alone, as in tests of tools and in training without a dialogue."""

    def __init__(self, part: UserPart) -> None:
        self.part = part

    async def open(self) -> Utterance:
        briefing = self.part.briefing
        facts = [fact for fact in briefing.facts if fact.value is not None]
        wants = [text for text in (briefing.intent, *(request.text for request in briefing.requests)) if text]
        knows = [f"- {fact.doc or fact.name}: {spoken(fact.value)}" for fact in facts]
        text = "\n".join([*wants, *(["What you know:", *knows] if knows else [])])
        return Utterance(text=text, reveals=tuple(fact.name for fact in facts))

    async def answer(self, transcript: Transcript) -> Utterance:
        return Utterance(done=True)
