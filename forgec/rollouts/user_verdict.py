"""Whether the user of an episode did as it was told: by rules, and by a model where they leave it open."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import get_args

from forgec.dialogue import Message
from forgec.llm.client import Client
from forgec.llm.spending import Meter
from forgec.rollouts.trajectory import UserVerdict
from forgec.users.asking import Asking
from forgec.users.errors import Finding, Kind, findings
from forgec_runtime import Briefing
from forgec_runtime.says import spoken

_JUDGE = """\
A user talks to the assistant of a service. The user was told what it wants and what it knows, as given below. Decide
whether the user made one of these errors:
- invented: it stated something that it was not given, was not told by the assistant, and did not see with its tools
- withheld: it kept back a fact that it holds and was asked for
- contradicted: it said otherwise than before, or than it was told
- outside: it asked for something that its task does not have
- early: it ended the dialogue before it had asked for what it wants, or when it was asked for a fact
- never: it went on although it had nothing more to ask for
Only the user is judged, never the assistant. Answer with JSON alone: {"kind": null} where it made none, else
{"kind": "withheld", "turn": 4, "evidence": "..."} with the number of its message and what it said."""
MAX_TEXT = 20_000
"""How many characters of a message the judge is shown."""


def by_rules(messages: Sequence[Message], end: str, asking: Asking) -> UserVerdict:
    """The verdict of the rules: undecided where they found something that free text does not settle."""
    found: Sequence[Finding] = findings(messages, end, asking)
    sure = next((one for one in found if one.sure), None)
    first = sure or (found[0] if found else None)
    if first is None:
        return UserVerdict(mask=False, source="rules")
    return UserVerdict(
        mask=True if sure else None, kind=first.kind, turn=first.turn, evidence=first.text, source="rules"
    )  # fmt: skip


async def judged(
    client: Client, messages: Sequence[Message], briefing: Briefing, *, meter: Meter, scope: str
) -> UserVerdict | None:
    """A model's verdict; None where it cannot be read. Raises `forgec.llm.errors.LLMError`."""
    shown = "\n\n".join([_told(briefing), *_spoken(messages)])
    asked = [{"role": "system", "content": _JUDGE}, {"role": "user", "content": shown}]
    answer = await client.complete(asked, meter=meter, scope=scope)
    return _read(answer.text, messages, f"openai:{client.endpoint.model}")


def _told(briefing: Briefing) -> str:
    facts = [f"- {one.doc or one.name}: {spoken(one.value)}" for one in briefing.facts if one.value is not None]
    wants = [briefing.intent, *(f"{i}. {one.text}" for i, one in enumerate(briefing.requests, 1))]
    return "\n".join(["What the user was told:", *filter(None, wants), "What it knows:", *(facts or ["nothing"])])


def _spoken(messages: Sequence[Message]) -> list[str]:
    """What the two said to each other, and what the user saw with its tools, numbered by place."""
    lines = []
    for turn, message in enumerate(messages):
        text = message.content[:MAX_TEXT]
        if message.role == "assistant" and not message.tool_calls:
            lines.append(f"[{turn}] assistant: {text}")
        elif message.role == "user" and message.by != "loop" and not message.tool_calls:
            lines.append(f"[{turn}] user: {text}")
        elif message.role == "tool" and message.by == "user":
            lines.append(f"[{turn}] the user sees: {text}")
    return lines


def _read(text: str, messages: Sequence[Message], source: str) -> UserVerdict | None:
    begin, end = text.find("{"), text.rfind("}")
    try:
        given = json.loads(text[begin : end + 1])
    except (ValueError, RecursionError):
        return None
    if not isinstance(given, dict) or "kind" not in given:
        return None
    kind, turn, evidence = given["kind"], given.get("turn"), given.get("evidence")
    if kind is None:
        return UserVerdict(mask=False, source=source)
    if kind not in get_args(Kind):
        return None
    shown = evidence[:1000] if isinstance(evidence, str) else ""
    placed = isinstance(turn, int) and 0 <= turn < len(messages) and messages[turn].role == "user"
    return UserVerdict(
        mask=True, kind=kind, turn=turn if placed else None, evidence=shown, source=source,
    )  # fmt: skip
