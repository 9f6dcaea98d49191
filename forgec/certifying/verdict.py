"""What certification comes to: an outcome for each check, with its evidence, and what is measured on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

CHECKS: Mapping[str, str] = {
    "starts": "episodes of every seed begin",
    "gold": "every accepted plan is played to its end without an error",
    "paid": "every accepted plan earns its reward",
    "rules": "no plan breaks a rule",
    "never": "no plan makes a call that is forbidden",
    "idle": "an agent that does nothing, or repeats what it is told, is not paid",
    "closure": "whatever a plan gives to tools, asks or says can be known",
    "facts": "every fact is needed",
    "orders": "the orders that the plan leaves free end alike",
    "mutants": "a plan with one thing wrong is not paid",
    "ties": "where a plan picks one of several that are as good, each is paid",
    "fresh": "a fresh process ends in the same state",
}
"""Every check with what it shows, in the order in which they are made."""


@dataclass(frozen=True)
class Outcome:
    """One check of one task. What fails has a hint, too."""

    check: str
    passed: bool
    evidence: str
    hint: str = ""


@dataclass(frozen=True)
class Kills:
    """What became of perturbed plans of one kind: those that a tool refused, those that went through and were not
    paid, and those that were paid all the same; apart from these, those that were paid since they change nothing that
    the grader compares.
    """

    refused: int = 0
    unpaid: int = 0
    paid: int = 0
    same: int = 0

    def __add__(self, other: Kills) -> Kills:
        return Kills(
            self.refused + other.refused, self.unpaid + other.unpaid, self.paid + other.paid, self.same + other.same
        )

    @property
    def made(self) -> int:
        """Those that make a difference."""
        return self.refused + self.unpaid + self.paid

    @property
    def rate(self) -> float:
        """The part of those that make a difference that is not paid; 1 where there are none."""
        return 1.0 if not self.made else (self.made - self.paid) / self.made


@dataclass(frozen=True)
class Verdict:
    """What was found about one task. It is certified when every check is passed."""

    task: str
    outcomes: tuple[Outcome, ...]
    digest: str = ""
    """Of the state that the gold plan ends in, with the seed 0."""
    kills: Mapping[str, Kills] = field(default_factory=dict)
    """By kind of perturbation."""
    survivors: tuple[str, ...] = ()
    """Perturbed plans that were paid, in words."""
    alternatives: tuple[str, ...] = ()
    """Other final states that nothing but the plan speaks against, in words."""
    features: Mapping[str, Any] = field(default_factory=dict)

    @property
    def certified(self) -> bool:
        return all(outcome.passed for outcome in self.outcomes)

    @property
    def failed(self) -> tuple[Outcome, ...]:
        return tuple(outcome for outcome in self.outcomes if not outcome.passed)
