"""Options of commands that ask a model: where it is, how it is asked, and what that may cost."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forgec.diagnostics import counted
from forgec.diagnostics.cells import clean

if TYPE_CHECKING:
    from forgec.llm.client import Client, Endpoint
    from forgec.llm.spending import Budget, Price
    from forgec.llm.traffic import Traffic


MAX_REASONS = 10
"""How many reasons for asking again are told."""


@dataclass(frozen=True)
class ModelOptions:
    """What the options say."""

    base_url: str | None
    key_variable: str
    settings: dict[str, Any]
    keep_reasoning: bool
    connections: int
    timeout: float
    retries: int
    max_calls: int | None
    max_cost: float | None
    prices: Path | None
    price: tuple[str, ...]
    record: Path | None
    replay: Path | None

    def endpoint(self, model: str) -> Endpoint:
        from forgec.llm.client import Endpoint
        from forgec.llm.retrying import Patience

        patience = Patience(timeout=self.timeout, retries=self.retries)
        return Endpoint(model, self.base_url, self.key_variable, self.settings, self.connections, patience)

    def client(self, endpoint: Endpoint, budget: Budget, prices: dict[str, Price], traffic: Traffic | None) -> Client:
        """Raises `forgec.llm.client.SetupError`, `UsageError`."""
        from forgec.llm.client import Client

        if self.max_cost is not None and endpoint.model not in prices:
            raise click.UsageError(f"--max-cost needs the price of {endpoint.model}: give --price or --prices")
        client = Client(endpoint, budget=budget, prices=prices, traffic=traffic)
        client.tell = _impatient(self.retries)
        return client

    def all_prices(self) -> dict[str, Price]:
        """Raises `UsageError`."""
        from forgec.llm.spending import PriceError, parse_price, read_prices

        try:
            known = {} if self.prices is None else read_prices(self.prices)
            return known | dict(parse_price(text) for text in self.price)
        except PriceError as error:
            raise click.UsageError(str(error)) from None

    def traffic(self, *, loose: bool = False) -> Traffic | None:
        """The file of traffic, if one is named; `loose` is for requests that tell each other by their scopes.

        Raises `UsageError`.
        """
        from forgec.llm.traffic import Traffic, TrafficError

        path = self.replay or self.record
        try:
            return None if path is None else Traffic(path, only=self.replay is not None, loose=loose)
        except TrafficError as error:
            raise click.UsageError(str(error)) from None


def _impatient(retries: int) -> Callable[[str], None]:
    """Says that an endpoint has to be asked again, once for each of the first reasons: it may take minutes."""
    said: set[str] = set()

    def tell(reason: str) -> None:
        if reason not in said and len(said) < MAX_REASONS:
            said.add(reason)
            line = "\r\x1b[K" if sys.stderr.isatty() else ""
            again = f"asked again, {counted(retries, 'time')} at most (--retries)"
            click.echo(f"{line}no answer yet: {clean(reason)}; {again}", err=True)

    return tell


def _settings(ctx: click.Context, option: click.Parameter, given: tuple[str, ...]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for one in given:
        name, equals, text = one.partition("=")
        if not (name and equals):
            raise click.BadParameter(f"`{one}` is no setting: write NAME=VALUE")
        try:
            settings[name] = json.loads(text)
        except (ValueError, RecursionError):
            settings[name] = text
        try:
            json.dumps(settings[name], ensure_ascii=False, allow_nan=False).encode()
        except ValueError:
            raise click.BadParameter(f"`{name}` cannot be sent as JSON") from None
    return settings


_OPTIONS = (
    click.option("--base-url", metavar="URL", help="Where models are asked; else OPENAI_BASE_URL, or OpenAI."),
    click.option(
        "--api-key-env", "key_variable", default="OPENAI_API_KEY", show_default=True, metavar="NAME",
        help="The environment variable that holds the key.",
    ),
    click.option(
        "--set", "settings", multiple=True, callback=_settings, metavar="NAME=VALUE",
        help="A field of each request, such as temperature=0.7; JSON where it is JSON; may be repeated.",
    ),
    click.option(
        "--keep-reasoning/--drop-reasoning", default=True, show_default=True,
        help="Whether the agent's model reads again what it thought in earlier turns.",
    ),
    click.option(
        "--connections", type=click.IntRange(1), default=64, show_default=True, help="Requests on their way at once."
    ),
    click.option(
        "--timeout", type=click.FloatRange(0, min_open=True), default=300.0, show_default=True,
        help="Seconds that one request may take.",
    ),
    click.option(
        "--retries", type=click.IntRange(0), default=12, show_default=True,
        help="How often a request that failed is sent again.",
    ),
    click.option("--max-calls", type=click.IntRange(0), help="Requests that the run may send; then it stops."),
    click.option("--max-cost", type=click.FloatRange(0), help="What the run may cost; then it stops."),
    click.option(
        "--prices", type=click.Path(path_type=Path, dir_okay=False),
        help='What models cost: {"MODEL": {"input": 0.5, "cached": 0.1, "output": 2}} for a million tokens.',
    ),
    click.option(
        "--price", multiple=True, metavar="MODEL=INPUT,OUTPUT", help="What one model costs for a million tokens."
    ),
    click.option(
        "--record", type=click.Path(path_type=Path, dir_okay=False),
        help="Write requests and answers to this file; those it has already are not sent again.",
    ),
    click.option(
        "--replay-from", "replay", type=click.Path(path_type=Path, dir_okay=False),
        help="Take all answers from such a file; nothing is sent.",
    ),
)  # fmt: skip


def model_options(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command these options, as one argument `model`."""

    @wraps(command)
    def wrapped(**given: Any) -> None:
        if given["record"] is not None and given["replay"] is not None:
            raise click.UsageError("give --record or --replay-from, not both")
        own = {name: given.pop(name) for name in ModelOptions.__dataclass_fields__}
        command(**given, model=ModelOptions(**own))

    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped
