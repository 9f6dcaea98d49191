"""How far a worker is confined, in one word."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .attempts import Attempt

Posture = Literal["process", "limits", "confined"]
POSTURES: tuple[Posture, ...] = ("process", "limits", "confined")
"""From the least to the most: a process of its own; one that is limited in memory, time, files and processes; one that
reaches no file but its own, no network and no other process."""


def reached(layers: Mapping[str, str]) -> Posture:
    """The posture that layers come to, each with why it is not on."""
    if not layers or layers["privileges"] or layers["limits"]:
        return "process"
    return "limits" if layers["files"] or layers["calls"] else "confined"


_LIMITS = {"variables", "memory", "time", "engine", "modules"}


def measured(attempts: Iterable[Attempt]) -> Posture:
    """The posture that tries to get out of a worker come to."""
    reached = {one.layer for one in attempts if not one.held}
    return "process" if reached & _LIMITS else "limits" if reached else "confined"


def suffices(found: Posture, asked: Posture) -> bool:
    """Whether a posture is at least another."""
    return POSTURES.index(found) >= POSTURES.index(asked)


def missing(layers: Mapping[str, str]) -> str:
    """Why a posture is not the best there is."""
    if not layers:
        return "it was asked not to confine itself"
    return "; ".join(f"{layer}: {why}" for layer, why in layers.items() if why)
