"""What the user of an episode is told: texts with their values filled in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Known:
    """A fact as the user of one episode knows it."""

    name: str
    value: Any
    doc: str = ""


@dataclass(frozen=True)
class Asked:
    """A request as the user of one episode makes it."""

    name: str
    text: str
    after: tuple[str, ...] = ()


@dataclass(frozen=True)
class Briefing:
    """What the user of one episode wants and knows."""

    intent: str = ""
    requests: tuple[Asked, ...] = ()
    facts: tuple[Known, ...] = ()
