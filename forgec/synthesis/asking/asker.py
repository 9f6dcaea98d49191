"""One question, one answer of the form that was asked for; or a reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from forgec.llm.answer import Answer
from forgec.llm.client import Client
from forgec.llm.errors import NotRecorded, Rejected, TooLong
from forgec.llm.spending import Meter, Usage
from forgec.synthesis.asking.cache import Cache, Kept, key_of
from forgec.synthesis.asking.forms import F, Form
from forgec.synthesis.asking.reading import Unread, read

ATTEMPTS = 3
"""How often a model is asked for an answer that can be read."""
SHOWN = 2_000
"""Characters of a bad answer that the model is shown again."""


class Unanswered(Exception):
    """There is no answer to be had. `smaller` says that less might be answered: question or answer are too long."""

    def __init__(self, why: str, *, smaller: bool = False) -> None:
        super().__init__(why)
        self.smaller = smaller


@dataclass
class Spent:
    """What a stage came to."""

    meter: Meter = field(default_factory=Meter)
    questions: int = 0
    kept: int = 0
    """Answers that were there already."""


class Asker:
    """Asks a model, and remembers what it said."""

    def __init__(self, client: Client, cache: Cache) -> None:
        self.client, self.cache = client, cache
        self.spent: dict[str, Spent] = {}
        """By stage, in the order in which they were asked for the first time."""
        self._schemas = True  # until the endpoint says that it has none

    async def ask(self, stage: str, scope: str, form: type[F], messages: Sequence[Mapping[str, str]]) -> F:
        """The answer to a question. `scope` tells equal questions apart.

        Raises `Unanswered`, and `LLMError` where no model can be asked at all.
        """
        spent = self.spent.setdefault(stage, Spent())
        asked = list(messages)
        problem = ""
        for attempt in range(ATTEMPTS):
            spent.questions += 1
            kept = await self._answer(spent, f"synth {scope} {attempt}", form, asked)
            try:
                return read(kept.text, form)
            except Unread as error:
                problem = str(error)
            if kept.finish == "length":
                raise Unanswered("its answer was cut off: it is longer than the model may answer", smaller=True)
            said = " ".join(kept.text.split())[:200] or "nothing"
            problem = f"{problem}; it said: {said}"
            asked = [
                *messages,
                {"role": "assistant", "content": kept.text[:SHOWN] or "(nothing)"},
                {
                    "role": "user",
                    "content": f"This cannot be read: {problem}.\nAnswer again, with the JSON object only.",
                },
            ]
        raise Unanswered(f"no answer in {ATTEMPTS} attempts could be read: {problem}")

    async def _answer(self, spent: Spent, scope: str, form: type[Form], messages: list[Mapping[str, str]]) -> Kept:
        schema = form.schema_of()
        key = key_of(self.client.endpoint.model, self.client.endpoint.settings, schema, [{"scope": scope}, *messages])
        kept = self.cache.get(key)
        if kept is not None:
            spent.kept += 1
            return kept
        try:
            answer = await self._complete(spent.meter, scope, form, schema, messages)
        except TooLong as error:
            raise Unanswered(f"the question is longer than the model can read: {error}", smaller=True) from None
        except Rejected as error:
            raise Unanswered(f"the endpoint does not take the question: {error}") from None
        usage = answer.usage or Usage()
        kept = Kept(answer.text, answer.finish, usage.prompt, usage.completion)
        self.cache.put(key, kept)
        return kept

    async def _complete(
        self, meter: Meter, scope: str, form: type[Form], schema: dict[str, Any], messages: list[Mapping[str, str]]
    ) -> Answer:
        """The answer, held to the schema by the endpoint where it can do that."""
        if self._schemas:
            wanted = {"type": "json_schema", "json_schema": {"name": form.__name__, "strict": True, "schema": schema}}
            try:
                settings = {"response_format": wanted}
                return await self.client.complete(messages, meter=meter, scope=scope, settings=settings)
            except TooLong:
                raise
            except (Rejected, NotRecorded):
                pass
            answer = await self.client.complete(messages, meter=meter, scope=scope)
            self._schemas = False  # it took the same question without one
            return answer
        return await self.client.complete(messages, meter=meter, scope=scope)
