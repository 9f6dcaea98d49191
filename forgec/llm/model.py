"""What those that ask a model need of it, wherever it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from forgec.llm.answer import Answer
from forgec.llm.spending import Meter


class Model(Protocol):
    """Answers dialogues in the shape of OpenAI's chat."""

    async def complete(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = (), *, meter: Meter,
        scope: str = "", settings: Mapping[str, Any] | None = None,
    ) -> Answer:  # fmt: skip
        """The model's answer. `scope` says who asks. Raises `forgec.llm.errors.LLMError`."""
        ...
