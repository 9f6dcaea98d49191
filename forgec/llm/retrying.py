"""When to ask an endpoint again, and after how long."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


@dataclass(frozen=True)
class Patience:
    """How long one request may take, and how often it is sent again. All times are seconds."""

    timeout: float = 300.0
    """For one attempt, from the first byte sent to the last one read."""
    retries: int = 12
    first_wait: float = 0.5
    longest_wait: float = 30.0
    longest_asked: float = 600.0
    """An endpoint that asks to be left alone for longer than this is taken to be unavailable."""

    def wait(self, attempt: int) -> float:
        """How long to wait after so many failures: twice as long each time, less up to a half, by chance."""
        return min(self.first_wait * 2.0 ** min(attempt, 60), self.longest_wait) * random.uniform(0.5, 1.0)


def asked_to_wait(headers: Mapping[str, str]) -> float | None:
    """The seconds that an endpoint asks to be left alone, by `Retry-After` or `retry-after-ms`; None if it does not."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        text = headers.get(name)
        if text is None:
            continue
        try:
            seconds = float(text) / unit
        except ValueError:
            continue
        if 0 <= seconds < 1e9:
            return seconds
    try:
        moment = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max((moment - datetime.now(UTC)).total_seconds(), 0.0)
