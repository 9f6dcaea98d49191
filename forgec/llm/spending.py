"""What requests cost: tokens, prices, and budgets that are kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from forgec.llm.errors import OverBudget


@dataclass(frozen=True)
class Usage:
    """What one answer took, in tokens. `cached` are among the prompt's, `reasoning` among the completion's."""

    prompt: int = 0
    cached: int = 0
    completion: int = 0
    reasoning: int = 0
    estimated: bool = False
    """Whether the endpoint did not say, and the tokens were guessed from the lengths of the texts."""


@dataclass
class Meter:
    """What one player's requests came to."""

    requests: int = 0
    """Requests that were sent, those that failed among them."""
    answers: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    estimated_answers: int = 0
    """Answers whose tokens the endpoint did not tell, and that were guessed."""
    cost: float | None = None
    """In the currency of the prices; None where there is no price."""
    failures: dict[str, int] = field(default_factory=dict)
    """Requests that failed and were sent again, by what they failed of."""
    seconds: float = 0.0
    """Time spent waiting for answers, retries and back-off included."""

    def add(self, usage: Usage, cost: float | None) -> None:
        self.answers += 1
        self.prompt_tokens += usage.prompt
        self.cached_tokens += usage.cached
        self.completion_tokens += usage.completion
        self.reasoning_tokens += usage.reasoning
        self.estimated_answers += usage.estimated
        if cost is not None:
            self.cost = (self.cost or 0.0) + cost

    def failed(self, kind: str) -> None:
        self.failures[kind] = self.failures.get(kind, 0) + 1

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


class Price(BaseModel):
    """What a million tokens of one model cost."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)
    cached: float | None = Field(
        default=None, ge=0, allow_inf_nan=False, description="Input that the endpoint had cached."
    )

    def of(self, usage: Usage) -> float:
        cached = self.input if self.cached is None else self.cached
        fresh = max(usage.prompt - usage.cached, 0)
        return (fresh * self.input + usage.cached * cached + usage.completion * self.output) / 1e6


class PriceError(ValueError):
    """Prices that cannot be read."""


def read_prices(path: Path) -> dict[str, Price]:
    """The prices by model in a JSON file: `{"model": {"input": 0.5, "output": 1.5}}`, for a million tokens.

    Raises `PriceError`.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise PriceError(f"{path} cannot be read: {error}") from None
    if not isinstance(content, dict):
        raise PriceError(f"{path}: not an object of models with their prices")
    return {str(model): _price(f"{path}: {model}", one) for model, one in content.items()}


def _price(where: str, given: Any) -> Price:
    try:
        return Price.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        raise PriceError(f"{where}: {'.'.join(map(str, first['loc'])) or 'price'}: {first['msg']}") from None


def parse_price(text: str) -> tuple[str, Price]:
    """The price in an option: `MODEL=INPUT,OUTPUT` or `MODEL=INPUT,OUTPUT,CACHED`. Raises `PriceError`."""
    model, equals, numbers = text.rpartition("=")
    parts = numbers.split(",")
    if not (model and equals) or len(parts) not in (2, 3):
        raise PriceError(f"`{text}` is no price: write MODEL=INPUT,OUTPUT, for a million tokens each")
    return model, _price(text, dict(zip(("input", "output", "cached"), parts, strict=False)))


class Budget:
    """What a run may come to. `max_calls`, of requests that are sent, is never passed; of `max_cost`, what is on its
    way may be paid beyond it.

    A recorded answer costs what it cost: so a run that goes on with its record counts what it has paid already, and one
    that is replayed stops where it did.
    """

    def __init__(self, max_calls: int | None = None, max_cost: float | None = None) -> None:
        self.max_calls, self.max_cost = max_calls, max_cost
        self.calls, self.cost = 0, 0.0

    def take(self) -> None:
        """Reserve a request. Raises `OverBudget`."""
        if self.max_calls is not None and self.calls >= self.max_calls:
            raise OverBudget(f"the budget of {self.max_calls} requests is used up")
        self.afford()
        self.calls += 1

    def afford(self) -> None:
        """Raises `OverBudget` when there is no money left."""
        if self.max_cost is not None and self.cost >= self.max_cost:
            raise OverBudget(f"the budget of {self.max_cost:g} is used up")

    def pay(self, cost: float | None) -> None:
        self.cost += cost or 0.0

    def spent(self, calls: int, cost: float | None) -> None:
        """Count what was spent before, by an earlier part of the same run."""
        self.calls += calls
        self.cost += cost or 0.0


def cost_of(prices: Mapping[str, Price], model: str, usage: Usage) -> float | None:
    """What an answer costs; None without a price for its model."""
    price = prices.get(model)
    return None if price is None else price.of(usage)
